# SPDX-License-Identifier: Apache-2.0
"""kymo under the real torchrun: one process per rank is its supervisor, and all results are in rank 0's database."""

import os
import re
import shutil
import signal
import socket
import sys
import unittest
from pathlib import Path

from kymo_tool import BUILD, HANG_S, KYMO, needs_installed, needs_torch_parts
from launcher_tool import PROBE, LaunchTest, free_port


def find_torchrun():
    beside = Path(sys.executable).with_name("torchrun")
    own = BUILD.parent / ".venv" / "bin" / "torchrun"
    return next((str(path) for path in (own, beside) if path.exists()), shutil.which("torchrun"))


TORCHRUN = find_torchrun()
LONG = ["run", PROBE, "--device", "cpu", "--warmup", "1", "--steps", "1000", "--no-verify", "--set", "sleep=50000"]
RUN = ["run", PROBE, "--device", "cpu", "--warmup", "1", "--steps", "4"]


class ByHandTest(LaunchTest):
    """Sets the environment variables of torchrun directly; does not need torchrun."""

    def setUp(self):
        super().setUp()
        self.port = str(free_port())

    def rank(self, rank, *words, world=2, **variables):
        return self.start(
            KYMO,
            *words,
            RANK=str(rank),
            WORLD_SIZE=str(world),
            LOCAL_RANK=str(rank),
            LOCAL_WORLD_SIZE=str(world),
            **{"MASTER_ADDR": "localhost", "MASTER_PORT": "29500", "KYMO_PORT": self.port, **variables},
        )

    def test_followers_end_as_the_leader_does(self):
        words = [*RUN, "--no-verify", "--set", "fail_at=2", "--set", "fail_rank=1"]
        follower, leader = self.rank(1, *words), self.rank(0, *words)
        self.ended(leader, 3)
        out, _ = self.ended(follower, 3)
        self.assertEqual(out, "")
        self.assertEqual(self.rows("SELECT status, failed_rank FROM run"), [("failed", 1)])

    def test_several_runs_and_passes(self):
        words = [*RUN, "--passes", "verify,time,ops", "--axis", "sleep=100,200", "--repeat", "2"]
        ranks = [self.rank(rank, *words, world=3) for rank in range(3)]
        for process in ranks:
            self.ended(process, 0)
        self.assertEqual(self.rows("SELECT status, ranks, count(*) FROM run"), [("ok", 3, 4)])
        self.assertEqual(
            self.rows("SELECT rank, count(*) FROM rank WHERE status = 'ok' GROUP BY rank"), [(0, 12), (1, 12), (2, 12)]
        )
        self.assertEqual(self.rows("SELECT count(*) FROM dropped_record"), [(0,)])
        self.assertEqual(os.listdir(self.work), ["kymo.db"])

    @needs_torch_parts
    def test_a_workload_in_python(self):
        model = Path(__file__).resolve().parent.parent / "python" / "workloads" / "model.py"
        words = ["run", f"{model}:mean", "--device", "cpu", "--warmup", "1", "--steps", "4", "--passes", "verify,trace"]
        ranks = [self.rank(rank, *words) for rank in range(2)]
        for process in ranks:
            self.ended(process, 0)
        self.assertEqual(self.rows("SELECT status, ranks FROM run"), [("ok", 2)])
        ranks = self.rows("SELECT DISTINCT rank FROM collective WHERE pass = 'trace' ORDER BY rank")
        self.assertEqual(ranks, [(0,), (1,)])

    def test_tasks_with_a_gpu_each_keep_their_local_rank(self):
        def task(number):
            return self.start(
                KYMO,
                *RUN,
                KYMO_PORT=self.port,
                SLURM_JOB_ID="1",
                SLURM_STEP_ID="0",
                SLURM_STEP_NUM_TASKS="2",
                SLURM_STEP_NODELIST=socket.gethostname(),
                SLURM_PROCID=str(number),
                SLURM_LOCALID=str(number),
                SLURM_GPUS_PER_TASK="1",
            )

        for process in [task(0), task(1)]:
            self.ended(process, 0)
        self.assertEqual(
            self.rows("SELECT rank, value FROM metric WHERE name = 'local_rank' AND pass = 'time' ORDER BY rank"),
            [(0, 0), (1, 1)],
        )

    def test_nothing_left_to_do(self):
        for expected in (1, 1):
            processes = [self.rank(rank, *RUN, "--resume") for rank in range(2)]
            for process in processes:
                self.ended(process, 0)
            self.assertEqual(self.rows("SELECT count(*) FROM run"), [(expected,)])

    def test_a_missing_rank_is_named(self):
        _, err = self.ended(self.rank(0, *RUN, world=3, KYMO_JOIN_TIMEOUT="1"), 1)
        self.assertRegex(err, r"ranks 1, 2 of 3 did not join within 1 s on port " + self.port)

    def test_a_missing_leader_is_named(self):
        _, err = self.ended(self.rank(1, *RUN, KYMO_JOIN_TIMEOUT="1"), 1)
        self.assertRegex(
            err, r"rank 1 could not join rank 0 at 127.0.0.1:" + self.port + r" within 1 s: Connection refused"
        )

    def test_another_job_is_rejected(self):
        leader = self.rank(0, *RUN, TORCHELASTIC_RUN_ID="ours")
        _, err = self.ended(self.rank(1, *RUN, TORCHELASTIC_RUN_ID="theirs"), 1)
        self.assertRegex(err, "'torchrun ours at .*'torchrun theirs at .*KYMO_PORT")
        _, err = self.ended(self.rank(1, *RUN, TORCHELASTIC_RUN_ID="ours", KYMO_JOB_TOKEN="wrong"), 1)
        self.assertIn("KYMO_JOB_TOKEN", err)
        self.ended(self.rank(1, *RUN, TORCHELASTIC_RUN_ID="ours"), 0)
        self.ended(leader, 0)

    def test_another_command_line_is_rejected(self):
        leader = self.rank(0, *RUN)
        _, err = self.ended(self.rank(1, *RUN, "--set", "sleep=7"), 1)
        self.assertIn("rank 0 and rank 1 disagree about run 1", err)
        self.ended(leader, 1)

    def test_another_plugin_is_rejected(self):
        other = self.work / "probe.so"
        shutil.copy(PROBE, other)
        with open(other, "ab") as file:
            file.write(b"\0")
        leader = self.rank(0, *RUN)
        _, err = self.ended(self.rank(1, "run", other, *RUN[2:], "--trust"), 1)
        self.assertRegex(err, r"the plugin 'probe' is not the same on all ranks: rank 0 has .*, rank 1 has ")
        self.ended(leader, 1)

    def test_a_taken_port_names_its_variable(self):
        with socket.create_server(("127.0.0.1", int(self.port))):
            _, err = self.ended(self.rank(0, *RUN), 1)
        self.assertIn("KYMO_PORT", err)

    def test_a_lost_leader_ends_the_followers(self):
        leader, follower = self.rank(0, *LONG), self.rank(1, *LONG)
        self.workers(2, leader)
        leader.kill()
        _, err = self.ended(follower, 1)
        self.assertIn("rank 0 at 127.0.0.1", err)
        self.workers(0)

    def test_a_signal_to_a_follower_ends_the_run(self):
        leader, follower = self.rank(0, *LONG), self.rank(1, *LONG)
        self.workers(2, leader)
        follower.terminate()
        _, err = self.ended(leader, 143)
        self.ended(follower, 143)
        self.assertIn("SIGTERM on rank 1: stopping after the current step", err)
        self.assertEqual(
            self.rows("SELECT DISTINCT run.status, rank.status FROM run JOIN rank USING (run_id)"),
            [("interrupted", "interrupted")],
        )

    def test_contradictions_are_usage_errors(self):
        for changes, names in (
            ({"RANK": "2"}, "RANK is 2 but WORLD_SIZE is 2"),
            ({"LOCAL_RANK": ""}, "LOCAL_RANK is not set"),
            ({"WORLD_SIZE": "two"}, "WORLD_SIZE is 'two'"),
            ({"MASTER_ADDR": "no.such.host.invalid"}, "MASTER_ADDR"),
        ):
            process = self.start(
                KYMO,
                *RUN,
                **{
                    "RANK": "0",
                    "WORLD_SIZE": "2",
                    "LOCAL_RANK": "0",
                    "LOCAL_WORLD_SIZE": "2",
                    "MASTER_ADDR": "localhost",
                    "MASTER_PORT": "29500",
                    **changes,
                },
            )
            self.assertIn(names, self.ended(process, 2)[1])
        self.assertFalse((self.work / "kymo.db").exists())

    def test_ranks_start_here_whatever_the_environment(self):
        self.ended(self.start(KYMO, *RUN, "--ranks", "2", RANK="7"), 0)
        self.assertEqual(self.rows("SELECT ranks, status FROM run"), [(2, "ok")])


@needs_installed(TORCHRUN, "torchrun, which comes with the torch wheel")
class TorchrunTest(LaunchTest):
    def torchrun(self, *words):
        return self.start(TORCHRUN, "--standalone", "--nproc-per-node", "2", "--no-python", KYMO, *words)

    def test_both_ranks_are_measured(self):
        process = self.torchrun(*RUN)
        out, err = process.communicate(timeout=HANG_S)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.rows("SELECT status, ranks FROM run"), [("ok", 2)])
        self.assertEqual(
            self.rows(
                "SELECT rank, count(*) FROM sample WHERE phase = 'step' AND NOT warmup AND pass = 'time' GROUP BY rank"
            ),
            [(0, 4), (1, 4)],
        )
        self.assertEqual(
            self.rows("SELECT rank, pass, status FROM rank ORDER BY pass, rank"),
            [(rank, name, "ok") for name in ("time", "verify") for rank in (0, 1)],
        )
        self.assertEqual(len(re.findall("^results: ", out, re.MULTILINE)), 1, "only the leader shows results")

    def test_a_killed_follower_is_a_crash(self):
        process = self.torchrun(*LONG)
        self.workers(2, process)
        (follower,) = [pid for pid, variables in self.processes("run").items() if variables.get(b"RANK") == b"1"]
        os.kill(follower, signal.SIGKILL)
        out, err = process.communicate(timeout=HANG_S)
        self.assertNotEqual(process.returncode, 0, out + err)
        ((status, rank, detail),) = self.rows("SELECT status, failed_rank, detail FROM run")
        self.assertEqual((status, rank), ("crashed", 1), detail)
        self.assertIn("rank 1 was lost", detail)
        self.workers(0)

    def test_a_signal_to_torchrun_is_an_interruption(self):
        process = self.torchrun(*LONG)
        self.workers(2, process)
        process.terminate()
        process.communicate(timeout=HANG_S)
        self.assertEqual(self.rows("SELECT status FROM run"), [("interrupted",)])
        self.until(lambda: not self.processes("worker") and not self.processes("run"))


if __name__ == "__main__":
    unittest.main()
