# SPDX-License-Identifier: Apache-2.0
"""`kymo trace` observes ranks that torch.multiprocessing starts, which become ranks only by making a process group."""

import unittest

from kymo_tool import long_test, needs_torch_parts
from trace_program_test import OPERATORS, PROGRAMS, TraceTest

SPAWNED = PROGRAMS / "spawned.py"
STEPS = 16
PHASES = """SELECT s.rank, s.phase, count(*), sum(s.calls) FROM sample s WHERE s.pass = ? AND s.warmup = 0
            GROUP BY s.rank, s.phase"""
WORDS = {"process": "ddp", "environment": "ddp", "file": "ddp"}  # programs with the same output
CALLS = """SELECT c.rank, c.step, c.operation, c.bytes, c.dtype, p.text AS phase FROM collective c
           LEFT JOIN string p ON p.string_id = c.phase_id WHERE c.step >= 3 ORDER BY c.rank, c.sequence"""
PARAMETERS = (8 * 16, 16, 16, 1)  # elements
ONE_BUCKET = {("all_reduce", 4 * sum(PARAMETERS), "f32", "backward"): 1}
EARLY_MEMORY = "memory that was allocated before the process became a rank"


class SpawnTest(TraceTest):
    def expected(self, how):
        """The output does not depend on how the ranks are started; forks start fastest."""
        return self.plain(SPAWNED, WORDS.get(how, how), STEPS, "fork")

    def check(self, how, method="spawn", options=(), ranks=(0, 1), passes=1):
        """The output is that of the program without kymo, and each rank has its steps and phases."""
        done = self.trace(SPAWNED, how, STEPS, method, options=options)
        self.assertEqual(done.stdout, passes * self.expected(how))
        self.assertEqual(self.outcome(), ("ok", ""))
        self.assertNotIn("rejected", done.stderr)
        return self.check_phases(ranks)

    def check_phases(self, ranks, name="ops"):
        found = {}
        for rank, phase, steps, calls in self.rows(PHASES, name):
            found.setdefault(rank, {})[phase] = (steps, calls / steps)
        expected = dict.fromkeys(("step", "forward", "backward", "optimizer", "other"), (10, 1))
        self.assertEqual(set(found), set(ranks))
        for phases in found.values():
            self.assertLessEqual(expected.items(), phases.items())
        return found

    def number_of_ranks(self):
        return self.rows("SELECT ranks FROM run")[0][0]

    def warnings(self):
        """Those that do not depend on the load of the machine."""
        return self.rows(
            "SELECT kind, detail FROM run_warning WHERE kind NOT IN ('not verified', 'unstable', 'interference', "
            "'not reproducible', 'unlike steps')"
        )


@needs_torch_parts
class RanksTest(SpawnTest):
    def check_data_parallel(self, how, method="spawn"):
        self.check(how, method)
        self.assertEqual(self.number_of_ranks(), 2)
        self.assertEqual(self.calls_per_step(self.records(CALLS)), ONE_BUCKET)
        forward = {row["path"] for row in self.records(OPERATORS) if row["phase"] == "forward" and not row["backward"]}
        self.assertIn("DistributedDataParallel/module/Linear_0", forward)
        self.assertEqual(self.metric("first_step"), {2})
        self.assertEqual(self.warnings(), [])

    def test_spawn(self):
        self.check_data_parallel("ddp")
        summary = self.records("SELECT * FROM collective_summary")
        self.assertEqual([(row["ranks"], row["calls"], row["compared_launches"]) for row in summary], [(2, 1, 10)])
        self.assertEqual(self.rows("SELECT count(DISTINCT pid), min(pid) > 0 FROM rank"), [(2, 1)])

    def test_fork(self):
        self.check_data_parallel("file", "fork")

    @long_test
    def test_forkserver(self):
        self.check_data_parallel("process", "forkserver")

    @long_test
    def test_a_rank_from_its_own_environment(self):
        self.check_data_parallel("environment", "fork")

    def test_gradients_reduced_by_hand(self):
        self.check("by_hand", "fork")
        expected = {}
        for size in PARAMETERS:
            key = ("all_reduce", 4 * size, "f32", None)
            expected[key] = expected.get(key, 0) + 1
        self.assertEqual(self.calls_per_step(self.records(CALLS)), expected)

    def test_data_loaders_in_the_ranks(self):
        self.check("loader", "fork")
        self.assertEqual(self.warnings(), [])

    @long_test
    def test_calls_before_the_process_is_a_rank(self):
        # They are part of the first step; the steps to observe would have begun with them.
        self.check("calls", "fork", options=["--steps", "0:10"])
        self.assertEqual(self.metric("first_step"), {1})

    def test_all_passes(self):
        self.check("ddp", "fork", options=["--passes", "time,ops,memory", "--steps", "5:15"], passes=3)
        self.check_phases((0, 1), "time")
        self.check_phases((0, 1), "memory")
        self.check_memory()
        self.assertEqual(self.warnings(), [("not observed", EARLY_MEMORY)])
        self.assertEqual(self.number_of_ranks(), 2)

    def check_memory(self):
        peaks = self.rows("SELECT rank, bytes FROM memory_by_category WHERE pass = 'memory' AND category = 'parameter'")
        self.assertEqual({rank for rank, _ in peaks}, {0, 1})
        for _, size in peaks:
            self.assertGreaterEqual(size, 4 * sum(PARAMETERS))

    def test_only_the_memory_pass(self):
        done = self.trace(SPAWNED, "ddp", STEPS, options=["--passes", "memory"])
        self.assertEqual(done.stdout, self.expected("ddp"))
        self.assertEqual(self.outcome(), ("ok", ""))
        self.check_phases((0, 1), "memory")
        self.check_memory()
        self.assertEqual(self.metric("not_observed"), {EARLY_MEMORY})

    @long_test
    def test_only_the_memory_pass_after_fork(self):
        done = self.trace(SPAWNED, "ddp", STEPS, "fork", options=["--passes", "memory"], code=3)
        self.assertEqual(done.stdout, self.expected("ddp"))
        self.assertIn("became a rank after the pass had begun", self.outcome()[1])
        self.assertIn("--ranks", self.outcome()[1])  # test_all_passes knows the number of ranks from the first pass

    def test_observed_ranks(self):
        self.check("ddp", "fork", options=["--ranks-observed", "1"], ranks=[1])
        self.assertEqual(self.number_of_ranks(), 2)
        self.assertEqual(self.rows("SELECT rank FROM rank"), [(1,)])

    def test_an_observed_rank_that_does_not_exist(self):
        done = self.trace(SPAWNED, "ddp", STEPS, "fork", options=["--ranks-observed", "5"], code=3)
        self.assertEqual(done.stdout, self.expected("ddp"))
        self.assertEqual(self.outcome()[0], "failed")


@needs_torch_parts
class ProcessesTest(SpawnTest):
    """Which processes are observed if there are others than the ranks of one process group."""

    @long_test
    def test_ranks_instead_of_their_parent(self):
        # Its calls are within the window, but it is not measured when the ranks start.
        self.check("parent")
        self.assertEqual(self.calls_per_step(self.records(CALLS)), ONE_BUCKET)

    def test_a_parent_that_was_measured(self):
        self.trace(SPAWNED, "measured_parent", STEPS)
        self.assertEqual(self.outcome(), ("ok", ""))
        self.assertEqual(self.rows("SELECT DISTINCT rank, phase FROM sample WHERE phase = 'backward'"), [])
        self.assertEqual({kind for kind, _ in self.warnings()}, {"assumed steps", "unobserved ranks"})

    @long_test
    def test_ranks_that_start_twice(self):
        self.check("twice", "fork")
        self.assertEqual(self.number_of_ranks(), 2)
        ((kind, detail),) = self.warnings()
        self.assertEqual(kind, "unobserved ranks")
        self.assertIn("1 process that made a process group later was not observed", detail)

    def test_processes_without_a_group(self):
        self.trace(SPAWNED, "alone", STEPS, "fork", code=3)
        self.assertIn("2 processes trained and were not observed: they are forks", self.outcome()[1])
        self.assertIn("with the start method spawn, --ranks 1", self.outcome()[1])
        done = self.trace(SPAWNED, "alone", STEPS, options=["--ranks", "1", "--db", "second.db"])
        self.assertIn("1 other process trained and was not observed: multiprocessing started it", done.stderr)


@needs_torch_parts
class FaultsTest(SpawnTest):
    def check(self, how, status, detail, reported, method="fork"):
        done = self.trace(SPAWNED, how, STEPS, method, code=1)
        self.assertIn(reported, done.stderr)  # by multiprocessing
        self.assertEqual(self.outcome()[0], status)
        self.assertIn(detail, self.outcome()[1])
        return self.rows("SELECT rank, count(*) FROM sample WHERE phase = 'step' AND warmup = 0 GROUP BY rank")

    def test_a_killed_rank(self):
        for method in ("fork", "forkserver"):  # how a process that spawn started ends is learned as after fork
            with self.subTest(method):
                (self.work / "kymo.db").unlink(missing_ok=True)
                cause = "rank 1 ended before reporting an outcome"
                steps = self.check("killed", "crashed", cause, "signal SIGKILL", method)
                self.assertEqual(steps, [(0, 3), (1, 2)])
                self.assertIn("its process ended with signal 9", self.outcome()[1])

    def test_an_exception(self):
        for method in ("spawn", "fork"):  # processes end by sys.exit(), or by os._exit()
            with self.subTest(method):
                (self.work / "kymo.db").unlink(missing_ok=True)
                steps = self.check("raise", "failed", "ValueError: bad value (spawned.py:", "bad value", method)
                self.assertEqual([rank for rank, _ in steps], [0, 1])

    @long_test
    def test_an_exception_before_the_process_is_a_rank(self):
        self.assertEqual(self.check("raise_early", "failed", "exit code 1", "bad rank"), [])


if __name__ == "__main__":
    unittest.main()
