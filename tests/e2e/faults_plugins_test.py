# SPDX-License-Identifier: Apache-2.0
"""Every misbehaving plugin ends with the right status and a clear message, and does not affect other runs."""

import unittest

from fault_tool import BAD, FaultTest
from kymo_tool import SAXPY

QUICK = ["--warmup", "1", "--steps", "3"]
REFUSED = [
    "default_out_of_bounds",
    "framework_differs_in_table",
    "hostile_name",
    "minor_differs_in_table",
    "newer_minor",
    "no_function",
    "no_note",
    "no_symbol",
    "not_utf8",
    "null_table",
    "older_major",
    "reserved_phase",
    "short_note",
    "short_struct",
    "unknown_framework",
    "wrong_framework",
    "wrong_magic",
    "wrong_major",
    "describe_crashes",
    "describe_exits",
    "describe_hangs",
    "describe_throws",
]
STAGES = ["create", "prepare", "before_step", "step"]


class PluginFaultTest(FaultTest):
    def one(self, plugin, *words, status, detail="", failed_pass=None, code=3):
        """Runs a bad plugin, then a good one: the first ends as expected, the second succeeds."""
        done = self.kymo("run", BAD / f"{plugin}.so", *QUICK, *words, code=code)
        run_id, *found = self.rows(
            "SELECT run_id, status, detail, failed_pass, exit_code, signal FROM run ORDER BY run_id DESC LIMIT 1"
        )[0]
        self.assertEqual(found[0], status, found)
        self.assertRegex(found[1], detail or "^")
        self.assertEqual(found[1] == "", status == "ok", "a run that is not ok says why")
        self.assertNotIn("\n", found[1])
        if failed_pass:
            self.assertEqual(found[2], failed_pass)
        if code == 3:
            self.assertIn(status, done.stdout)
        self.kymo("run", BAD / "raw_valid.so", *QUICK)
        self.assertEqual(self.rows("SELECT status FROM run ORDER BY run_id DESC LIMIT 1"), [("ok",)])
        return run_id, found[3], found[4]

    def test_rejected_before_a_run(self):
        for plugin in REFUSED:
            with self.subTest(plugin):
                done = self.kymo("run", BAD / f"{plugin}.so", *QUICK, code=1 if plugin == "describe_hangs" else 2)
                self.assertRegex(done.stderr, rf"\Akymo: [^\n]*{plugin}\.so[^\n]*\n\Z")
                if self.database.exists():
                    self.assertEqual(self.rows("SELECT count(*) FROM run"), [(0,)])

    def test_throws_where_it_may(self):
        for stage in STAGES:
            with self.subTest(stage):
                self.one("throws", "--set", f"where={stage}", status="failed", detail="thrown on purpose")
        with self.subTest("verify"):
            self.one(
                "throws", "--set", "where=verify", status="failed", detail="thrown on purpose", failed_pass="verify"
            )
        with self.subTest("no exception"):
            self.one("throws", "--set", "what=number", status="failed", detail=".")

    def test_out_of_memory_is_told_apart(self):
        for what in ("bad_alloc", "torch_oom"):
            with self.subTest(what):
                self.one("throws", "--set", f"what={what}", status="oom", code=0)
        self.kymo("run", BAD / "throws.so", "--set", "what=bad_alloc", "--fail-on-oom", *QUICK, code=3)

    def test_crashes_by_signal(self):
        for name, number in (("segv", 11), ("abort", 6), ("kill", 9)):
            with self.subTest(name):
                _, exit_code, signal = self.one(
                    "crashes",
                    "--set",
                    f"signal={name}",
                    status="crashed",
                    detail=f"signal {number} ",
                    failed_pass="time",
                )
                self.assertEqual((exit_code, signal), (None, number))

    def test_a_broken_pipe_ends_nothing(self):
        self.one("crashes", "--set", "signal=pipe", status="ok", code=0)

    def test_crashes_where_it_may(self):
        for stage in ("create", "prepare", "before_step"):
            with self.subTest(stage):
                self.one("crashes", "--set", f"where={stage}", status="crashed", detail="signal 11")
        with self.subTest("verify"):
            self.one("crashes", "--set", "where=verify", status="crashed", detail="pass verify", failed_pass="verify")
        with self.subTest("destroy"):
            self.one("crashes", "--set", "where=destroy", status="crashed", detail="signal 11")

    def test_records_are_dropped_only_if_a_step_had_begun(self):
        lost = "dropped records: store (time): unknown number, the worker ended before it wrote its rank file"
        for stage, dropped in (("create", []), ("prepare", []), ("step", [f"warning: run 3: {lost}"])):
            with self.subTest(stage):
                words = ("--set", f"where={stage}", *QUICK, "--passes", "time")
                done = self.kymo("run", BAD / "crashes.so", *words, code=3)
                self.assertEqual([line for line in done.stdout.splitlines() if "dropped" in line], dropped)

    def test_exits(self):
        for code in (0, 7):
            with self.subTest(code):
                _, exit_code, signal = self.one(
                    "exits",
                    "--set",
                    f"code={code}",
                    status="crashed",
                    detail=f"exited with code {code} before reporting an outcome",
                )
                self.assertEqual((exit_code, signal), (code, None))

    def test_hangs(self):
        for words in ([], ["--set", "ignore_signals=true"], ["--set", "where=prepare"]):
            with self.subTest(words):
                self.one(
                    "hangs",
                    *words,
                    "--timeout",
                    "2",
                    status="timeout",
                    detail=r"no progress for 2 s: rank 0, pass (time|verify)",
                )

    def test_floods(self):
        run_id, _, _ = self.one("floods_stdout", "--set", "lines=200000", status="ok", code=0)
        for stream in ("stdout", "stderr"):
            size, cut = self.rows(
                f"SELECT length({stream}), {stream} LIKE '%bytes omitted%' FROM rank "
                f"WHERE run_id = {run_id} AND pass = 'time'"
            )[0]
            self.assertLess(size, 70_000)
            self.assertEqual(cut, 1)

    def test_takes_memory(self):
        self.one("leaks", "--set", "most=512", status="oom", code=0)
        run_id, _, _ = self.one(
            "leaks", "--host-memory", "400Mi", status="oom", detail="host memory, exceeding the limit of", code=0
        )
        location, peak = self.rows(f"SELECT location, peak_bytes FROM out_of_memory WHERE run_id = {run_id}")[0]
        self.assertEqual(location, "host")
        self.assertGreater(peak, 400_000_000)

    def test_memory_of_child_processes_counts(self):
        script = self.work / "with_child.sh"
        child = "import time; taken = bytearray(b'x' * (600 << 20)); time.sleep(100)"
        script.write_text(f'#!/bin/sh\npython3 -c "{child}" &\nexec "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        words = ["--wrap", str(script), "--host-memory", "400Mi", "--steps", "10000000", "--no-verify"]
        self.kymo("run", SAXPY, *words)
        self.assertEqual(self.rows("SELECT status FROM run"), [("oom",)])

    def test_lies_about_phases(self):
        for how in ("nested", "undeclared", "left_open", "end_without_begin"):
            with self.subTest(how):
                self.one("lies_about_phases", "--set", f"how={how}", status="failed", detail="phase")

    def test_is_not_verified(self):
        for how in ("failed", "nan", "mixed"):
            with self.subTest(how):
                run_id, _, _ = self.one("verifies_wrong", "--set", f"how={how}", status="failed", failed_pass="verify")
                self.assertEqual(self.rows(f"SELECT verification FROM run WHERE run_id = {run_id}"), [("failed",)])
                self.assertEqual(
                    self.rows(f"SELECT count(*) FROM rank WHERE run_id = {run_id} AND pass = 'time'"), [(0,)]
                )
        run_id, _, _ = self.one("verifies_wrong", "--set", "how=unavailable", status="ok", code=0)
        self.assertEqual(self.rows(f"SELECT verification FROM run WHERE run_id = {run_id}"), [("unavailable",)])

    def test_a_program_before_the_worker(self):
        done = self.kymo("run", BAD / "raw_valid.so", "--wrap", "no-such-debugger --args", *QUICK, code=2)
        self.assertIn("no-such-debugger", done.stderr)
        broken = self.work / "broken"
        broken.write_text("#!/no/such/interpreter\n", encoding="utf-8")
        broken.chmod(0o755)
        self.one("raw_valid", "--wrap", broken, status="failed", detail="cannot start a worker: .*broken.*No such file")
        self.one("raw_valid", "--wrap", "/bin/echo", status="crashed", detail="exited with code 0 before connecting")
        self.one("raw_valid", "--wrap", "/usr/bin/env A=1", status="ok", code=0)


if __name__ == "__main__":
    unittest.main()
