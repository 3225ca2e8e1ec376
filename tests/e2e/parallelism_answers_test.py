# SPDX-License-Identifier: Apache-2.0
"""The limits of parallelism in reports/cs336-2026 follow from the measured rates: constructed runs that say the
opposite change them."""

import unittest

from answer_database import CPU, AnswerDatabase
from kymo_tool import KymoTest

REPORT = "cs336-2026"
RATES = "With the rates measured here ({}, W = {} GB/s, C = {} TFLOP/s) and B = 2048 tokens, F = 10240: "


class ParallelismAnswersTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.db = AnswerDatabase(self)

    def assert_limits(self, data, tensor, both, shared, rates):
        answers = self.db.report(REPORT).split("Question ")
        for question, limit in ((38, data), (39, data), (43, f"N is at most {tensor}"), (45, both), (46, shared)):
            with self.subTest(question=question):
                (answer,) = (text for text in answers if text.startswith(f"{question}."))
                self.assertIn(f"{RATES.format(*rates)}{limit}.", answer)

    def bound(self, devices):
        return f"the formula gives {devices}, so that two devices are bound by communication already"

    def test_a_fast_network_allows_many_devices(self):
        self.db.add_bandwidth(500)
        self.db.add_rate(100)
        # B·W/C is 10.24 and F·W/C is 51.2.
        limits = ("N is at most 11", "77 in forward and 154 in backward", "N is at most 874", "N is at most 242")
        self.assert_limits(*limits, ("nccl", 500, 100))

    def test_a_slow_network_allows_none(self):
        self.db.add_bandwidth(1)
        self.db.add_rate(100)
        limits = (self.bound("1.02"), "1 in forward and 1 in backward", self.bound("1.18"), self.bound("1.15"))
        self.assert_limits(*limits, ("nccl", "1.00", 100))

    def test_a_slow_shared_network_is_used_by_one_kind(self):
        self.db.add_bandwidth(12)
        self.db.add_rate(100)
        # B·W/C is 0.25, so that less than one device of FSDP would be best; F·W/C is 1.23.
        limits = (self.bound("1.25"), "2 in forward and 4 in backward", "N is at most 3", "N is at most 2")
        self.assert_limits(*limits, ("nccl", "12.0", 100))

    def test_nccl_and_bf16_are_preferred(self):
        self.db.add_bandwidth(500)
        self.db.add_bandwidth(1, "gloo", CPU)
        self.db.add_rate(100)
        self.db.add_rate(200, "fp32")
        self.db.add_rate(0.1, device=CPU)
        self.assertIn(RATES.format("nccl", 500, 100), self.db.answer(38, REPORT))

    def test_without_a_rate_or_a_bandwidth_only_formulas_are_given(self):
        self.db.add_model("timing", phases={"step": 20})
        self.assertNotIn("measured here", self.db.report(REPORT))
        self.db.add_bandwidth(500)
        self.assertNotIn("measured here", self.db.report(REPORT))


if __name__ == "__main__":
    unittest.main()
