# SPDX-License-Identifier: Apache-2.0
"""What limits the steps of a program, as the terminal names it, for planted causes and without them, and what it gains
to remove them."""

import itertools
import json
import re
import shutil
import statistics
import unittest

from forked_program import run_forked
from kymo_tool import long_test, needs_torch_parts
from trace_program_test import PROGRAMS, PYTHON, TraceTest

CAUSES = {
    "loader": "data loading",
    "loop": "many short operators in Model/decay",
    "double": "double precision",
    "item": "values read by the host",
}
STEP = "(SELECT avg(host_ns) FROM sample WHERE pass = 'ops' AND warmup = 0 AND phase = 'step')"
# On a busy machine, the loader may take a smaller share of a step, and the operators may not be short.
LOADER = f"SELECT avg(host_ns) / {STEP} FROM sample WHERE pass = 'ops' AND warmup = 0 AND phase = 'data_loading'"
LOOP = f"""SELECT coalesce(sum(calls), 0), coalesce(sum(ms), 0) * 1e6 / {STEP} FROM (
             SELECT sum(calls) AS calls, sum(self_ms) AS ms FROM op_by_scope
             WHERE module = 'Model/decay' AND pass = 'ops' GROUP BY name
           ) WHERE ms < 0.02 * calls"""


class PlantedTest(TraceTest):
    def causes_that_matter(self):
        """The planted causes that take enough of a step to be named, on a machine as busy as this one is."""
        ((loader_share,),) = self.rows(LOADER)
        ((short_calls, short_share),) = self.rows(LOOP)
        large = {"loader": loader_share >= 0.1, "loop": short_calls >= 500 and short_share >= 0.1}
        return [cause for cause in CAUSES if large.get(cause, True)]


@needs_torch_parts
class FindingsTest(PlantedTest):
    def findings(self, *planted):
        """The subjects in the terminal, in their order, with their shares, and the whole output."""
        text = self.trace(PROGRAMS / "planted.py", *planted, options=["--steps", "4:10"]).stderr
        found = re.findall(r"^\d\. (.*?)(?:, ([\d.]+) % of a step)?:", text, re.MULTILINE)
        return [(subject, float(share or 0)) for subject, share in found], text

    def test_each_planted_cause_is_named_once_the_longest_first(self):
        found, text = self.findings(*CAUSES)
        subjects = [subject for subject, _ in found]
        found_causes = [cause for cause, subject in CAUSES.items() for _ in range(subjects.count(subject))]
        self.assertEqual(found_causes, self.causes_that_matter(), text)
        shares = [share for _, share in found]
        self.assertEqual(shares, sorted(shares, reverse=True), text)
        self.assertRegex(" ".join(text.split()), r"aten::mm\(f64\[\d+, \d+\],? f64\[\d+, \d+\]\) in Model/product")
        self.assertIn("next: kymo report program", text)

    def test_no_cause_is_named_without_it(self):
        found, text = self.findings()
        for cause in ("loop", "double", "item"):
            self.assertNotIn(CAUSES[cause], [subject for subject, _ in found], text)


# What is left of the causes after each fix, the fix of the longest finding first. Each takes a large part of a step.
STAGES = {
    "before": ["loader=3", "loop", "double", "item=1500"],
    "loads ahead": ["loop", "double", "item=1500"],
    "whole tensors": ["double", "item=1500"],
    "single precision": ["item=1500"],
    "values on request": [],
}
PLACES = {
    "loader": r"^[\d.]+ ms of [\d.]+ ms per step$",
    "loop": r"calls of [\d.]+ µs take .*; most often aten::",
    "double": r"most: aten::mm\(f64.* in Model/product$",
    "item": r"^1500 per step, by \.item\(\).*; most in phase other$",
}
FIRST, END = 4, 10  # of the measured steps
ROUNDS, REPETITIONS = 3, 2


@long_test
@needs_torch_parts
class FixesTest(PlantedTest):
    """The script is edited as a user would, from finding to finding. Rounds alternate between its versions and between
    runs with and without kymo, so that a machine that becomes busier treats all alike."""

    def setUp(self):
        super().setUp()
        shutil.copy(PROGRAMS / "light_torch.py", self.work)
        self.environment["STEP_TIMES"] = str(self.work / "times")

    def edit(self, stage):
        text = (PROGRAMS / "planted.py").read_text(encoding="utf-8")
        self.assertIn("sys.argv[1:]", text)
        (self.work / "train.py").write_text(text.replace("sys.argv[1:]", repr(STAGES[stage])), encoding="utf-8")

    def take_own_times(self):
        """The times of the measured steps by the program's own clock, a list for each start since the last call."""
        lines = (self.work / "times").read_text(encoding="utf-8").splitlines()
        (self.work / "times").unlink()
        return [json.loads(line)[FIRST:END] for line in lines]

    def measure(self, stage):
        """Traces the script, and runs it without kymo before and after. Returns the own times of both kinds."""
        self.edit(stage)
        without = []
        for is_observed in (False, True, False):
            if is_observed:
                options = ["--steps", f"{FIRST}:{END}", "--passes", "time", "--repeat", REPETITIONS, "--label", stage]
                self.trace("train.py", options=options)
                observed = self.take_own_times()
            else:
                codes, _, errors = run_forked(PYTHON, [self.work / "train.py"], self.work, [self.environment])
                self.assertEqual(codes, [0], errors)
                without += self.take_own_times()
        return without, observed

    def test_each_finding_pays_what_the_clock_of_the_program_says(self):
        self.edit("before")
        text = self.trace("train.py", options=["--steps", f"{FIRST}:{END}"]).stderr
        self.take_own_times()
        found = re.findall(r"^\d\. (.*?)(?:, ([\d.]+) % of a step)?: (.*)$", text, re.MULTILINE)
        for cause in self.causes_that_matter():
            evidence = [each[2] for each in found if each[0] == CAUSES[cause]]
            self.assertEqual(len(evidence), 1, text)
            self.assertRegex(evidence[0], PLACES[cause])
        shares = [float(share) for _, share, _ in found if share]
        self.assertEqual(shares, sorted(shares, reverse=True), text)

        without, observed = ({stage: [] for stage in STAGES} for _ in range(2))
        for _, stage in itertools.product(range(ROUNDS), STAGES):
            for times, new in zip((without, observed), self.measure(stage), strict=True):
                times[stage] += new
        for stage, starts in observed.items():
            self.check_same_clock(stage, starts)
        stages = list(STAGES)
        for before, after in [*itertools.pairwise(stages), (stages[0], stages[-1])]:
            (case,) = json.loads(self.kymo("compare", before, after, "--json").stdout)["cases"]
            self.assertEqual((case["before"]["runs"], case["after"]["runs"]), (ROUNDS * REPETITIONS,) * 2)
            summary = getattr(statistics, case["statistic"])
            own = [[summary(times) for times in starts] for starts in (observed[before], observed[after])]
            is_faster = max(own[1]) < min(own[0])  # every start, however busy the machine was
            if is_faster:
                self.assertEqual(case["verdict"], "FASTER", (own, case))
            least, most = self.range_of_ratios(map(summary, without[after]), map(summary, without[before]))
            self.assertLessEqual(case["ratio_low"], most, (before, after, case))
            self.assertGreaterEqual(case["ratio_high"], least, (before, after, case))
        self.assertTrue(is_faster, "all fixes together")

    def check_same_clock(self, stage, starts):
        """What kymo measured of a start is what the program measured of it, up to the boundaries of the first and the
        last step, which differ by a part of a step."""
        measured = self.rows(
            "SELECT sum(s.host_ns) / 1e9, count(*) FROM run r JOIN sample s USING (run_id) WHERE r.label = ? "
            "AND s.pass = 'time' AND s.phase = 'step' AND s.warmup = 0 GROUP BY r.run_id ORDER BY r.run_id",
            stage,
        )
        for (total_s, count), own in zip(measured, starts, strict=True):
            self.assertEqual(count, END - FIRST)
            self.assertAlmostEqual(total_s, sum(own), delta=max(own))

    def range_of_ratios(self, numerators, denominators):
        numerators, denominators = list(numerators), list(denominators)
        return min(numerators) / max(denominators), max(numerators) / min(denominators)


if __name__ == "__main__":
    unittest.main()
