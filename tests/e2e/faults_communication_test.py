# SPDX-License-Identifier: Apache-2.0
"""Failures of ranks that communicate: one rank dies, hangs, throws or runs out of memory. The run ends in time and
names rank and phase, no process is left, and the next run works. Always tested over Gloo; over NCCL if
KYMO_TEST_GPUS is at least two."""

import os
import time
import unittest

from fault_tool import BAD, FaultTest

DEADLINE_S = 3
STATUS = {"dies": "crashed", "hangs": "timeout", "throws": "failed", "memory": "oom"}
# The reported activity of a rank: a phase, or the stage if there is no phase.
STAGE = {"begin": "prepare", "middle": "communication", "end": "communication"}


class CommunicationFaults:
    """The test cases, for a test class that defines device and ranks."""

    def run_failing(self, how, when, who):
        began = time.monotonic()
        self.kymo(
            "run",
            BAD / "one_rank_fails.so",
            "--device",
            self.DEVICE,
            "--ranks",
            self.RANKS,
            "--warmup",
            1,
            "--steps",
            5,
            "--passes",
            "time",
            "--timeout",
            DEADLINE_S,
            "--set",
            f"how={how}",
            "--set",
            f"when={when}",
            "--set",
            f"who={who}",
            code=0 if how == "memory" else 3,
            seconds=60,
        )
        return time.monotonic() - began

    def check(self, how):
        for when in ("begin", "middle", "end"):
            for who in (0, self.RANKS - 1):
                with self.subTest(how=how, when=when, who=who):
                    took_s = self.run_failing(how, when, who)
                    # Libraries take time to load; the timeout is measured from the last progress.
                    self.assertLess(took_s, DEADLINE_S + 5 + self.START_S)
                    found = self.rows(
                        "SELECT status, failed_rank, failed_phase, detail FROM run ORDER BY run_id DESC LIMIT 1"
                    )[0]
                    self.assertEqual(found[:2], (STATUS[how], who), found)
                    self.assertEqual(found[2], STAGE[when], found)
                    self.assertEqual(self.left_running(), [])
        self.kymo(
            "run",
            BAD / "one_rank_fails.so",
            "--device",
            self.DEVICE,
            "--ranks",
            self.RANKS,
            "--steps",
            5,
            "--passes",
            "time",
            "--set",
            "when=never",
        )
        self.assertEqual(self.rows("SELECT status FROM run ORDER BY run_id DESC LIMIT 1"), [("ok",)])

    def test_a_rank_dies(self):
        self.check("dies")

    def test_a_rank_hangs(self):
        self.check("hangs")

    def test_a_rank_throws(self):
        self.check("throws")

    def test_a_rank_is_out_of_memory(self):
        self.check("memory")


class GlooFaultTest(CommunicationFaults, FaultTest):
    DEVICE, RANKS, START_S = "cpu", 3, 5


@unittest.skipUnless(
    int(os.environ.get("KYMO_TEST_GPUS", "0")) >= 2, "KYMO_TEST_GPUS does not say that there are two GPUs"
)
class NcclFaultTest(CommunicationFaults, FaultTest):
    DEVICE, RANKS, START_S = "cuda", min(int(os.environ.get("KYMO_TEST_GPUS", "0")), 3), 20


if __name__ == "__main__":
    unittest.main()
