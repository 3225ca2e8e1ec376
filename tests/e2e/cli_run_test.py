# SPDX-License-Identifier: Apache-2.0
"""From a command line to rows, tables and JSON, using the template workload."""

import contextlib
import csv
import io
import os
import pty
import shutil
import signal
import sqlite3
import subprocess
import unittest

from fault_tool import wait_until
from kymo_tool import HANG_S, KYMO, PLUGINS, SAXPY, KymoTest, needs_torch_parts

SMALL = ["--set", "n=1000", "--warmup", "1", "--steps", "3"]


class RunTest(KymoTest):
    def test_one_case(self):
        done = self.kymo("run", "saxpy", *SMALL)
        self.assertRegex(
            done.stdout, r"\Arun +workload +median step +mean ± std +FLOP/s +B/s +footprint\n[- ]+\n +1 +saxpy +\d"
        )
        self.assertIn("\nrun ok, verification passed\n", done.stdout)
        self.assertIn("results: kymo.db, invocation 1\n", done.stdout)
        self.assertRegex(done.stderr, r"\Arun 1: saxpy .*n=1000.*: ok, median step [^\n]+\n\Z")
        self.assertEqual(
            self.sql("SELECT status, verification, steps, warmup FROM run"),
            [{"status": "ok", "verification": "passed", "steps": 3, "warmup": 1}],
        )
        self.assertEqual(
            self.sql("SELECT count(*) AS n FROM sample WHERE pass = 'time' AND phase = 'compute' AND NOT warmup"),
            [{"n": 3}],
        )
        facts = {row["name"]: row["value"] for row in self.sql("SELECT name, value FROM environment")}
        self.assertTrue({"host", "cpu", "cores", "memory_bytes", "kernel", "os", "kymo"} <= facts.keys(), facts)
        self.assertEqual([file.name for file in self.work.iterdir()], ["kymo.db"])

    def test_json_says_the_same(self):
        done = self.kymo_json("run", "saxpy", *SMALL, "--axis", "precision=fp32,fp64", "--label", "here")
        self.assertEqual(done["exit_code"], 0)
        self.assertEqual([run["parameters"]["precision"] for run in done["runs"]], ["fp32", "fp64"])
        for run in done["runs"]:
            self.assertEqual(
                (run["status"], run["verification"], run["label"], run["device"]), ("ok", "passed", "here", "cpu")
            )
            self.assertEqual(list(run["phases"])[:2], ["step", "compute"])
            self.assertEqual(run["phases"]["step"]["count"], 3)
            self.assertGreaterEqual(run["phases"]["step"]["mean_ns"], run["phases"]["compute"]["min_ns"])
            self.assertIn("ranks agree", [check["name"] for check in run["checks"]])
            step = run["phases"]["step"]
            self.assertEqual((step["flops"], step["bytes"] % 3000), (2000, 0))
            self.assertAlmostEqual(step["flops_per_s"] * step["median_ns"] / 1e9, 2000)
            self.assertEqual(run["metrics"]["footprint"]["unit"], "bytes")
            self.assertIsInstance(run["warnings"], list)

    def test_warnings_are_printed(self):
        done = self.kymo("run", PLUGINS / "probe.so", "--set", "answer=unavailable", "--steps", "2")
        self.assertRegex(done.stdout, r"\nwarning: run 1: not verified: [^\n]+\n")
        self.assertLess(done.stdout.index("median step"), done.stdout.index("warning"))

    def test_table_fits_the_terminal_or_shows_everything(self):
        # With many steps, the median is reproducible on a busy machine, too: otherwise, its cell is longer.
        words = ["run", "saxpy", "--warmup", "1", "--steps", "200", "--axis", "n=10,1000000", "--no-verify"]
        self.environment["COLUMNS"] = "60"
        narrow = self.kymo(*words).stdout
        self.assertLessEqual(max(map(len, narrow.split("not shown")[0].splitlines())), 60)
        self.assertIn("not shown in 60 columns: mean ± std, footprint (--wide)\n", narrow)
        wide = self.kymo(*words, "--wide").stdout
        for column in ("mean ± std", "footprint", "precision", "device", "timing", "compute", "other", "verification"):
            self.assertIn(column, wide.splitlines()[0])
        in_markdown = self.kymo(*words, "--markdown").stdout
        self.assertRegex(in_markdown, r"\A\| run \| workload \| n \| [^\n]+\n\| ---: \| :--- \|")

    def test_repetitions_are_summarized(self):
        done = self.kymo("run", "saxpy", *SMALL[2:], "--axis", "n=10,20", "--repeat", "3", "--no-verify")
        self.assertRegex(done.stdout, r"\n1, 3, 5 +saxpy +10 +3 +\d[^\n]+ to [^\n]+\n2, 4, 6 +saxpy +20 .*\n6 runs ok")

    def test_builds_of_a_plugin_are_told_apart(self):
        for name in ("old.so", "new.so"):
            (self.work / name).write_bytes(SAXPY.read_bytes() + name.encode())
        done = self.kymo("run", "./old.so", "./new.so", *SMALL, "--trust")
        self.assertRegex(done.stdout, r"\n +1 +saxpy +old\.so +\d[^\n]+\n +2 +saxpy +new\.so +\d")

    def test_table_shows_what_differs(self):
        done = self.kymo("run", "saxpy", *SMALL, "--axis", "a=1,2", "--no-verify")
        self.assertRegex(done.stdout, r"\Arun +workload +a .*\n[- ]+\n +1 +saxpy +1(\.0)? ")
        self.assertNotIn("precision", done.stdout)
        self.assertNotIn("passed", done.stdout)

    def test_without_a_number_of_steps_a_run_is_measured_for_a_minimum_time(self):
        words = ["run", "saxpy", "--set", "n=100000", "--no-verify"]
        steps = "SELECT count(*) AS n, sum(host_ms) AS ms FROM step_time s WHERE phase = 'step' AND run_id = {} "
        steps += "AND NOT warmup"
        self.kymo(*words, "--min-time", "0.05")
        (row,) = self.sql(steps.format(1))
        self.assertGreaterEqual(row["n"], 10)
        self.assertTrue(row["ms"] >= 50 or row["n"] == 10000, row)
        self.kymo(*words, "--min-time", "1000", "--max-steps", "12")
        self.assertEqual(self.sql(steps.format(2))[0]["n"], 12)
        self.kymo(*words, "--min-time", "0")
        self.assertEqual(self.sql(steps.format(3))[0]["n"], 10)
        self.assertEqual(self.sql("SELECT DISTINCT steps FROM run"), [{"steps": 0}])
        self.assertEqual(self.sql("SELECT count(DISTINCT plan_key) AS n FROM run"), [{"n": 3}])
        self.assertIn("0.5 s", self.kymo(*words, "--plan").stdout)

    def test_a_precision_that_is_not_reached_is_reported(self):
        words = ["run", "saxpy", "--set", "n=1000", "--no-verify", "--max-steps", "20"]
        done = self.kymo(*words, "--until", "0.0001%")
        self.assertIn("\nwarning: run 1: imprecise: the relative standard error of the mean is ", done.stdout)
        self.assertNotIn("imprecise", self.kymo(*words, "--until", "99.9%").stdout)
        (row,) = self.sql("SELECT detail FROM run_warning WHERE kind = 'imprecise'")
        self.assertRegex(row["detail"], r"is [0-9.]+ % after 20 steps, not 0.0001 % \(--until\)")

    def test_the_time_pass_records_how_steps_were_scheduled(self):
        self.kymo("run", "saxpy", *SMALL, "--no-verify")
        self.assertEqual(self.sql("SELECT steps FROM processor_wait"), [{"steps": 3}])
        self.assertEqual(
            self.sql("SELECT count(cpu_ns) AS n FROM sample GROUP BY phase = 'step' ORDER BY 1"), [{"n": 0}, {"n": 4}]
        )

    def test_repetitions_are_interleaved(self):
        done = self.kymo_json("run", "saxpy", *SMALL, "--axis", "a=1,2", "--repeat", "2", "--no-verify")
        self.assertEqual(
            [(run["parameters"]["a"], run["repetition"]) for run in done["runs"]], [(1, 0), (2, 0), (1, 1), (2, 1)]
        )

    def test_two_ranks(self):
        done = self.kymo_json("run", "saxpy", *SMALL, "--ranks", "2")
        self.assertEqual(done["runs"][0]["status"], "ok")
        self.assertEqual(self.sql("SELECT count(DISTINCT rank) AS n FROM sample WHERE pass = 'time'"), [{"n": 2}])

    def test_smoke(self):
        self.kymo("run", "saxpy", "--set", "n=10", "--smoke")
        self.assertEqual(self.sql("SELECT warmup, steps FROM run"), [{"warmup": 0, "steps": 1}])

    def test_hot_and_cold(self):
        keys = set()
        for timing in ("sync", "hot", "cold"):
            run = self.kymo_json("run", "saxpy", *SMALL, "--timing", timing, "--no-verify")["runs"][0]
            self.assertEqual((run["status"], run["phases"]["compute"]["count"]), ("ok", 3))
            self.assertGreater(run["phases"]["step"]["median_ns"], 0)
            keys.add(run["plan_key"])
        self.assertEqual(len(keys), 3)
        self.assertEqual(
            [row["timing"] for row in self.sql("SELECT timing FROM run ORDER BY run_id")], ["sync", "hot", "cold"]
        )
        batches = self.sql(
            "SELECT timing, pass, level, value FROM metric JOIN run USING (run_id) WHERE name = 'steps_per_sample'"
        )
        self.assertEqual([(row["timing"], row["pass"], row["level"]) for row in batches], [("hot", "time", "run")])
        self.assertTrue(1 < batches[0]["value"] <= 1000, batches)
        self.assertEqual(self.sql("SELECT DISTINCT calls FROM sample WHERE phase = 'compute'"), [{"calls": 1}])

    def test_hot_and_cold_are_rejected_in_one_line(self):
        for words, reason in ((["--ranks", "2"], "one rank"), (["--sync", "phase"], "--sync step")):
            for timing in ("hot", "cold"):
                done = self.kymo("run", "saxpy", *SMALL, "--timing", timing, *words, code=2)
                self.assertRegex(done.stderr, r"\Akymo: [^\n]+\n\Z")
                self.assertIn(reason, done.stderr)
        self.assertEqual(list(self.work.iterdir()), [])

    def test_hot_in_a_suite(self):
        case = '[[case]]\nname = "one"\nworkload = "saxpy"\nset = { n = 10 }\nsteps = 2\ntiming = "%s"\n'
        (self.work / "mine.toml").write_text(case % "hot")
        self.assertEqual(self.kymo_json("suite", "run", "./mine.toml")["runs"][0]["status"], "ok")
        self.assertEqual(self.sql("SELECT timing FROM run"), [{"timing": "hot"}])
        (self.work / "mine.toml").write_text(case % "warm")
        self.assertIn("'warm'", self.kymo("suite", "run", "./mine.toml", code=2).stderr)

    def test_against_interleaves_runs_and_shows_both(self):
        words = ["run", "saxpy", *SMALL, "--no-verify", "--repeat", "2", "--against", "saxpy:precision=fp64"]
        done = self.kymo_json(*words)
        self.assertEqual([run["parameters"]["precision"] for run in done["runs"]], ["fp32", "fp64", "fp32", "fp64"])
        self.assertEqual({run["parameters"]["n"] for run in done["runs"]}, {1000})
        first, second = done["against"]
        self.assertEqual((first["parameters"]["precision"], second["parameters"]["precision"]), ("fp32", "fp64"))
        self.assertEqual((first["runs"], second["runs"], first["ratio"]), (2, 2, 1))
        self.assertAlmostEqual(second["ratio"], second["time_ns"] / first["time_ns"])
        self.assertAlmostEqual(first["bytes_per_s"] * first["time_ns"] / 1e9, 3 * 4 * 1000, places=3)
        self.assertEqual((first["verdict"], second["verdict"]), (None, "AMBIGUOUS"))
        self.assertLessEqual(second["ratio_low"], second["ratio_high"])
        self.assertRegex(
            self.kymo(*words).stdout,
            r"\nworkload +parameters +runs +clock +(median|mean) step +FLOP/s +B/s +change +95 % interval +verdict\n"
            r"[^$]*\nno verdict: saxpy:precision=fp64 measured [^\n]+; a verdict needs 5 runs of each: ",
        )
        self.assertIn("identical to the case", self.kymo("run", "saxpy", "--against", "saxpy", code=2).stderr)
        self.assertIn("did you mean 'saxpy'", self.kymo("run", "saxpy", "--against", "saxpi", code=2).stderr)

    def test_plan_writes_nothing(self):
        plan = self.kymo_json("run", "saxpy", "--axis", "n=1..4*2", "--plan")
        self.assertEqual([run["case"]["parameters"]["n"] for run in plan], [1, 2, 4])
        self.assertEqual(self.kymo("run", "saxpy", "--plan", "--axis", "n=1..4*2").stdout.count("saxpy"), 3)
        self.assertEqual(list(self.work.iterdir()), [])

    def test_resume_and_shards(self):
        words = ["run", "saxpy", *SMALL, "--no-verify", "--axis", "a=1..5+1"]
        self.assertEqual(len(self.kymo_json(*words, "--shard", "1/2", "--resume")["runs"]), 3)
        left = self.kymo_json(*words, "--resume", "--plan")
        self.assertEqual([run["case"]["parameters"]["a"] for run in left], [2, 4])
        self.assertEqual(len(self.kymo_json(*words, "--resume")["runs"]), 2)
        again = self.kymo(*words, "--resume")
        self.assertIn("nothing to do", again.stderr)
        self.assertEqual(len(self.kymo_json(*words, "--resume", "--repeat", "2")["runs"]), 5)
        self.assertEqual(self.sql("SELECT count(*) AS n FROM run WHERE status = 'ok'"), [{"n": 10}])

    def test_path_of_a_plugin(self):
        shutil.copy(SAXPY, self.work / "copy.so")
        self.assertEqual(self.kymo_json("run", "./copy.so", *SMALL)["runs"][0]["status"], "ok")
        self.assertEqual(self.kymo_json("run", "copy.so:saxpy", *SMALL)["runs"][0]["status"], "ok")
        self.assertIn("did you mean 'saxpy'", self.kymo("run", "./copy.so:saxpi", code=2).stderr)
        file = self.sql("SELECT DISTINCT file FROM plugin")[0]["file"]
        self.assertEqual(os.path.basename(file), "copy.so")

    def test_verify(self):
        done = self.kymo("verify", "saxpy", "--set", "n=1000")
        self.assertIn("ranks agree", done.stdout)
        self.assertEqual(self.sql("SELECT passes FROM run"), [{"passes": "verify"}])

    def test_merge(self):
        self.kymo("run", "saxpy", *SMALL, "--no-verify", "--db", "a.db")
        self.kymo("run", "saxpy", *SMALL, "--no-verify", "--db", "b.db")
        self.assertIn("1 runs of 1 invocations added", self.kymo("merge", "all.db", "a.db", "b.db").stdout)
        self.kymo("merge", "all.db", "a.db")
        self.assertEqual(self.sql("SELECT count(*) AS n FROM run", "all.db"), [{"n": 2}])
        self.kymo("merge", "all.db", "all.db", code=2)

    def test_sql_formats(self):
        self.kymo("run", "saxpy", *SMALL, "--no-verify", "--label", '=1+1,"x"')
        self.assertIn("saxpy", self.kymo("sql", "SELECT workload FROM run").stdout)
        rows = list(csv.reader(io.StringIO(self.kymo("sql", "SELECT label, steps FROM run", "--csv").stdout)))
        self.assertEqual(rows, [["label", "steps"], ['\'=1+1,"x"', "3"]])
        for statement in (
            "DELETE FROM run",
            "SELECT 1; SELECT 2",
            "SELEC 1",
            "ATTACH 'x.db' AS x",
            "PRAGMA user_version = 7",
        ):
            self.assertRegex(self.kymo("sql", statement, code=2).stderr, r"\Akymo: [^\n]+\n\Z")
        self.assertEqual(self.sql("SELECT count(*) AS n FROM run"), [{"n": 1}])

    @needs_torch_parts
    @unittest.skipIf(os.path.exists("/dev/nvidiactl"), "this machine has a GPU")
    def test_suite_skips_what_has_no_device(self):
        self.kymo("suite", "run", "cs336", "--filter", "timing-warmup")
        rows = self.sql("SELECT status, detail, count(*) AS n FROM run GROUP BY status, detail")
        self.assertEqual([row["status"] for row in rows], ["skipped"])
        self.assertIn("no GPU available", rows[0]["detail"])
        self.assertIn("no GPU available", self.kymo("run", "transformer_lm", "--device", "cuda", code=2).stderr)

    def test_suite_file(self):
        (self.work / "mine.toml").write_text(
            '[[case]]\nname = "one"\nworkload = "saxpy"\nset = { n = 10 }\nsteps = 2\nranks = [1, 2]\n'
        )
        done = self.kymo_json("suite", "run", "./mine.toml")
        self.assertEqual(
            [(run["suite"], run["suite_case"], run["ranks"], run["status"]) for run in done["runs"]],
            [("mine", "one", 1, "ok"), ("mine", "one", 2, "ok")],
        )

    def test_suite_with_a_workload_pattern(self):
        (self.work / "mine.toml").write_text(
            '[[case]]\nname = "one-*"\nworkload = "sax*"\nset = { n = 10 }\nsteps = 2\npasses = ["time"]\n'
        )
        done = self.kymo_json("suite", "run", "./mine.toml")
        self.assertEqual(
            [(run["workload"], run["suite_case"], run["status"]) for run in done["runs"]], [("saxpy", "one-py", "ok")]
        )
        (self.work / "mine.toml").write_text('[[case]]\nname = "one-*"\nworkload = "absent_*"\n')
        self.assertIn("no workload matches 'absent_*'", self.kymo("suite", "run", "./mine.toml", code=2).stderr)

    def test_suites_are_listed(self):
        names = [suite["name"] for suite in self.kymo_json("suite", "list")]
        self.assertTrue({"quick", "cs336"} <= set(names), names)

    def test_list_and_describe(self):
        listed = self.kymo_json("list")
        self.assertIn("saxpy", [workload["name"] for plugin in listed["plugins"] for workload in plugin["workloads"]])
        self.assertRegex(self.kymo("list").stdout, r"\nsaxpy +saxpy ")
        described = self.kymo("describe", "saxpy").stdout
        for word in ("precision", "fp32, fp64", "compute", "elements"):
            self.assertIn(word, described)

    def test_doctor(self):
        findings = {finding["subject"]: finding for finding in self.kymo_json("doctor")}
        self.assertEqual(findings["plugin saxpy"]["state"], "ok")
        self.assertEqual(findings["database folder"]["state"], "ok")
        for finding in findings.values():
            self.assertEqual(finding["remedy"] == "", finding["state"] == "ok", finding)

    def test_new_build_run(self):
        self.kymo("new", "my_kernel")
        self.assertIn("already exists", self.kymo("new", "my_kernel", code=2).stderr)
        self.kymo("build", "my_kernel/my_kernel.cpp")
        self.assertEqual(self.kymo_json("run", "./my_kernel.so", *SMALL)["runs"][0]["status"], "ok")
        (self.work / "broken.cpp").write_text("int main( {")
        self.assertIn("broken.cpp", self.kymo("build", "broken.cpp", code=1).stderr)
        self.assertFalse((self.work / "broken.so").exists())

    def is_running(self):
        with contextlib.suppress(sqlite3.OperationalError):  # there are no tables yet
            return (self.work / "kymo.db").exists() and self.rows("SELECT status FROM run") == [("running",)]
        return False

    def test_interrupt_keeps_what_was_measured(self):
        process = subprocess.Popen(
            [str(KYMO), "run", "saxpy", "--set", "n=1000000", "--steps", "1000000000", "--no-verify"],
            cwd=self.work,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(self.is_running))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANG_S)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.sql("SELECT status FROM run"), [{"status": "interrupted"}])
        self.assertEqual(self.sql("SELECT exit_code FROM invocation"), [{"exit_code": 130}])

    def test_terminal_gets_a_bar_and_no_colour_by_wish(self):
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [str(KYMO), "run", "saxpy", *SMALL, "--no-verify"],
            cwd=self.work,
            env=self.environment,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        shown = b""
        try:
            while block := os.read(leader, 4096):
                shown += block
        except OSError:  # the other end is closed
            pass
        os.close(leader)
        self.assertEqual(process.wait(timeout=HANG_S), 0)
        self.assertIn(b"] 1/1 saxpy", shown)
        self.assertNotIn(b"\033[3", shown)


if __name__ == "__main__":
    unittest.main()
