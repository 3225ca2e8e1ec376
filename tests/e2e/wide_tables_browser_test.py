# SPDX-License-Identifier: Apache-2.0
"""A table with as many columns as a report may have is not cut in a browser window of 1,400 px, and has numbers in one
line on a phone, where it scrolls."""

import re
import unittest

from kymo_tool import needs_installed
from report_page import CHROMIUM, ReportPageTest

KERNEL = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_128x128x8_stage3_ffma_x1"
COLUMNS = 8
REPORT = """title = "Tables"
[[section]]
heading = "Tables"
[[section.table]]
file = "wide.sql"
"""
# Twelve columns, two of them with names of kernels and eight with uncertainties.
QUERY = "\n".join(
    [
        "-- SPDX-License-Identifier: Apache-2.0",
        "-- caption: Wide.",
        "-- empty: None.",
        '-- column first: title="first in forward", format="code"',
        '-- column second: title="first in forward and backward", format="code"',
        '-- column phase: title="phase", format="code"',
        '-- column setting: title="heads × head dim"',
        *(
            f'-- column ms{i}: title="LibTorch efficient {i}", unit="ms", format="measured", plus_minus="std{i}"'
            for i in range(COLUMNS)
        ),
        f"SELECT '{KERNEL}' AS first, '{KERNEL}' AS second, 'backward' AS phase, '64 × 128, causal' AS setting,",
        ", ".join(f"0.02429{i} AS ms{i}, 0.000019 AS std{i}" for i in range(COLUMNS)),
    ]
)
SCRIPT = """
const boxes = [...document.querySelectorAll(".scroll")];
const results = { tables: boxes.length, widths: boxes.map((box) => [box.scrollWidth, box.clientWidth]) };
const texts = [...document.querySelectorAll("td.short code")];
results.brokenTexts = texts.filter((text) => text.getClientRects().length > 1).map((text) => text.textContent);
const isBroken = (cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  const boxes = [...range.getClientRects()];
  return Math.max(...boxes.map((box) => box.top)) > Math.min(...boxes.map((box) => box.bottom));
};
results.brokenNumbers = [...document.querySelectorAll("td.num")].filter(isBroken).length;
"""


@needs_installed(CHROMIUM, "chromium")
class WideTablesBrowserTest(ReportPageTest):
    def setUp(self):
        super().setUp()
        (self.work / "wide").mkdir(exist_ok=True)
        (self.work / "wide" / "report.toml").write_text(REPORT)
        (self.work / "wide" / "wide.sql").write_text(QUERY)
        self.kymo("report", "./wide", "--out", "wide-out", "--format", "html")
        # A page without charts has no script of its own, so the table is put into the page with the charts.
        table = re.search(r"<figure>.*?</figure>", (self.work / "wide-out" / "report.html").read_text(), re.DOTALL)
        self.page = self.page.replace("</main>", table.group(0) + "</main>", 1)

    def test_twelve_columns_fit(self):
        results = self.exercise(SCRIPT, width=1400)
        self.assertEqual(results["tables"], 1)
        [[content, box]] = results["widths"]
        self.assertLessEqual(content, box)
        self.assertEqual(results["brokenTexts"], [])

    def test_numbers_do_not_wrap_on_a_phone(self):
        results = self.exercise(SCRIPT, width=390)
        self.assertEqual(results["brokenNumbers"], 0)
        [[content, box]] = results["widths"]
        self.assertGreater(content, box)


if __name__ == "__main__":
    unittest.main()
