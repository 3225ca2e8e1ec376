# SPDX-License-Identifier: Apache-2.0
"""Results.plot: what the figures show, read from their axes."""

import os
import re
import unittest
from pathlib import Path

from results_test import InWork, _results, installed


@installed("pandas", "matplotlib")
class PlotTest(InWork):
    def setUp(self):
        super().setUp()
        os.environ["MPLBACKEND"] = "agg"

    def test_times_by_the_number_that_varies_most(self):
        results = _results.run(
            "saxpy", axes={"n": [1024, 4096, 16384], "precision": ["fp32", "fp64"]}, steps=5, warmup=1
        )
        axes = results.plot()
        self.assertEqual(axes.get_xlabel(), "n")
        lines = {container.get_label(): container.lines[0] for container in axes.containers}
        self.assertEqual(set(lines), {"precision=fp32", "precision=fp64"})
        frame = results.frame
        for label, line in lines.items():
            rows = frame[frame.precision == label.removeprefix("precision=")].sort_values("n")
            self.assertEqual(list(line.get_xdata()), list(rows.n))
            self.assertEqual(list(line.get_ydata()), list(rows.time_ms))
        with self.assertRaisesRegex(_results.Error, "'m' does not vary among the runs; what does: n, precision"):
            results.plot(x="m")
        with self.assertRaisesRegex(_results.Error, "unknown kind 'pie'; known: times, phases, roofline"):
            results.plot("pie")

    def test_phases_add_up_to_the_step(self):
        results = _results.run("saxpy", axes={"n": [1024, 4096]}, steps=5, warmup=1)
        axes = results.plot("phases")
        self.assertEqual([label.get_text() for label in axes.get_yticklabels()], ["n=1024", "n=4096"])
        lengths = [sum(bar.get_width() for bar in bars) for bars in zip(*axes.containers, strict=True)]
        for length, mean in zip(lengths, results.frame.mean_ms, strict=True):
            self.assertAlmostEqual(length, mean)

    def test_colors_are_those_of_the_reports(self):
        palette = (Path(__file__).parents[2] / "host" / "report" / "palette.hpp").read_text(encoding="utf-8")
        light = re.findall(r'\{"([0-9A-F]{6})", "[0-9A-F]{6}"\}', palette)
        self.assertEqual(_results._plots.COLORS, [f"#{color}" for color in light[: len(_results._plots.COLORS)]])

    def test_roofline_needs_the_work_of_operators(self):
        results = _results.run("saxpy", steps=5, warmup=1)
        with self.assertRaisesRegex(_results.Error, "no operators with known work.*trace_detail='shapes'"):
            results.plot("roofline")


if __name__ == "__main__":
    unittest.main()
