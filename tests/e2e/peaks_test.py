# SPDX-License-Identifier: Apache-2.0
"""kymo peaks on the CPU with few steps: what it measures, prints, stores and leaves out."""

import contextlib
import sqlite3
import unittest

from kymo_tool import KymoTest, needs_torch_parts

PEAKS = ["copy", "read", "cache", "matmul fp32", "matmul bf16", "matmul fp16"]
SHORT = ["--device", "cpu", "--warmup", "0", "--steps", "2", "--no-verify"]


@needs_torch_parts
class PeaksTest(KymoTest):
    def finding(self):
        """What the doctor finds about this CPU's peaks."""
        (found,) = [each["found"] for each in self.kymo_json("doctor") if each["subject"] == "peaks cpu"]
        return found

    def test_measures_what_is_missing_and_prints_the_table(self):
        first = self.kymo("peaks", *SHORT)
        lines = first.stdout.splitlines()
        self.assertRegex(lines[2], r"^peak +rate +clock \(MHz\) +measured \(UTC\) +run +warnings$")
        for line, name in zip(lines[4:], PEAKS, strict=False):
            unit = "FLOP/s" if name.startswith("matmul") else "B/s"
            self.assertRegex(
                line,
                rf"^{name} +[\d.]+ [kMGT]{unit} ± [<\d.]+ %( \(not reproducible\))? +\d+ +20\d\d-[-\d]+T[\d:]+ +\d",
            )
        rows = self.records("SELECT * FROM device_peak ORDER BY run_id")
        self.assertEqual(len(rows), len(PEAKS))
        for row in rows:
            self.assertEqual((row["device_kind"], row["clock"], row["runs"]), ("cpu", "host", 1))
            self.assertLessEqual(row["rate_low"], row["rate"])
            self.assertLessEqual(row["rate"], row["rate_high"])

        again = self.kymo_json("peaks", *SHORT)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(len(PEAKS),)], "nothing was missing")
        self.assertEqual([peak["run_id"] for peak in again["peaks"]], [row["run_id"] for row in rows])
        self.assertRegex(self.finding(), r"^copy [\d.]+ .B/s, read .*, matmul fp16 [\d.]+ .FLOP/s \(20")

        # What another device has reached does not count as measured here.
        with contextlib.closing(sqlite3.connect(self.work / "kymo.db")) as database, database:
            columns = "device_id, uuid, kind, name, memory_bytes, multiprocessors, max_sm_clock_mhz"
            database.execute(f"INSERT INTO device ({columns}) SELECT 9, 'another', kind, name, 1, 1, 1 FROM device")
            database.execute("UPDATE rank SET device_id = 9 WHERE run_id = 1")
        self.assertRegex(self.finding(), r"^read ")
        self.kymo("peaks", *SHORT)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(len(PEAKS) + 1,)])
        others = self.rows("SELECT uuid FROM device_peak WHERE run_id = 1")
        self.assertEqual(others, [("another",)])

        self.kymo("report", "peaks", "--out", "report")
        report = (self.work / "report" / "report.md").read_text(encoding="utf-8")
        self.assertIn("| `matmul` | bf16 |", report)
        self.assertIn("Every measurement succeeded", report)


if __name__ == "__main__":
    unittest.main()
