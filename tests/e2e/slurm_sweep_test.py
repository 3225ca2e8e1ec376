# SPDX-License-Identifier: Apache-2.0
"""Sweeps with --on slurm, on a real Slurm with two nodes of one processor each."""

import os
import signal
import unittest

from kymo_tool import KYMO
from slurm_cluster import Cluster, needs_slurm
from sweep_tool import SweepTest


@needs_slurm
class SlurmSweepTest(SweepTest):
    on = "slurm"
    shards_of_sweeps = 8

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=2, processors=1)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def setUp(self):
        super().setUp()
        self.environment["SLURM_CONF"] = str(self.cluster.configuration)
        self.folder.chmod(0o755)
        self.addCleanup(self.cluster.call, "scancel", "--user=root")

    def node_of(self, kymo):
        return self.processes("--shard")[kymo][b"SLURMD_NODENAME"].decode()

    def test_a_killed_shard_and_a_drained_node(self):
        sweep = self.sweep(40, **self.hold(step=1))
        first = self.until(lambda: len(self.shards()) == 2 and self.shards(), [sweep])
        for shard in first:
            self.until_running(shard, sweep)
        killed, drained = first.values()
        self.assertEqual({self.node_of(killed), self.node_of(drained)}, set(self.cluster.nodes))
        node = self.node_of(drained)
        self.cluster.call("scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
        self.addCleanup(self.cluster.call, "scontrol", "update", f"nodename={node}", "state=resume")
        self.kill_with_job(killed)
        self.release()
        out, err = self.ended(sweep, 3)
        number = next(index for index, process in first.items() if process == killed)
        self.assertRegex(out, rf"(?m)^ *{number}  killed")
        self.assertIn(f"shard {number} of 8 not complete", err)
        self.assertEqual(
            self.rows("SELECT status, count(*) FROM run GROUP BY 1"), [("interrupted", 1), ("ok", 35)], out + err
        )
        # All shards but the two that were running ran on the other node.
        self.assertEqual(out.count(node), 1, out)
        self.ended(self.sweep(40, "--resume"), 0)
        self.expect_outcomes_of_a_single_run(40)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(41,)])
        self.expect_nothing_left()

    def test_a_job_on_a_lost_node_is_requeued_and_continues(self):
        sweep = self.sweep(6, shards=2, **self.hold(step=1))
        shard = self.until_running(1, sweep)
        variables = self.processes("--shard")[shard]
        node, job = variables[b"SLURMD_NODENAME"].decode(), variables[b"SLURM_JOB_ID"].decode()
        self.addCleanup(self.cluster.start_node, node)
        self.cluster.lose_node(node, job)
        self.release()
        (lost,) = self.attempts(1)
        self.start_requeued_job(sweep)
        out, err = self.ended(sweep, 0)
        self.assertIn(f"shard 1 was killed on {node}; what it measured after its last saved copy may be in", err)
        self.assertRegex(out, r"(?m)^ *1  ended  kymo[12]  +3/3")
        self.expect_outcomes_of_a_single_run(6)
        # Its machine is this one, too.
        self.kymo("runs", "--db", f"{lost['folder']}/shard.db")
        self.kymo("merge", "kymo.db", f"{lost['folder']}/shard.db")
        self.assertEqual(self.rows("SELECT status, count(*) FROM run GROUP BY 1"), [("interrupted", 1), ("ok", 6)])

    def start_requeued_job(self, sweep):
        """Slurm starts requeued jobs after two minutes, or when it is told to."""
        job = self.until(
            lambda: self.cluster.call("squeue", "--noheader", "--array", "--states=pending", "--format=%A").split(),
            [sweep],
        )
        self.cluster.call("scontrol", "update", f"jobid={job[0]}", "starttime=now")

    def expect_requeued(self, name):
        """A signal while most of the time limit is left means that the job is preempted."""
        sweep = self.sweep(4, shards=2, **self.hold())
        shard = self.until_running(1, sweep)
        job = self.processes("--shard")[shard][b"SLURM_JOB_ID"].decode()
        self.cluster.call("scancel", f"--signal={name}", job)
        self.release_when_signalled(1, f"SIG{name}", sweep)
        self.start_requeued_job(sweep)
        self.ended(sweep, 0)
        self.assertEqual(self.rows("SELECT count(*) FROM invocation"), [(3,)], "shard 1 was not started again")
        self.expect_outcomes_of_a_single_run(4)
        self.expect_nothing_left()

    def test_a_preempted_job_saves_its_results_and_is_requeued(self):
        self.expect_requeued("USR2")

    def test_so_is_one_that_is_told_by_sigterm(self):
        self.expect_requeued("TERM")

    def test_results_are_saved_before_the_time_limit(self):
        sweep = self.sweep(4, "--on-option", "time=2", shards=2, **self.hold())
        self.release_when_signalled(1, "SIGUSR2", sweep)
        out, err = self.ended(sweep, 3)
        self.assertRegex(out, r"(?m)^ *2  interrupted")
        self.assertIn("shards 1, 2 of 2 not complete", err)
        self.assertEqual(self.rows("SELECT count(*) FROM invocation"), [(2,)], "a shard was started again")
        self.ended(self.sweep(4, "--resume"), 0)
        self.expect_outcomes_of_a_single_run(4)
        self.expect_nothing_left()

    def test_ctrl_c_cancels_the_jobs(self):
        sweep = self.sweep(4, shards=4, **self.hold())
        for shard in (1, 2):
            self.until_running(shard, sweep)
        os.killpg(sweep.pid, signal.SIGINT)
        self.release_when_signalled(1, "SIGTERM", sweep)
        out, _ = self.ended(sweep, 130)
        self.assertRegex(out, r"(?m)^ *1  interrupted \(CANCELLED\)")
        self.assertRegex(out, r"(?m)^ *4  not started")
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(2,)], out)
        self.ended(self.sweep(4, "--resume"), 0)
        self.expect_outcomes_of_a_single_run(4)
        self.expect_nothing_left()

    def test_jobs_survive_the_command_that_started_them(self):
        sweep = self.sweep(4, shards=3, **self.hold())
        self.until(lambda: len(self.shards()) == 2, [sweep])
        sweep.kill()
        sweep.wait()
        (listed,) = self.kymo_json("jobs", "list")
        self.assertEqual(listed["jobs"]["running"], 2)
        self.release()
        self.assertIn("runs: 4 ok;", self.kymo("jobs", "wait", listed["sweep"]).stdout)
        self.expect_outcomes_of_a_single_run(4)
        self.expect_nothing_left()

    def test_one_shard_is_one_job(self):
        out, _ = self.ended(self.start(KYMO, *self.command(3, "--on", "slurm", "--on-option", "time=0:05:00")), 0)
        self.assertRegex(out, r"(?m)^ *1  ended  kymo[12]  +3/3")
        self.expect_nothing_left()

    def test_options_of_sbatch_are_passed_on(self):
        sweep = self.sweep(
            *(2, "--on-option", "nodelist=kymo2", "--on-option", "comment=two words"),
            *("--on-option", "setup=export KYMO_TEST_SEEN=1"),
            **self.hold(),
        )
        shard = self.until(lambda: self.shards() and next(iter(self.shards().values())), [sweep])
        self.assertEqual(self.node_of(shard), "kymo2")
        self.assertEqual(self.processes("--shard")[shard][b"KYMO_TEST_SEEN"], b"1")
        self.assertIn("two words", self.cluster.call("squeue", "--noheader", "--format=%k"))
        self.release()
        self.ended(sweep, 0)

    def test_what_sbatch_does_not_accept(self):
        error = self.ended(self.sweep(2, "--on-option", "partition=gpu"), 2)[1]
        self.assertRegex(error, "sbatch did not accept the jobs: .*invalid partition specified: gpu")
        self.assertEqual(list(self.work.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
