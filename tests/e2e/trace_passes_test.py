# SPDX-License-Identifier: Apache-2.0
"""Passes, ranks and steps of `kymo trace`: different executions, observed ranks, later steps, other profilers."""

import json
import os
import shutil
import subprocess
import unittest

from kymo_tool import BUILD, needs_torch_parts
from trace_program_test import ENDS, PROGRAMS, PYTHON, STEPS, TRAIN, TraceTest

DIFFERS = PROGRAMS / "differs.py"
NUMBERED = PROGRAMS / "numbered.py"
PROFILED = PROGRAMS / "profiled.py"


class WarningsTest(TraceTest):
    def warnings(self, kind):
        return [detail for (detail,) in self.rows("SELECT detail FROM run_warning WHERE kind = ?", kind)]


@needs_torch_parts
class ExecutionsTest(WarningsTest):
    """Each pass is an execution of its own: passes that did not do the same are not used together."""

    def differences(self, how, passes="time,memory,ops"):
        self.trace(DIFFERS, how, options=["--passes", passes])
        return self.warnings("different executions")

    def overheads(self):
        return self.rows("SELECT count(*) FROM trace_overhead")[0][0]

    def test_the_same(self):
        self.assertEqual(self.differences("same"), [])
        self.assertGreater(self.overheads(), 0)

    def test_other_calls(self):
        done = self.trace(DIFFERS, "calls", options=["--passes", "time,memory,ops"])
        self.assertIn("different executions", done.stderr)
        (detail,) = self.warnings("different executions")
        self.assertIn("in measured step 3, pass time entered backward 1, forward 1, optimizer 1; pass ops", detail)
        self.assertIn("forward 2", detail)
        self.assertEqual(self.overheads(), 0)
        self.assertIn("different executions", self.kymo("show", "1").stdout)
        self.kymo("report", "quick", "--format", "markdown", "--out", "report")
        (text,) = (self.work / "report").glob("*.md")
        self.assertIn("different executions", text.read_text())

    def test_other_numbers_of_steps(self):
        details = self.differences("steps", "memory,ops")
        self.assertEqual(details, ["pass memory measured 10 steps, pass ops 3"])


@needs_torch_parts
class ObservedRanksTest(TraceTest):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", PROGRAMS / "ddp.py")

    def check(self, rank, passes):
        expected = self.plain(PROGRAMS / "ddp.py", STEPS, ranks=2)
        done = self.trace(*self.launcher, STEPS, options=["--ranks-observed", rank, "--passes", passes])
        self.assertEqual(done.stdout, expected * len(passes.split(",")))
        self.assertEqual(self.outcome(), ("ok", ""))
        self.assertEqual(self.rows("SELECT DISTINCT rank FROM rank"), [(int(rank),)])
        self.assertEqual(self.rows("SELECT ranks FROM run"), [(2,)])
        self.assertEqual(self.rows("SELECT count(*) FROM dropped_record"), [(0,)])

    def test_the_first(self):
        self.check("0", "time,ops")
        ((count,),) = self.rows("SELECT count FROM statistic WHERE phase = 'step'")
        self.assertEqual(count, 10)

    def test_another(self):
        self.check("1", "ops")

    def test_rejected(self):
        for value, message in (("2", "no rank 2 among 2 ranks"), ("x", "--ranks-observed"), ("-1", "--ranks-observed")):
            done = self.kymo("trace", "--ranks", "2", "--ranks-observed", value, "--", PYTHON, TRAIN, code=2)
            self.assertIn(message, done.stderr)


@needs_torch_parts
class StepsBeforeTest(WarningsTest):
    """The steps before those to observe are counted correctly, with and without functions of Python."""

    def check(self, kind, first=20, calls=(20, 21, 22)):
        """calls: of relu, in the steps that were observed."""
        expected = self.plain(NUMBERED, kind, 30)
        done = self.trace(NUMBERED, kind, 30, options=["--passes", "time,ops", "--steps", f"{first}:{first + 3}"])
        self.assertEqual(done.stdout, 2 * expected)
        self.assertEqual(self.warnings("different executions"), [])  # the same steps and phases in both passes
        found = self.rows("""SELECT count(*) FROM op JOIN string n ON n.string_id = name_id
                             WHERE n.text = 'aten::relu' AND run_id = (SELECT max(run_id) FROM run)
                             GROUP BY step ORDER BY step DESC LIMIT 3""")
        self.assertEqual([count for (count,) in reversed(found)], list(calls))

    def test_a_single_optimizer(self):
        self.check("plain")
        self.check("plain", first=1, calls=(1, 2, 3))
        self.check("plain", first=4, calls=(4, 5, 6))  # only one boundary could be skipped

    def test_calls_between_steps(self):
        self.check("evaluated")

    def test_skipped_optimizer_steps(self):
        self.check("scaled")

    def test_a_second_optimizer(self):
        self.check("other")

    def test_another_optimizer_for_good(self):
        for first in (11, 12, 20):  # the last steps of one optimizer, and the first ones of another one
            self.check("changed", first, (first, first + 1, first + 2))

    def test_what_is_assumed_after_a_change_of_the_optimizer(self):
        self.check("changed", 18, (18, 19, 20))  # of both optimizers, and the three before as warm-up
        steps = self.rows("""SELECT step FROM metric WHERE name = 'assumed_step_boundary'
                             AND run_id = 1 AND pass = 'ops' ORDER BY step""")
        self.assertEqual([step for (step,) in steps], [0, 1, 2, 3, 4, 5])

    def test_several_steps_of_an_optimizer_in_an_iteration(self):
        self.check("critic")
        self.assertEqual(self.metric("assumed_step_boundary"), set())  # one batch of the data loader for each

    def test_an_optimizer_that_seldom_steps(self):
        self.check("seldom")
        self.assertEqual(self.metric("assumed_step_boundary"), set())

    def test_an_optimizer_that_calls_another_one(self):
        self.check("nested")
        self.assertEqual(self.metric("assumed_step_boundary"), set())

    def test_an_optimizer_that_calls_the_model(self):
        self.check("closure")

    def test_an_optimizer_that_steps_in_the_backward_pass(self):
        self.check("hooked", calls=(40, 42, 44))  # computed again

    def test_a_data_set_that_calls_a_module(self):
        self.check("loaded")


@needs_torch_parts
class LaterStepsTest(WarningsTest):
    """The program continues after the observed steps, and what its steps cost then is stored as metrics."""

    def test_later_steps_are_metrics(self):
        expected = self.plain(TRAIN, "transformer", 30)
        done = self.trace(TRAIN, "transformer", 30, options=["--passes", "time,ops", "--steps", "5:10"])
        self.assertEqual(done.stdout, 2 * expected)
        found = self.rows("SELECT pass, value, unit FROM metric WHERE name = 'later_steps' ORDER BY pass")
        self.assertEqual(found, [("ops", 19.0, "steps"), ("time", 19.0, "steps")])
        medians = self.rows("SELECT value, unit FROM metric WHERE name = 'later_step_median'")
        self.assertEqual([(value > 0, unit) for value, unit in medians], 2 * [(True, "ms")])
        self.assertEqual(self.measured_steps(), 10)  # later steps are no samples
        self.assertIn("later steps of the ops pass, with nothing recorded: 19, median", done.stderr)

    def test_a_program_that_ends_with_the_window(self):
        self.trace(TRAIN, "by_hand", 12, options=["--steps", "5:11"])
        self.assertEqual(self.measured_steps(), 6)
        self.assertEqual(self.metric("later_steps"), set())

    def test_several_passes_stop(self):
        done = self.trace(TRAIN, "by_hand", 1000, options=["--steps", "1:3", "--stop", "--passes", "memory,ops"])
        self.assertEqual(len(done.stdout.splitlines()), 6)
        self.assertEqual(self.metric("later_steps"), set())
        self.assertIn("--no-stop", self.kymo("trace", "--stop", "--no-stop", "--", PYTHON, TRAIN, code=2).stderr)

    def test_the_trace_pass_on_a_gpu_says_that_it_stops(self):
        for options, says in (((), True), (("--no-stop",), False), (("--passes", "time"), False)):
            command = ("trace", "--device", "cuda", *options, "--", PYTHON, "-c", "pass")
            self.assertEqual("ends the program" in self.kymo(*command, code=3).stderr, says, options)

    def test_after_a_fork(self):
        self.trace(ENDS, "fork")
        self.assertEqual(self.metric("later_steps"), {18.0})


@needs_torch_parts
class OtherProfilerTest(WarningsTest):
    """A program that uses torch.profiler gets the same trace as without kymo."""

    def check(self, steps, warnings):
        expected = self.plain(PROFILED, steps, STEPS)
        done = self.trace(PROFILED, steps, STEPS)
        self.assertEqual(done.stdout, expected)
        self.assertEqual(self.outcome(), ("ok", ""))
        self.assertEqual(self.measured_steps(), 10)
        self.assertGreater(self.rows("SELECT count(*) FROM op WHERE step >= 3")[0][0], 100)
        found = self.warnings("other profiler")
        self.assertEqual(len(found), warnings)
        for detail in found:
            self.assertIn("torch.profiler", detail)

    def test_within_the_observed_steps(self):
        self.check("6:8", 1)

    def test_into_the_observed_steps(self):
        self.check("0:4", 1)

    def test_before_the_observed_steps(self):
        self.check("0:1", 0)


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
        code = "import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))"
        packages = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        (self.site / "packages.pth").write_text(f"{packages}\n")

    def detail(self, *words, code=3):
        self.kymo("trace", "--", self.python, *words, code=code)
        return self.outcome()[1]

    def test_observes_isolated_programs(self):
        self.with_torch()
        for i, option in enumerate(("-I", "-E", "-u")):
            self.kymo("trace", "--", self.python, option, TRAIN, "by_hand", STEPS)
            found = self.rows("SELECT status, detail FROM run WHERE run_id = ?", i + 1)
            self.assertEqual(found, [("ok", "")], option)
        self.assertEqual(self.measured_steps(), 30)

    def test_loads_without_torch(self):
        self.assertIn("never imported torch", self.detail("-I", "-c", "pass"))

    def test_without_site(self):
        self.assertIn("runs it with -S", self.detail("-S", "-c", "pass"))

    def test_leaves_programs_of_another_installation_alone(self):
        other = self.folder / "other" / "kymo_trace"
        other.parent.mkdir()
        shutil.copytree(BUILD / "lib" / "kymo" / "python" / "kymo_trace", other)
        (self.site / "kymo.pth").write_text(f"{other.parent}\n")
        self.assertIn("with -I or -E in an environment", self.detail("-I", "-c", "pass"))
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
