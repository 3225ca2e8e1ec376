# SPDX-License-Identifier: Apache-2.0
"""Programs that are started several times: `kymo ab` of two programs in turn, and `kymo trace --repeat` before and
after a change; the verdict comes from the starts."""

import json
import shutil
import unittest

from kymo_tool import long_test, needs_torch_parts
from trace_program_test import ENDS, FORKED, PROGRAMS, PYTHON, TraceTest

WORK = """\
import os, sys, light_torch, torch
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(64 * int(sys.argv[1]) * int(os.environ.get("TIMES", "1")), 64)
for _ in range(20):
    model(x).mean().backward()
    optimizer.step()
print("done")
"""


# Each step sleeps for the next of these times in ms, in turn.
CYCLE = """\
import sys, time, light_torch, torch
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
times = [float(word) for word in sys.argv[1].split(",")]
for step in range(40):
    model(torch.ones(2, 2)).mean().backward()
    optimizer.step()
    time.sleep(times[step % len(times)] / 1000)
"""


def cycle(usual_ms, slow_ms):
    return f"{PYTHON} cycle.py " + ",".join([str(usual_ms)] * 9 + [str(slow_ms)])


@needs_torch_parts
class AbTest(TraceTest):
    def setUp(self):
        super().setUp()
        (self.work / "work.py").write_text(WORK)
        (self.work / "cycle.py").write_text(CYCLE)
        shutil.copy(PROGRAMS / "light_torch.py", self.work)

    def ab(self, *candidates, options=("--max-time", "1"), code=0):
        return self.kymo("ab", *options, "--", *candidates, code=code)

    def runs(self):
        return self.rows("SELECT r.label, r.repetition, r.timing, r.passes, r.status FROM run r ORDER BY r.run_id")

    def test_two_programs_in_turn_until_there_is_a_verdict(self):
        (self.work / "slow.py").write_text(WORK.replace("range(20)", "range(15)"))
        fast, slow = f"{PYTHON} work.py 1", f"{PYTHON} slow.py 300"
        done = self.ab(fast, slow, options=["--max-time", "600", "--warmup", "2"])
        self.assertIn(f"{slow} takes ", done.stdout)
        self.assertIn(" times as long as ", done.stdout)
        self.assertNotIn("done", done.stdout)  # output of the programs is stored
        self.assertIn(("done\n",), set(self.rows("SELECT stdout FROM rank")))
        runs = self.runs()
        order = [(fast, 0), (slow, 0), (slow, 1), (fast, 1)]
        self.assertEqual(runs[:4], [(label, repetition, "free", "time", "ok") for label, repetition in order])
        self.assertEqual(len(self.rows("SELECT DISTINCT case_key FROM run")), 2)
        steps = dict(self.rows("SELECT r.label, max(s.count) FROM run r JOIN statistic s USING (run_id) GROUP BY 1"))
        self.assertEqual(steps, {fast: 17, slow: 12})

    def compare_cycles(self, first, second):
        """The pair as JSON; totals that differ by less than half count as the same, whatever else the machine does."""
        words = ["ab", first, second, "--steps", "20", "--margin", "50%", "--max-time", "600", "--json"]
        found = json.loads(self.kymo(*words).stdout)
        self.assertEqual((found["statistic"], found["ended_by"]), ("mean", "verdict"))
        return found, found["pairs"][0]

    @long_test
    def test_stalls_count_although_the_median_does_not_see_them(self):
        found, pair = self.compare_cycles(cycle(30, 30), cycle(6, 240))  # 30 ms and 29.4 ms per step
        self.assertEqual(pair["verdict"], "SAME", pair)
        self.assertIn("by the mean step", pair["sentence"])
        self.assertEqual((pair["by_other"]["statistic"], pair["by_other"]["verdict"]), ("median", "FASTER"))
        self.assertLess(pair["by_other"]["ratio"], 0.7)
        self.assertIn("the medians say something else: ", pair["other_sentence"])
        (stalling,) = (each for each in found["candidates"] if each["candidate"] == cycle(6, 240))
        self.assertGreater(stalling["mean_ns"], 29.4e6)
        self.assertLess(stalling["median_ns"], stalling["mean_ns"] / 1.5)
        self.assertRegex(stalling["unlike_steps"], r"^[\d.]+ % of the steps take more than 1.5 times the median; they ")
        shown = self.kymo("show", "2").stdout
        self.assertRegex(shown, r"\nphase +clock +samples +mean +median ")
        self.assertRegex(shown, r"warning: run 2: unlike steps: [\d.]+ % of the steps take more than 1.5 times")

    @long_test
    def test_a_speed_up_of_the_slow_steps_alone_is_found(self):
        _, pair = self.compare_cycles(cycle(6, 600), cycle(6, 60))  # 65.4 ms and 11.4 ms per step
        self.assertEqual(pair["verdict"], "FASTER", pair)
        self.assertLess(pair["ratio"], 0.5)

    def test_one_program_with_another_environment(self):
        plain, more = f"{PYTHON} work.py 1", f"TIMES=2 {PYTHON} work.py '1'"
        found = self.kymo_json("ab", plain, more, "--max-time", "1", "--steps", "5")
        self.assertEqual([pair["runs"] for pair in found["pairs"]], [1])
        self.assertEqual({each["workload"] for each in found["candidates"]}, {"work.py"})
        self.assertEqual(found["ended_by"], "max-time")
        self.assertEqual({row[4] for row in self.runs()}, {"ok"})
        parameters = self.rows("SELECT DISTINCT name, value FROM param ORDER BY name, value")
        self.assertEqual(parameters, [("arguments", "1"), ("environment", "TIMES=2")])
        self.assertEqual(len(self.rows("SELECT DISTINCT case_key FROM run")), 2)
        # The steps were given, so that the program was ended after them.
        self.assertEqual(set(self.rows("SELECT stdout FROM rank")), {("",)})
        self.assertEqual(set(self.rows("SELECT count FROM statistic WHERE phase = 'step'")), {(5,)})

    def test_a_program_that_fails(self):
        done = self.ab(f"{PYTHON} work.py 1", f"{PYTHON} {ENDS} exit_early", code=3)
        self.assertIn("exit code 3", done.stderr)
        self.assertEqual([row[4] for row in self.runs()], ["ok", "failed"])

    def test_rejected_arguments(self):
        one, two = f"{PYTHON} work.py 1", f"{PYTHON} work.py 2"
        for words, message in (
            ([one, one], "identical"),
            ([one, "saxpy"], "cannot be compared with a workload"),
            (["--steps", "5", one, "missing-program x"], "no program 'missing-program'"),
            ([one, f"{PYTHON} missing.py"], "no script 'missing.py'"),
            ([one, "missing-program x"], "no program 'missing-program'"),
            ([one, f"{PYTHON} 'work.py 2"], "quote is not closed"),
            (["--steps", "5", one, "A=1 B=2"], "a program is required"),
            (["--set", "n=1", one, two], "--set does not apply"),
            (["--timing", "hot", one, two], "--timing does not apply"),
            (["--until", "1%", one, two], "--until does not apply"),
            (["--wrap", "env", one, two], "--wrap does not apply"),
            ([one], "candidates"),
        ):
            self.assertIn(message, self.kymo("ab", *words, code=2).stderr)
        self.assertFalse((self.work / "kymo.db").exists())

    @long_test
    def test_several_ranks_with_other_arguments(self):
        launcher = f"{PYTHON} {FORKED} 2 {PROGRAMS / 'ddp.py'}"
        self.ab(f"{launcher} 12", f"{launcher} 16")
        self.assertEqual({row[4] for row in self.runs()}, {"ok"})
        self.assertEqual(self.rows("SELECT DISTINCT ranks FROM run"), [(2,)])
        self.assertEqual(self.rows("SELECT count(DISTINCT rank) FROM sample"), [(2,)])
        self.assertEqual(len(self.rows("SELECT DISTINCT case_key FROM run")), 2)


# Each step sleeps for the time in the file `pause`, and the file `starts` has a line for each start.
PAUSE = """\
import sys, time, light_torch, torch
with open("starts", "a") as starts:
    starts.write("start\\n")
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
pause = float(open("pause").read())
for _ in range(8):
    model(torch.ones(2, 2)).mean().backward()
    optimizer.step()
    time.sleep(pause)
sys.exit(len(open("starts").readlines()) == int(sys.argv[1]))
"""


@needs_torch_parts
class RepeatTest(TraceTest):
    def setUp(self):
        super().setUp()
        (self.work / "pause.py").write_text(PAUSE)
        shutil.copy(PROGRAMS / "light_torch.py", self.work)

    def trace(self, pause, *options, fails_at=0, code=0):
        (self.work / "pause").write_text(str(pause))
        return self.kymo("trace", "--steps", "2:7", *options, "--", PYTHON, "pause.py", fails_at, code=code)

    @long_test
    def test_repetitions_before_and_after_a_change_have_a_verdict(self):
        done = self.trace(0.005, "--repeat", "5", "--label", "before")
        self.assertRegex(done.stderr, r"median over 5 runs: mean step [\d.]+ ms, [\d.]+ ms to [\d.]+ ms with a confid")
        self.assertIn("1, 2 … 5", done.stderr)
        runs = self.rows("SELECT label, repetition, passes FROM run ORDER BY run_id")
        self.assertEqual(runs, [*(("before", i, "time") for i in range(4)), ("before", 4, "time,ops")])
        self.assertEqual(self.rows("SELECT count(DISTINCT case_key) FROM run"), [(1,)])
        self.trace(0.5, "--repeat", "5", "--label", "after", "--passes", "time")
        (case,) = json.loads(self.kymo("compare", "before", "after", "--json").stdout)["cases"]
        self.assertEqual((case["verdict"], case["before"]["runs"], case["after"]["runs"]), ("SLOWER", 5, 5), case)
        self.assertFalse([note for note in case["notes"] if "too few" in note])

    def test_single_runs_have_none_and_are_told_how(self):
        for label in ("before", "after"):
            self.trace(0.001, "--label", label, "--passes", "time")
        done = self.kymo("compare", "before", "after")
        self.assertIn("AMBIGUOUS", done.stdout)
        self.assertIn("1 before and 1 after, where 5 of each are needed: kymo trace --repeat 5", done.stderr)

    def test_a_start_that_fails_is_the_last_one(self):
        self.trace(0.001, "--repeat", "5", "--passes", "time", fails_at=2, code=1)
        self.assertEqual(self.rows("SELECT status FROM run ORDER BY run_id"), [("ok",), ("failed",)])


if __name__ == "__main__":
    unittest.main()
