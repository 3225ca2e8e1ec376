# SPDX-License-Identifier: Apache-2.0
"""Passes, ranks and steps of `kymo trace`: different executions, observed ranks, steps before, other profilers."""

import json
import os
import shutil
import subprocess
import unittest

from kymo_tool import BUILD, SharedRunTest, long_test, needs_torch_parts
from trace_program_test import PROGRAMS, PYTHON, STEPS, TRAIN, TraceTest

DIFFERS = PROGRAMS / "differs.py"
NUMBERED = PROGRAMS / "numbered.py"
PROFILED = PROGRAMS / "profiled.py"


class WarningsTest(TraceTest):
    def warnings(self, kind):
        return [detail for (detail,) in self.rows("SELECT detail FROM run_warning WHERE kind = ?", kind)]


@needs_torch_parts
class ExecutionsTest(WarningsTest):
    """Each pass is an execution of its own: passes that did not do the same are not used together."""

    @long_test
    def test_other_calls(self):
        done = self.trace(DIFFERS, options=["--passes", "time,ops"])
        self.assertIn("different executions", done.stderr)
        (detail,) = self.warnings("different executions")
        self.assertIn("in measured step 3, pass time entered backward 1, forward 1, optimizer 1; pass ops", detail)
        self.assertIn("forward 2", detail)
        self.assertEqual(self.rows("SELECT count(*) FROM trace_overhead"), [(0,)])
        self.assertIn("different executions", self.kymo("show", "1").stdout)
        self.kymo("report", "quick", "--format", "markdown", "--out", "report")
        (text,) = (self.work / "report").glob("*.md")
        self.assertIn("different executions", text.read_text())


@needs_torch_parts
class ObservedRanksTest(TraceTest):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", PROGRAMS / "ddp.py")

    def test_the_first(self):
        expected = self.plain(PROGRAMS / "ddp.py", STEPS, ranks=2)
        done = self.trace(*self.launcher, STEPS, options=["--ranks-observed", "0", "--passes", "time,memory"])
        self.assertEqual(done.stdout, 2 * expected)
        self.assertEqual(self.outcome(), ("ok", ""))
        self.assertEqual(self.rows("SELECT DISTINCT rank FROM rank"), [(0,)])
        self.assertEqual(self.rows("SELECT ranks FROM run"), [(2,)])
        self.assertEqual(self.rows("SELECT count(*) FROM dropped_record"), [(0,)])
        ((count,),) = self.rows("SELECT count FROM statistic WHERE phase = 'step'")
        self.assertEqual(count, 10)
        ((rank, size),) = self.rows(
            "SELECT rank, max(bytes) FROM memory_by_category WHERE category = 'parameter' GROUP BY rank"
        )
        self.assertEqual(rank, 0)
        self.assertGreaterEqual(size, 4 * (8 * 16 + 16 + 16 + 1))

    def test_rejected(self):
        for value, message in (("2", "no rank 2 among 2 ranks"), ("x", "--ranks-observed"), ("-1", "--ranks-observed")):
            done = self.kymo("trace", "--ranks", "2", "--ranks-observed", value, "--", PYTHON, TRAIN, code=2)
            self.assertIn(message, done.stderr)


RELUS = """SELECT count(*) FROM op JOIN string n ON n.string_id = name_id WHERE n.text = 'aten::relu' AND rank = ?
           GROUP BY step ORDER BY step DESC LIMIT 3"""


@needs_torch_parts
class FewStepsBeforeTest(WarningsTest):
    def check(self, first, passes):
        expected = self.plain(NUMBERED, "plain", 30)
        options = ["--passes", passes, "--steps", f"{first}:{first + 3}"]
        done = self.trace(NUMBERED, "plain", 30, options=options)
        self.assertEqual(done.stdout, expected * len(passes.split(",")))
        self.assertEqual(self.warnings("different executions"), [])
        self.assertEqual(self.rows(RELUS, 0), [(first + 2,), (first + 1,), (first,)])

    def test_one(self):
        self.check(1, "ops")

    @long_test
    def test_only_one_boundary_can_be_skipped(self):
        self.check(4, "time,ops")


@needs_torch_parts
class StepsBeforeTest(SharedRunTest, WarningsTest):
    """The steps before those to observe are counted correctly, with and without functions of Python."""

    kinds = (
        "plain",
        "evaluated",  # calls between steps
        "scaled",  # skipped optimizer steps
        "other",  # a second optimizer
        "changed",  # another optimizer for good, in the first step to observe
        "changed+2",  # in the last one
        "changed+8",  # the first step of the optimizer before
        "changed+9",  # the last step of the first optimizer
        "critic",  # several steps of an optimizer in an iteration
        "seldom",  # an optimizer that seldom steps
        "nested",  # an optimizer that calls another one
        "closure",  # an optimizer that calls the model
        "hooked",  # an optimizer that steps in the backward pass, which computes again
        "loaded",  # a data set that calls a module
    )

    def run_once(self):
        options = ["--passes", "time,ops", "--steps", "20:23"]
        self.trace_each(NUMBERED, self.kinds, 30, options=options, passes=2)

    def test_the_observed_steps(self):
        self.assertEqual(self.warnings("different executions"), [])  # the same steps and phases in both passes
        for rank, kind in enumerate(self.kinds):
            with self.subTest(kind):
                times = 2 if kind == "hooked" else 1
                self.assertEqual(self.rows(RELUS, rank), [(times * step,) for step in (22, 21, 20)])

    def test_what_is_assumed_after_a_change_of_the_optimizer(self):
        # The second optimizer takes the place of the first one, which does not exist any more; the third one is of
        # another class.
        steps = self.rows(
            "SELECT step FROM metric WHERE name = 'assumed_step_boundary' AND pass = 'ops' AND rank = ? ORDER BY step",
            self.kinds.index("changed+2"),
        )
        self.assertEqual([step for (step,) in steps], [5])

    def test_what_is_known_of_several_optimizers(self):
        for kind in ("critic", "seldom", "nested"):  # critic has a batch of the data loader for each
            self.assertEqual(self.metric("assumed_step_boundary", self.kinds.index(kind)), set(), kind)


@needs_torch_parts
class StopTest(TraceTest):
    def test_the_trace_pass_on_a_gpu_says_that_it_stops(self):
        for options, says in (((), True), (("--no-stop",), False), (("--passes", "time"), False)):
            command = ("trace", "--device", "cuda", *options, "--", PYTHON, "-c", "pass")
            self.assertEqual("ends the program" in self.kymo(*command, code=3).stderr, says, options)


@needs_torch_parts
class OtherProfilerTest(WarningsTest):
    """A program that uses torch.profiler gets the same trace as without kymo."""

    @long_test
    def test_within_into_and_before_the_observed_steps(self):
        self.trace_each(PROFILED, ["6:8", "0:4", "0:1"], STEPS)
        steps = self.rows("SELECT rank, count(*) FROM sample WHERE phase = 'step' AND NOT warmup GROUP BY rank")
        self.assertEqual(steps, [(0, 10), (1, 10), (2, 10)])
        operators = self.rows("SELECT rank, count(*) > 100 FROM op WHERE step >= 3 GROUP BY rank")
        self.assertEqual(operators, [(0, 1), (1, 1), (2, 1)])
        seen = self.rows("SELECT rank, value FROM metric WHERE name = 'other_profiler' ORDER BY rank")
        self.assertEqual(seen, [(0, "torch.profiler"), (1, "torch.profiler")])
        (detail,) = self.warnings("other profiler")
        self.assertIn("torch.profiler", detail)


@needs_torch_parts
class IsolatedTest(TraceTest):
    """kymo_trace.pth of the wheel, in an environment that has the installation's packages."""

    def setUp(self):
        super().setUp()
        folder = self.folder / "environment"
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", folder], check=True)
        self.python = folder / "bin" / "python"
        (self.site,) = (folder / "lib").glob("python3.*/site-packages")
        library = BUILD / "lib" / "kymo"
        (self.site / "kymo.pth").write_text(f"{library / 'python'}\n")
        shutil.copy(library / "inject" / "kymo_trace.pth", self.site)

    def with_torch(self):
        code = (
            "import importlib.util as u, os; print(os.path.dirname(*u.find_spec('torch').submodule_search_locations))"
        )
        packages = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        (self.site / "packages.pth").write_text(f"{packages}\n")

    def detail(self, *words, code=3):
        self.kymo("trace", "--", self.python, *words, code=code)
        return self.outcome()[1]

    def test_observes_isolated_programs(self):
        self.with_torch()
        replacing = ("sh", "-c", 'PYTHONPATH=folder exec "$0" "$@"', self.python)
        for i, words in enumerate(((self.python, "-I"), (self.python, "-u"), replacing)):  # -u: with PYTHONPATH
            self.kymo("trace", "--", *words, TRAIN, "by_hand", STEPS)
            found = self.rows("SELECT status, detail FROM run WHERE run_id = ?", i + 1)
            self.assertEqual(found, [("ok", "")], words)
        self.assertEqual(self.measured_steps(), 30)

    def test_loads_without_torch(self):
        self.assertIn("never imported torch", self.detail("-E", "-c", "pass"))

    def test_without_site(self):
        self.assertIn("runs it with -S", self.detail("-S", "-c", "pass"))

    def test_leaves_programs_of_another_installation_alone(self):
        other = self.folder / "other" / "kymo_trace"
        other.parent.mkdir()
        shutil.copytree(BUILD / "lib" / "kymo" / "python" / "kymo_trace", other)
        (self.site / "kymo.pth").write_text(f"{other.parent}\n")
        self.assertIn("in an environment that does not contain this kymo", self.detail("-I", "-c", "pass"))
        shown = self.kymo("trace", "--", self.python, "-c", "import sys; print(sorted(sys.modules))", code=3).stdout
        self.assertIn("'kymo_trace'", shown)  # that of PYTHONPATH

    def test_does_nothing_in_other_programs(self):
        code = "import sys; print([name for name in sys.modules if 'kymo' in name])"
        environment = {name: value for name, value in os.environ.items() if name != "KYMO_TRACE"}
        done = subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=True, env=environment)
        self.assertEqual((done.stdout, done.stderr), ("[]\n", ""))

    def test_a_damaged_setting_is_not_the_concern_of_the_program(self):
        environment = {**os.environ, "KYMO_TRACE": json.dumps({"other": 1})}
        done = subprocess.run(
            [self.python, "-I", "-c", "print(1)"], capture_output=True, text=True, check=True, env=environment
        )
        self.assertEqual(done.stdout, "1\n")
        self.assertIn("cannot be observed", done.stderr)


if __name__ == "__main__":
    unittest.main()
