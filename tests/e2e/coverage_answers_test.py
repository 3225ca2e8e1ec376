# SPDX-License-Identifier: Apache-2.0
"""Cases that ran out of memory or were not run have their row in the answers of reports/cs336."""

import unittest

from answer_database import AnswerDatabase
from kymo_tool import KymoTest


class CoverageAnswersTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.db = AnswerDatabase(self)

    def assert_row(self, question, row, name="cs336"):
        self.assertRegex(self.db.answer(question, name), row)

    def test_models_out_of_memory_have_a_row(self):
        for case, parameters in (
            ("timing", {}),
            ("timing-autocast", {"autocast": True}),
            ("timing-warmup", {}),
            ("kernels", {"mode": "forward"}),
            ("kernels", {}),
            ("memory", {}),
            ("memory", {"autocast": True}),
        ):
            self.db.add_model(case, size="2.7B", status="oom", parameters=parameters)
        for question in (1, 2, 3, 4, 6, 11, 13, 14):
            with self.subTest(question):
                self.assert_row(question, r"\| 2\.7B +\|.*\| OOM +\|")

    def test_data_parallel_training_out_of_memory_has_a_row(self):
        for case, workload, question in (
            ("ddp-naive", "ddp_naive", 24),
            ("ddp-flat", "ddp_flat", 25),
            ("ddp-overlap", "ddp_overlap", 26),
            ("ddp-buckets", "ddp_bucketed", 28),
        ):
            with self.subTest(case):
                self.db.add(case, workload=workload, family="data_parallel", title=case, ranks=2, status="oom")
                self.assert_row(question, rf"\| {case} +\| OOM +\|")

    def test_a_sharded_optimizer_out_of_memory_has_a_row(self):
        self.db.add(
            "sharding", workload="sharded_optimizer", family="optimizer_sharding", ranks=2, status="oom",
            parameters={"scheme": {"value": "zero1", "choice": 1, "title": "{}"}},
        )  # fmt: skip
        self.assert_row(34, r"\| `zero1` \| OOM \|")
        self.assert_row(35, r"\| `zero1` \| OOM \|")

    def test_checkpoints_out_of_memory_have_a_row(self):
        self.db.add_model(
            "checkpoint-blocks", size="2.7B", status="oom", passes="predict,time,memory",
            parameters={"checkpoint": "blocks", "checkpoint_blocks": 8}, metrics={"layers": 32},
        )  # fmt: skip
        for question in (18, 19):
            self.assert_row(question, r"\| OOM \|", "cs336-2026")

    def test_what_was_not_measured_names_runs_out_of_memory_and_the_parts_of_the_edition(self):
        self.db.add_model("checkpoint-blocks", size="2.7B", context=2048, status="oom")
        self.db.add_model("timing", phases={"step": 20})
        self.db.add_model("memory", status="oom", context=512)
        self.db.add_model("memory", status="oom", context=1024)
        first, second = (self.db.section("At a glance", name) for name in ("cs336", "cs336-2026"))
        self.assertRegex(first, r"\| memory \| 0 of 2 \| 2 out of memory, such as context=1024 \|")
        self.assertRegex(second, r"\| activation checkpointing \| 0 of 1 \| 1 out of memory: ")
        self.assertRegex(second, r"\| fully sharded data parallelism \| 0 of 0 \| not run \|")
        self.assertNotIn("checkpointing", first)
        self.assertNotIn("fully sharded", first)
        self.assertNotIn("| end-to-end timing |", first)


if __name__ == "__main__":
    unittest.main()
