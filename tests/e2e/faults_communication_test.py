# SPDX-License-Identifier: Apache-2.0
"""Ranks that communicate, one of which dies, hangs, throws or runs out of memory: the run ends in time, names rank and
phase, leaves nothing behind, and the next run works. Over Gloo always; over NCCL where KYMO_TEST_GPUS says that there
are at least two GPUs."""

import os
import time
import unittest

from fault_tool import BAD, FaultTest

DEADLINE_S = 3
STATUS = {"dies": "crashed", "hangs": "timeout", "throws": "failed", "memory": "oom"}
# What a rank is said to have been doing: a phase, or the stage where there is none.
PLACE = {"begin": "prepare", "middle": "communication", "end": "communication"}


class CommunicationFaults:
    """The cases, for a test class that names device and ranks."""

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
                    # Libraries take their time to load; the deadline counts from the last progress.
                    self.assertLess(took_s, DEADLINE_S + 5 + self.START_S)
                    found = self.rows(
                        "SELECT status, failed_rank, failed_phase, detail FROM run ORDER BY run_id DESC LIMIT 1"
                    )[0]
                    self.assertEqual(found[:2], (STATUS[how], who), found)
                    self.assertEqual(found[2], PLACE[when], found)
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
