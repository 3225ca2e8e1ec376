# SPDX-License-Identifier: Apache-2.0
"""The answers on checkpoints in reports/cs336-2026 follow from the database: constructed runs that say the opposite
change them."""

import unittest

from answer_database import GIB, GPU, AnswerDatabase
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


class LargeStepAnswersTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.db = AnswerDatabase(self)
        self.db.add_model("timing", phases={"step": 20})  # of the suite of the report
        self.set_device("NVIDIA H200")

    def set_device(self, name):
        self.db.database.execute("UPDATE device SET name = ? WHERE device_id = ?", (name, GPU))

    def add(
        self, step, *, checkpoint="selective", again=14, states="dtype", gib=(128, 128), parameters=8e9,
        parameters_of_workload=None, **columns,
    ):  # fmt: skip
        """A run of the suite with a predicted and a measured peak in GiB; without a step, it ran out of memory."""
        run_id = self.db.add_model(
            "step", size="8B", context=32768, passes="predict,time,memory", status="ok" if step else "oom",
            parameters={
                "checkpoint": checkpoint, "checkpoint_blocks": 1, "checkpoint_feed_forward": again,
                "optimizer_state": states, **(parameters_of_workload or {}),
            },
            phases={"step": step, "recompute": step / 20} if step else {},
            metrics={
                "parameters": parameters, "tokens_per_step": 32768, "attention_scores_flops": 2e14,
                "attention_values_flops": 2e14,
            }, **columns,
        )  # fmt: skip
        self.db.database.execute("UPDATE run SET suite = 'large-step' WHERE run_id = ?", (run_id,))
        for phase, flops in (("forward", 1.1e15), ("backward", 2.2e15), ("optimizer", 1e11)):
            self.db.insert("work", run_id=run_id, rank=0, phase=phase, flops=flops, bytes=0)
        for name, size in zip(("predict", "memory"), gib if step else gib[:1], strict=False):
            self.db.insert(
                "memory_part", run_id=run_id, rank=0, **{"pass": name}, device="cuda", category="parameter",
                phase="outside", scope="", bytes=int(size * GIB),
            )  # fmt: skip
        return run_id

    def verify(self, outcome, dtype="bf16"):
        run_id = self.db.add_model("verified", passes="verify", verification=outcome, parameters={"dtype": dtype})
        self.db.database.execute("UPDATE run SET suite = 'large-step' WHERE run_id = ?", (run_id,))

    def test_the_fastest_choice_is_named_with_its_rate_and_memory(self):
        self.add(4200, again=20)
        self.add(4000, again=14, gib=(126, 128))
        self.add(5000, checkpoint="blocks", again=0, states="master_weights")
        text = self.db.answer(47, REPORT)
        self.assertIn("On NVIDIA H200, a step of 32768 tokens takes 4000 ms", text)
        self.assertIn("with checkpoints `selective, gate and up of 14`, of which computing again takes 200 ms", text)
        # 3.3e15 operations, of which 6e14 are masked scores, in 4 s.
        self.assertIn("That is 68.2 % of the dense bf16 rate", text)
        self.assertIn("83.4 % if masked scores count", text)
        self.assertIn("The peak is 128 GiB, where 126 GiB was predicted (-1.6 %).", text)
        self.assertIn("The state of AdamW has the type of the weights.", text)
        self.assertIn("The slowest choice (blocks of 1) takes 1.25 times as long.", text)
        self.assertIn("Several GPUs were not measured.", text)

    def test_two_gpus_compare_by_tokens(self):
        self.add(4000)
        self.add(4400, ranks=2, states="master_weights")
        text = self.db.answer(47, REPORT)
        self.assertIn("On 2 × NVIDIA H200, a step of 65536 tokens takes 4400 ms", text)
        self.assertIn("That is 62.0 %", text)
        self.assertIn("AdamW holds fp32 master weights.", text)
        self.assertNotIn("Several GPUs were not measured.", text)

    def test_sharding_is_named_with_the_states_that_it_has(self):
        self.add(4000)
        self.add(4400, ranks=2, workload="fsdp", parameters_of_workload={"unit": "block"})
        text = self.db.answer(47, REPORT)
        self.assertIn("On 2 × NVIDIA H200 (sharded: FSDP by block), a step", text)
        self.assertIn("AdamW holds fp32 master weights.", text)
        self.assertRegex(text, r"fp32, with master weights \| 2 \| FSDP by block \|")
        self.add(4200, ranks=2, workload="sharded_optimizer", parameters_of_workload={"scheme": "zero1"})
        text = self.db.answer(47, REPORT)
        self.assertIn("On 2 × NVIDIA H200 (sharded: zero1), a step", text)
        self.assertIn("The state of AdamW has the type of the weights.", text)

    def test_no_rate_without_the_peak_of_the_device(self):
        self.set_device("NVIDIA B200")
        self.add(4000)
        self.assertNotIn("That is", self.db.answer(47, REPORT))

    def test_smaller_models_are_left_out(self):
        self.add(4000)
        self.add(1, parameters=1e5)
        self.assertIn("takes 4000 ms", self.db.answer(47, REPORT))

    def test_what_runs_out_of_memory_is_a_row_with_its_prediction(self):
        self.add(None, again=0, gib=(150,))
        text = self.db.answer(47, REPORT)
        self.assertRegex(text, r"`selective`.*OOM.*150 GiB.*no")
        self.assertNotIn("a step of", text)

    def test_what_was_only_predicted_is_compared_with_the_same_device(self):
        self.add(4000, gib=(70, 70))
        run_id = self.add(None, again=0, gib=(150,))
        self.db.database.execute("DELETE FROM rank WHERE run_id = ?", (run_id,))
        self.db.database.execute("UPDATE run SET status = 'ok', detail = '' WHERE run_id = ?", (run_id,))
        text = self.db.answer(47, REPORT)
        self.assertRegex(text, r"`selective`.*\| – \|.*150 GiB.*no")
        self.assertRegex(text, r"`selective, gate and up of 14`.*70.0 GiB.*yes")

    def test_the_small_model_may_differ_from_its_reference(self):
        self.add(4000)
        self.verify("passed", "fp32")
        self.verify("passed", "bf16")
        self.assertIn("equals its reference in fp32 and bf16.", self.db.answer(47, REPORT))
        self.verify("failed", "bf16")
        self.assertIn("1 of 3 small models of the same code differ from their reference.", self.db.answer(47, REPORT))

    def test_without_runs_the_suite_is_named(self):
        self.assertIn("kymo suite run large-step", self.db.answer(47, REPORT))


if __name__ == "__main__":
    unittest.main()
