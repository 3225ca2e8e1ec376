# SPDX-License-Identifier: Apache-2.0
"""Failures of ranks that communicate: one rank dies, hangs, throws or runs out of memory. The run ends in time and
names rank and phase, no process is left, and the next run works. Always tested over Gloo; over NCCL if
KYMO_TEST_GPUS is at least two."""

import os
import time
import unittest

from fault_tool import BAD, FaultTest
from kymo_tool import HANG_S

# Without progress, which includes loading LibTorch and joining the other ranks; less than the limit of the command.
PATIENCE_S = HANG_S / 2
STATUS = {"dies": "crashed", "hangs": "timeout", "throws": "failed", "memory": "oom"}
# The reported activity of a rank: a phase, or the stage if there is no phase.
STAGE = {"begin": "prepare", "middle": "communication", "end": "communication"}
# The collective calls in which the other ranks wait. The last step is followed by none.
JOINED = {"begin": "barrier 0 of communicator 'world rendezvous'", "middle": "all_reduce 2 of communicator 'world'"}


class CommunicationFaults:
    """The test cases, for a test class that defines device and ranks."""

    def call(self, settings, timeout_s, code=0):
        """Runs the workload and returns how long it took, in seconds."""
        began = time.monotonic()
        self.kymo(
            *("run", BAD / "one_rank_fails.so", "--device", self.DEVICE, "--ranks", self.RANKS),
            *("--warmup", 1, "--steps", 5, "--passes", "time", "--timeout", timeout_s),
            *(word for setting in settings for word in ("--set", setting)),
            code=code,
        )
        return time.monotonic() - began

    def run_sound(self):
        took_s = self.call(["when=never"], PATIENCE_S)
        self.assertEqual(self.rows("SELECT status FROM run ORDER BY run_id DESC LIMIT 1"), [("ok",)])
        return took_s

    def check(self, how, *ranks):
        """`ranks`: which rank fails at the beginning, in the middle and at the end. The latter two follow steps, which
        work after the failure before."""
        # Only a rank that hangs needs a timeout, which a whole run must not reach on a busy machine.
        timeout_s = max(3, 3 * self.run_sound()) if how == "hangs" else PATIENCE_S
        for when, who in zip(STAGE, ranks, strict=True):
            with self.subTest(how=how, when=when, who=who):
                settings = [f"how={how}", f"when={when}", f"who={who}"]
                took_s = self.call(settings, timeout_s, code=0 if how == "memory" else 3)
                if how != "hangs":
                    self.assertLess(took_s, PATIENCE_S, "the others did not end with the rank that failed")
                found = self.rows(
                    "SELECT status, failed_rank, failed_phase, detail FROM run ORDER BY run_id DESC LIMIT 1"
                )[0]
                self.assertEqual(found[:2], (STATUS[how], who), found)
                self.assertEqual(found[2], STAGE[when], found)
                if how == "hangs":
                    missing = f"; rank {who} did not join " + JOINED.get(when, "")
                    self.assertEqual(missing in found[3], when in JOINED, found)
                self.assertEqual(self.left_running(), [])

    def test_a_rank_dies(self):
        self.check("dies", 0, self.RANKS - 1, 0)
        self.run_sound()

    def test_a_rank_hangs(self):
        self.check("hangs", self.RANKS - 1, 0, self.RANKS - 1)

    def test_a_rank_throws(self):
        self.check("throws", self.RANKS - 1, 0, self.RANKS - 1)

    def test_a_rank_is_out_of_memory(self):
        self.check("memory", 0, self.RANKS - 1, 0)


class GlooFaultTest(CommunicationFaults, FaultTest):
    DEVICE, RANKS = "cpu", 3


@unittest.skipUnless(
    int(os.environ.get("KYMO_TEST_GPUS", "0")) >= 2, "KYMO_TEST_GPUS does not say that there are two GPUs"
)
class NcclFaultTest(CommunicationFaults, FaultTest):
    DEVICE, RANKS = "cuda", min(int(os.environ.get("KYMO_TEST_GPUS", "0")), 3)


if __name__ == "__main__":
    unittest.main()
