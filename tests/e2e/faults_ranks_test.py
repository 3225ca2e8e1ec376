# SPDX-License-Identifier: Apache-2.0
"""Runs of several ranks: all ranks are measured, and the failure of one rank fails the run."""

import unittest

from fault_tool import BAD, FaultTest
from kymo_tool import SAXPY

QUICK = ["--ranks", "3", "--warmup", "1", "--steps", "4", "--timeout", "30"]


class RankTest(FaultTest):
    def test_every_rank_has_its_rows(self):
        self.kymo("run", SAXPY, "--set", "n=1000", *QUICK)
        self.assertEqual(
            self.rows("SELECT DISTINCT rank, pass, status FROM rank ORDER BY pass, rank"),
            [(rank, name, "ok") for name in ("time", "verify") for rank in range(3)],
        )
        self.assertEqual(
            self.rows(
                "SELECT rank, count(*) FROM sample WHERE phase = 'step' AND NOT warmup AND pass = 'time' GROUP BY rank"
            ),
            [(0, 4), (1, 4), (2, 4)],
        )
        self.assertEqual(self.rows("SELECT count(DISTINCT pid) FROM rank"), [(6,)])

    def test_one_rank_fails(self):
        self.kymo("run", BAD / "probe.so", "--set", "fail_at=2", "--set", "fail_rank=1", "--no-verify", *QUICK, code=3)
        ((status, detail, failed_rank, failed_pass),) = self.rows(
            "SELECT status, detail, failed_rank, failed_pass FROM run"
        )
        self.assertEqual((status, failed_rank, failed_pass), ("failed", 1, "time"))
        self.assertIn("failed on purpose at step 2", detail)
        self.assertEqual(self.rows("SELECT status FROM rank WHERE rank = 1"), [("failed",)])
        self.assertEqual(self.rows("SELECT count(*) FROM rank WHERE rank <> 1 AND status = 'interrupted'"), [(2,)])

    def test_one_rank_is_out_of_memory(self):
        self.kymo("run", BAD / "probe.so", "--set", "oom_at=2", "--set", "fail_rank=2", "--no-verify", *QUICK)
        self.assertEqual(self.rows("SELECT status, failed_rank FROM run"), [("oom", 2)])

    def test_all_crash(self):
        self.kymo("run", BAD / "crashes.so", "--no-verify", *QUICK, code=3)
        self.assertEqual(self.rows("SELECT status, signal FROM run"), [("crashed", 11)])

    def test_all_skip(self):
        self.kymo("run", BAD / "probe.so", "--set", "skip=true", "--no-verify", *QUICK)
        self.assertEqual(self.rows("SELECT status, detail FROM run"), [("skipped", "asked to skip")])

    def test_failures_are_followed_by_sound_runs(self):
        self.kymo("run", BAD / "probe.so", "--axis", "fail_at=-1,1,100", "--no-verify", *QUICK, code=3)
        self.assertEqual(self.rows("SELECT status FROM run ORDER BY run_id"), [("ok",), ("failed",), ("ok",)])


if __name__ == "__main__":
    unittest.main()
