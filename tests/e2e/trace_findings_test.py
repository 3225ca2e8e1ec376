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
        for cause in CAUSES.values():
            self.assertEqual(subjects.count(cause), 1, text)
        shares = [share for _, share in found]
        self.assertEqual(shares, sorted(shares, reverse=True), text)
        self.assertRegex(" ".join(text.split()), r"aten::mm\(f64\[\d+, \d+\],? f64\[\d+, \d+\]\) in Model/product")
        self.assertIn("num_workers", text)
        self.assertIn("next: kymo report program", text)

    def test_no_cause_is_named_without_it(self):
        found, text = self.findings()
        for cause in CAUSES.values():
            self.assertNotIn(cause, [subject for subject, _ in found], text)


if __name__ == "__main__":
    unittest.main()
