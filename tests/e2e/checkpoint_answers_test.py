# SPDX-License-Identifier: Apache-2.0
"""The answers on checkpoints in reports/cs336-2026 follow from the database: constructed runs that say the opposite
change them."""

import unittest

from answer_database import GIB, AnswerDatabase
from kymo_tool import KymoTest

REPORT = "cs336-2026"


class CheckpointAnswersTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.db = AnswerDatabase(self)

    def add(self, checkpoint, blocks, predicted, measured, loss=2.5, step=100):
        """A run with peaks in GiB; without a measured one, it ran out of memory."""
        run_id = self.db.add_model(
            "checkpoint-blocks" if checkpoint == "blocks" else "checkpoint-choices", size="2.7B", context=2048,
            parameters={"checkpoint": checkpoint, "checkpoint_blocks": blocks}, status="ok" if measured else "oom",
            passes="predict,time,memory", phases={"step": step} if measured else {},
            metrics={"layers": 32, **({"loss_last": loss} if measured else {})},
        )  # fmt: skip
        for name, gib in (("predict", predicted), ("memory", measured)):
            if gib:
                self.db.insert(
                    "memory_part", run_id=run_id, rank=0, **{"pass": name}, device="cuda", category="parameter",
                    phase="outside", scope="", bytes=int(gib * GIB),
                )  # fmt: skip

    def test_the_best_segments_are_those_with_the_least_measured_peak(self):
        for blocks, gib in ((1, 40), (2, 42), (4, 46)):
            self.add("blocks", blocks, gib, gib)
        text = self.db.answer(19, REPORT)
        self.assertIn("segments of 1 block have the least peak, 40.0 GiB, where 40.0 GiB was predicted.", text)
        self.assertIn("The next smaller segments do not exist", text)
        self.assertIn("the next larger ones, of 2, have a peak of 42.0 GiB.", text)
        self.assertIn("The predictions equal the measurements to the byte.", text)

    def test_the_best_segments_may_be_larger_ones(self):
        for blocks, predicted, gib in ((1, 40, 44), (2, 42, 42), (4, 90, None)):
            self.add("blocks", blocks, predicted, gib)
        text = self.db.answer(19, REPORT)
        self.assertIn("segments of 2 blocks have the least peak, 42.0 GiB", text)
        self.assertIn("The next smaller segments, of 1, have a peak of 44.0 GiB", text)
        self.assertIn("the next larger ones, of 4, were not measured.", text)
        self.assertIn("differ from the measurements by at most 9.1 %.", text)
        self.assertIn("All runs that ran out of memory were predicted not to fit.", text)

    def test_a_run_out_of_memory_that_was_predicted_to_fit_is_counted(self):
        self.add("blocks", 1, 40, 40)
        self.add("blocks", 2, 60, None)
        self.assertIn("0 of 1 runs that ran out of memory were predicted not to fit.", self.db.answer(19, REPORT))

    def test_losses_are_compared_bit_for_bit(self):
        self.add("none", 1, 70, 70, loss=2.5)
        self.add("blocks", 1, 40, 40, loss=2.5)
        self.assertIn("All losses are bitwise equal to that without checkpoints.", self.db.answer(19, REPORT))
        self.add("blocks", 2, 41, 41, loss=2.5000000000000004)
        self.assertIn("1 of 2 losses differ from that without checkpoints.", self.db.answer(19, REPORT))

    def test_the_strategy_with_the_least_peak_is_named_with_its_cost(self):
        self.add("none", 1, 80, 80, step=100)
        self.add("blocks", 1, 40, 40, step=125)
        self.add("nested", 1, 30, 30, step=200)
        text = self.db.answer(18, REPORT)
        self.assertIn("the least peak is 30.0 GiB, with `nested of 1`, and a step of 200.0 ms.", text)
        self.assertIn("Without checkpoints, the peak is 2.67 times as high, and a step takes 0.5 times as long.", text)
        self.assertIn("Nesting saves 25 % of the least peak without it.", text)

    def test_checkpoints_may_not_help(self):
        self.add("none", 1, 38, 38)
        self.add("blocks", 1, 40, 40)
        self.add("nested", 1, 41, 41)
        text = self.db.answer(18, REPORT)
        self.assertIn("the least peak is 38.0 GiB, with `none`", text)
        self.assertIn("Checkpoints do not save memory here.", text)
        self.assertIn("Nesting does not lower the peak below that without it.", text)

    def test_without_runs_the_command_that_adds_them_is_named(self):
        self.db.add_model("timing", phases={"step": 20})
        self.assertIn("kymo suite run cs336 --profile 2026 --filter '^checkpoint'", self.db.answer(19, REPORT))


if __name__ == "__main__":
    unittest.main()
