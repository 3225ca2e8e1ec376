# SPDX-License-Identifier: Apache-2.0
"""What limits the steps of a program, as the terminal names it, for planted causes and without them."""

import re
import unittest

from kymo_tool import needs_torch_parts
from trace_program_test import PROGRAMS, TraceTest

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


@needs_torch_parts
class FindingsTest(TraceTest):
    def findings(self, *planted):
        """The subjects in the terminal, in their order, with their shares, and the whole output."""
        text = self.trace(PROGRAMS / "planted.py", *planted, options=["--steps", "4:10"]).stderr
        found = re.findall(r"^\d\. (.*?)(?:, ([\d.]+) % of a step)?:", text, re.MULTILINE)
        return [(subject, float(share or 0)) for subject, share in found], text

    def test_each_planted_cause_is_named_once_the_longest_first(self):
        found, text = self.findings(*CAUSES)
        subjects = [subject for subject, _ in found]
        ((loader_share,),) = self.rows(LOADER)
        ((short_calls, short_share),) = self.rows(LOOP)
        expected = dict.fromkeys(CAUSES, 1)
        expected["loader"] = int(loader_share >= 0.1)
        expected["loop"] = int(short_calls >= 500 and short_share >= 0.1)
        self.assertEqual({cause: subjects.count(subject) for cause, subject in CAUSES.items()}, expected, text)
        shares = [share for _, share in found]
        self.assertEqual(shares, sorted(shares, reverse=True), text)
        self.assertRegex(" ".join(text.split()), r"aten::mm\(f64\[\d+, \d+\],? f64\[\d+, \d+\]\) in Model/product")
        self.assertIn("next: kymo report program", text)

    def test_no_cause_is_named_without_it(self):
        found, text = self.findings()
        for cause in ("loop", "double", "item"):
            self.assertNotIn(CAUSES[cause], [subject for subject, _ in found], text)


if __name__ == "__main__":
    unittest.main()
