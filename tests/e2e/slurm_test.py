# SPDX-License-Identifier: Apache-2.0
"""kymo in steps of a real Slurm with one node."""

import unittest

from kymo_tool import HANG_S, KYMO, rows_of
from launcher_tool import PROBE, LaunchTest
from slurm_cluster import Cluster, needs_slurm

RUN = ["run", PROBE, "--device", "cpu", "--warmup", "1", "--steps", "4"]


@needs_slurm
class SlurmTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=1, processors=4)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def setUp(self):
        super().setUp()
        self.environment["SLURM_CONF"] = str(self.cluster.configuration)
        self.work.parent.chmod(0o755)

    def call(self, *words, code=0, **variables):
        process = self.start(*words, **variables)
        out, err = process.communicate(timeout=HANG_S)
        self.assertEqual(process.returncode, code, out + err)
        return out, err

    def test_both_tasks_are_measured(self):
        out, _ = self.call("srun", "-n", "2", KYMO, *RUN)
        self.assertEqual(self.rows("SELECT status, ranks FROM run"), [("ok", 2)])
        self.assertEqual(
            self.rows(
                "SELECT rank, count(*) FROM sample WHERE phase = 'step' AND NOT warmup AND pass = 'time' GROUP BY rank"
            ),
            [(0, 4), (1, 4)],
        )
        self.assertEqual(
            self.rows("SELECT rank, value FROM metric WHERE name = 'local_rank' AND pass = 'time' ORDER BY rank"),
            [(0, 0), (1, 1)],
        )
        self.assertEqual(out.count("results: "), 1)

    def test_a_failing_rank_is_the_exit_code_of_all(self):
        self.call("srun", "-n", "2", KYMO, *RUN, "--no-verify", "--set", "fail_at=2", "--set", "fail_rank=1", code=3)
        self.assertEqual(self.rows("SELECT status, failed_rank FROM run"), [("failed", 1)])

    def test_one_task_is_a_plain_run(self):
        self.call("srun", "-n", "1", KYMO, *RUN)
        self.assertEqual(self.rows("SELECT status, ranks FROM run"), [("ok", 1)])

    def test_a_batch_script_of_several_tasks_is_a_plain_run_until_it_calls_srun(self):
        script = self.work / "job.sh"
        script.write_text(
            f"#!/bin/sh\n{KYMO} run {PROBE} --device cpu --steps 2 --label plain || exit\n"
            f"srun -n 2 {KYMO} run {PROBE} --device cpu --steps 2 --label step\n",
            encoding="utf-8",
        )
        self.call("sbatch", "--wait", "-n", "2", "-o", self.work / "job.log", script)
        self.assertEqual(
            self.rows("SELECT label, ranks, status FROM run ORDER BY run_id"),
            [("plain", 1, "ok"), ("step", 2, "ok")],
            (self.work / "job.log").read_text(encoding="utf-8"),
        )

    def test_two_steps_at_once_do_not_join(self):
        script = self.work / "job.sh"
        lines = [
            f"srun --exact -n 2 {KYMO} run {PROBE} --device cpu --steps 2 --db {name}.db &" for name in ("one", "two")
        ]
        script.write_text("#!/bin/sh\n" + "\n".join(lines) + "\nwait\n", encoding="utf-8")
        self.call("sbatch", "--wait", "-n", "4", "-o", self.work / "job.log", script)
        for name in ("one", "two"):
            self.assertEqual(
                rows_of(self.work / f"{name}.db", "SELECT ranks, status FROM run"),
                [(2, "ok")],
                (self.work / "job.log").read_text(encoding="utf-8"),
            )


if __name__ == "__main__":
    unittest.main()
