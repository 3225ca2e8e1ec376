# SPDX-License-Identifier: Apache-2.0
"""Stored runs on the terminal: kymo runs, kymo show and kymo log, and what observed passes print."""

import contextlib
import fcntl
import json
import os
import re
import signal
import sqlite3
import struct
import subprocess
import termios
import unittest

from kymo_tool import KYMO, PLUGINS, KymoTest, SharedRunTest, needs_torch_parts
from small_model import CASE, METHOD

PROBE = PLUGINS / "probe.so"
SHORT = ["--set", "sleep=10", "--warmup", "1", "--steps", "3"]


class ShowTest(KymoTest):
    def test_runs_are_listed_newest_first(self):
        self.kymo("run", PROBE, *SHORT[2:], "--axis", "sleep=10,20", "--label", "a")
        self.kymo("run", PROBE, *SHORT, "--set", "fail_at=2", "--label", "b", code=3)
        done = self.kymo("runs").stdout.splitlines()
        self.assertRegex(done[0], r"^run +started \(UTC\) +label +workload +parameters +median step +status$")
        self.assertEqual([line.split()[0] for line in done[2:]], ["3", "2", "1"])
        self.assertRegex(done[2], r" b +probe +fail_at=2 .* failed$")
        self.assertRegex(done[3], r" a +probe +.*sleep=20 +\d.* ± .* ok$")
        for words, ids in (
            (["--label", "a"], [2, 1]),
            (["--status", "failed"], [3]),
            (["--workload", "probe", "--limit", "1"], [3]),
            (["--workload", "none"], []),
        ):
            self.assertEqual([run["run_id"] for run in self.kymo_json("runs", *words)], ids)
        self.assertEqual(self.kymo("runs", "--label", "none").stdout, "no matching runs\n")
        self.assertIn("no such database", self.kymo("runs", "--db", "none.db", code=2).stderr)

    def test_a_run_is_shown(self):
        self.kymo("run", PROBE, *SHORT, "--set", "answer=unavailable")
        self.kymo("run", PROBE, *SHORT, "--set", "fail_at=2", code=3)
        shown = self.kymo("show", "1").stdout
        self.assertTrue(shown.startswith("run 1: probe, ok\nparameters: "), shown)
        self.assertRegex(shown, r"\nphase +clock +samples +median +mean +std +min +max +FLOP/s +B/s\n")
        self.assertRegex(shown, r"\nstep +host +3 +\d.* ± ")
        self.assertRegex(shown, r"\nmetrics: .*factor 1\.5")
        self.assertRegex(shown, r"\nwarning: run 1: not verified: ")
        newest = self.kymo("show").stdout
        self.assertTrue(newest.startswith("run 2: probe, failed\n"), newest)
        self.assertRegex(newest, r"\nfailed: [^\n]+\nfailed in pass time, stage \w+, rank 0, step 2")
        self.assertEqual(self.kymo_json("show")["failure"]["step"], 2)
        self.assertIsNone(self.kymo_json("show", "1")["failure"])
        self.assertIn("contains no run 9; 'kymo runs'", self.kymo("show", "9", code=2).stderr)

    def test_output_of_workers(self):
        self.kymo("run", PLUGINS / "burns.so", "--set", "work=1", "--repeat", "2", "--fresh", "--wrap", "env")
        self.assertEqual(
            self.kymo("log", "1", "--pass", "time").stdout,
            "--- pass time, rank 0, stdout\nburning 1000 multiplications\n",
        )
        self.assertEqual(self.kymo("log", "--pass", "ops").stdout, "run 2 has no output\n")
        self.assertEqual(self.kymo("log", "1", "--rank", "1").stdout, "run 1 has no output\n")
        (worker,) = self.kymo_json("log", "--pass", "time")["output"]
        self.assertEqual(worker["stdout"], "burning 1000 multiplications\n")
        self.assertIn("burning 1000", self.kymo("show").stdout)

    def test_output_cannot_control_the_terminal(self):
        self.kymo("run", PLUGINS / "burns.so", "--set", "work=1", "--label", "\x1b[2J")
        for words in (["runs"], ["show"], ["log"]):
            self.assertNotIn("\x1b", self.kymo(*words).stdout)


@needs_torch_parts
class ObservedTest(SharedRunTest):
    words = [*CASE, *METHOD, "--passes", "time,memory,ops"]

    def test_show_lists_operators_and_memory(self):
        shown = self.kymo("show").stdout
        # Which operators take longest varies; a long name leaves no space for some columns.
        wide = self.kymo("show", "--wide").stdout
        self.assertRegex(wide, r"\noperator +module +phase +calls/step +self time +share\n[- ]+\n(aten::|\w+)")
        self.assertRegex(shown, r"\nmemory peak \(cpu\): [^\n]+ in \w+: \w+ \d+ %, ")
        self.assertRegex(wide, r"\nphase +peak +[^\n]*parameters")
        self.assertRegex(shown, r"\noverhead of observation: memory: [^\n]+; ops: ")
        self.assertIn("\nnext: kymo export memory-viz --run 1\nnext: kymo export perfetto --run 1\n", shown)
        for title in ("operator ", "phase  "):
            self.assertGreater(shown.split(f"\n{title}")[-1].split("\n\n")[0].count("\n"), 3)
        details = self.kymo_json("show")
        self.assertEqual(len(details["operators"]), 10)
        shares = [row["share"] for row in details["operators"]]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertLessEqual(sum(shares), 1)
        self.assertEqual(details["kernels"], [])
        self.assertEqual({row["pass"] for row in details["overhead"]}, {"memory", "ops"})

    def test_a_run_prints_the_same(self):
        done = self.kymo("run", *self.words, "--db", "other.db").stdout
        self.assertRegex(done, r"(?s)\nrun 1:\n(what limits a step:\n.*\n\n)?operator +")
        self.assertIn("\nnext: kymo export perfetto --run 1 --db other.db\n", done)

    def test_a_roofline_needs_shapes(self):
        self.assertIn("--trace-detail shapes", self.kymo("show", "--roofline").stdout)


@needs_torch_parts
class RooflineTest(KymoTest):
    def test_operators_are_compared_with_the_peaks(self):
        self.kymo("run", *CASE, *METHOD, "--passes", "time,ops", "--trace-detail", "shapes")
        before = self.kymo("show", "--roofline").stdout
        self.assertRegex(before, r"operator .*time/step .*verdict\n")
        self.assertIn("\nnext: kymo peaks\n", before)
        self.assertNotIn("MFU", before)
        self.kymo("peaks", "--steps", "2", "--warmup", "0", "--no-verify")
        shown = self.kymo("show", "1", "--roofline").stdout
        self.assertRegex(shown, r"\nstep: MFU [\d.]+ % \([\d.]+ % without masked scores\), HFU [\d.]+ % of the ")
        self.assertNotIn("next: kymo peaks", shown)
        roofline = self.kymo_json("show", "1", "--roofline")["roofline"]
        self.assertEqual(len(roofline["operators"]), 10)
        self.assertEqual(roofline["unknown"], [])
        step = roofline["utilization"][0]
        declared = self.rows("SELECT sum(flops) FROM work WHERE run_id = 1 AND phase <> 'optimizer'")[0][0]
        self.assertEqual((step["phase"], step["model_flops"]), ("step", declared))
        self.assertAlmostEqual(step["mfu"], declared / (step["time_ms"] / 1e3) / step["measured_peak_flop_rate"])
        attained = {row["attained"] for row in roofline["operators"]}
        self.assertTrue(all(share is None or share > 0 for share in attained))

    def test_kernels_have_verdicts(self):
        self.kymo("run", PROBE, *SHORT)
        connection = sqlite3.connect(self.work / "kymo.db")
        with contextlib.closing(connection), connection:
            # As if the run had been observed on a GPU: 10 % more blocks than fit at a time, and 8 blocks.
            connection.executescript("""
                INSERT INTO device VALUES (9, 'gpu', 'cuda', 'H100', 1, 132, NULL, NULL, 2048, 32, 65536, 233472, 1024);
                INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr)
                VALUES (1, 0, 'trace', 1, '', 'ok', 9, '', '');
                INSERT INTO string (string_id, text) VALUES (900, 'void most<float>()'), (901, 'few');
                INSERT INTO kernel_class VALUES (900, 'most', 'other'), (901, 'few', 'other');
                INSERT INTO launch_config VALUES (1, 0, 'trace', 0, 290, 1, 1, 1024, 1, 1, 0, 0, 32),
                (1, 0, 'trace', 1, 8, 1, 1, 128, 1, 1, 0, 0, 32);
                INSERT INTO kernel_total VALUES
                (1, 0, 'trace', 0, 'kernel', NULL, NULL, 901, 'none', 1, 1, 0, 100000, 1, 1, 1, NULL),
                (1, 0, 'trace', 1, 'kernel', NULL, NULL, 900, 'none', 1, 2, 0, 800000, 1, 1, 0, NULL);
            """)
        shown = self.kymo("show", "--roofline").stdout
        self.assertRegex(shown, r"\n# +kernel .*verdict\n[- ]+\n1 +most .* 800 µs .*tail effect\n2 +few .*latency-")
        self.assertRegex(shown, r"\n1\. most: 400 µs per call, 290 blocks .*45\.1 % of the time is lost\n2\. few: ")
        self.assertIn("\nthresholds: ", shown)
        self.assertIn("no roofline: ", shown)
        first, second = self.kymo_json("show", "--roofline")["roofline"]["kernels"]
        self.assertEqual((first["verdict"], first["resident_blocks"]), ("tail effect", 2))
        self.assertAlmostEqual(first["tail_loss"], 1 - 290 / 264 / 2)
        self.assertEqual((second["name"], second["waves"]), ("few", 8 / (132 * 16)))


class AbTest(KymoTest):
    BURNS = f"{PLUGINS / 'burns.so'}:burns"

    def ab(self, *words, code=0):
        return json.loads(self.kymo("ab", *words, "--steps", "5", "--json", code=code).stdout)

    def test_a_large_difference_is_found(self):
        words = [f"{self.BURNS}:work=20", f"{self.BURNS}:work=200"]
        found = self.ab(*words, "--fail-on-slower", code=3)
        (pair,) = found["pairs"]
        self.assertEqual((pair["verdict"], pair["first"], pair["second"]), ("SLOWER", *words))
        self.assertTrue(2 < pair["ratio_low"] <= pair["ratio"] <= pair["ratio_high"], pair)
        self.assertRegex(
            pair["sentence"],
            r"burns:work=200 takes [\d.]+ times as long as \S+ by the (median|mean|fastest) step "
            r"\(95 % interval [\d.]+ to [\d.]+ times\)",
        )
        self.assertEqual([each["rank"] for each in found["candidates"]], [1, 2])
        labels = [label for (label,) in self.rows("SELECT label FROM run ORDER BY run_id LIMIT 4")]
        self.assertEqual(labels, [words[0], words[1], words[1], words[0]])
        self.assertEqual(self.rows("SELECT count(DISTINCT pid), count(*) FROM rank WHERE pass = 'time'")[0][0], 10)

    def test_text_and_order(self):
        # A table that fits: the names of the candidates are paths of any length.
        self.environment["COLUMNS"] = str(3 * len(self.BURNS) + 100)
        words = [self.BURNS, f"{self.BURNS}:work=30", f"{self.BURNS}:work=900"]
        done = self.kymo("ab", *words, "--set", "work=2", "--steps", "5")
        statistic = "(median|mean|fastest) step"
        header = rf"\Arank +candidate +runs +{statistic} +between runs( +{statistic})?\n"
        self.assertRegex(done.stdout, header)
        self.assertRegex(done.stdout, r"\n +1 +\S+burns +\d+ +\d[^\n]+\n +2 +\S+work=30 [^\n]+\n +3 +\S+work=900 ")
        self.assertEqual(done.stdout.count(" times as long as "), 3 + done.stdout.count("say something else"))
        self.assertRegex(done.stdout, r"\(95 % interval [\d.]+ to [\d.]+ times\), \d+ runs each, \d+ s\n")

    def test_time_is_bounded(self):
        # Two candidates that hardly differ, and no time for a second look.
        words = [f"{self.BURNS}:work=20", f"{self.BURNS}:work=20,spare=1", "--max-time", "1"]
        found = self.ab(*words, "--margin", "0.001%")
        self.assertLess(found["candidates"][0]["runs"], 80)

    def test_interrupted_before_a_verdict(self):
        words = [f"{self.BURNS}:work=20", f"{self.BURNS}:work=20,spare=1", "--margin", "0.0001%", "--max-time", "3000"]
        terminal, ours = os.openpty()
        self.addCleanup(os.close, terminal)
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("4H", 24, 200, 0, 0))
        command = [str(KYMO), "ab", *words, "--steps", "5"]
        with subprocess.Popen(
            command, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=ours
        ) as running:
            os.close(ours)
            shown = bytearray()
            # The fourth run has begun: one round is complete. Runs that are shorter than an update are not shown.
            while not re.search(rb"\] run ([4-9]|\d\d+) ", shown):
                shown += os.read(terminal, 4096)
            running.send_signal(signal.SIGINT)
            stdout = running.communicate(timeout=300)[0].decode()
        self.assertEqual(running.returncode, 128 + signal.SIGINT)
        self.assertRegex(shown.decode(errors="replace"), r"\] run \d+ .*at most \d+ min \d+ s left")
        self.assertNotIn(b"/160", shown)
        (rounds,) = re.findall(r"\ninterrupted after (\d+) runs? each\n", stdout)
        complete = self.rows("SELECT count(*) FROM run WHERE status = 'ok'")[0][0] // 2
        self.assertIn(int(rounds), (complete, complete - 1))
        self.assertNotIn("maximum", stdout)

    def test_errors(self):
        for words, reason in (
            ([self.BURNS, self.BURNS], "is identical to another one"),
            ([self.BURNS], "candidates"),
            ([self.BURNS, f"{self.BURNS}:work=2", "--set", "size=2"], "no candidate has a parameter 'size'"),
            ([self.BURNS, ":work=2"], "a candidate takes WORKLOAD"),
        ):
            self.assertIn(reason, self.kymo("ab", *words, code=2).stderr)
        failing = [f"{PROBE}:probe:fail_at=1", f"{PROBE}:probe"]
        self.assertIn("run 1 failed in first: ", self.kymo("ab", *failing, code=3).stderr)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(1,)])


if __name__ == "__main__":
    unittest.main()
