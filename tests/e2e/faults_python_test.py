# SPDX-License-Identifier: Apache-2.0
"""Every misbehaving workload in Python ends with the right status and a message with type, file and line, leaves no
process and no file behind, and does not affect other runs."""

import os
import textwrap
import unittest

from fault_tool import BAD, FaultTest

QUICK = ["--warmup", "1", "--steps", "3"]

# What importing the file does, and the reason it is rejected with.
REJECTED = {
    "syntax_error": ("import kymo\n\ndef f(:\n", r"SyntaxError: .*\(bad\.py:3: def f\(:\)"),
    "import_error": ("import kymo\nimport no_such_package\n", r"ModuleNotFoundError: .*no_such_package.*\(bad\.py:2\)"),
    "name_error": ("import kymo\ndef f():\n    return torhc\nf()\n", r"NameError: .*torhc.*\(bad\.py:3\)"),
    "sys_exit": ("import sys\nsys.exit(3)\n", r"SystemExit: 3 \(bad\.py:2\)"),
    "interrupt": ("raise KeyboardInterrupt\n", r"KeyboardInterrupt.*\(bad\.py:1\)"),
    "os_exit": ("import os\nos._exit(4)\n", "exit code 4"),
    "segfault": ("import ctypes\nctypes.string_at(0)\n", "signal 11"),
    "no_workload": ("import kymo\n", "contains no workload"),
    "bad_default": (
        "import kymo\nclass W(kymo.Workload):\n    n = kymo.Int(0, minimum=1)\n    def step(self, run): pass\n",
        r"ValueError: .*\bn\b",
    ),
    "bad_choice": (
        "import kymo\nclass W(kymo.Workload):\n    c = kymo.Choice('x', ('a', 'b'))\n    def step(self, run): pass\n",
        r"ValueError: .*\bc\b.*'x'",
    ),
    "no_step": ("import kymo\nclass W(kymo.Workload):\n    pass\n", "step"),
    "hostile_text": (
        "raise RuntimeError('\\x1b[31m\\x00\\ud800 ' + 'x' * 100000)\n",
        r"RuntimeError: .*\(bad\.py:1\)",
    ),
    "unprintable": (
        "class E(Exception):\n    def __str__(self): raise ValueError('no text')\nraise E\n",
        r"\bE\b.*\(bad\.py:3\)",
    ),
}

HEAD = """
import ctypes, os, sys, threading, time
import kymo

class Bad(kymo.Workload):
    phases = ("forward",)
    def __init__(self, *arguments):
        super().__init__(*arguments)
        {init}
    def prepare(self, run):
        self.forward = run.phase("forward")
        {prepare}
    def before_step(self, run):
        {before_step}
    def step(self, run):
        with self.forward:
            {step}
    def verify(self, run):
        {verify}
"""
# Where the workload does what, and the status, the text and the stage that it ends with. What becomes of further
# exceptions is tested in tests/python/worker_test.py.
FAULTS = {
    "init": ("init", "raise ValueError('a')", "failed", r"ValueError: a \(bad\.py:8\)", "create"),
    "step": ("step", "raise ValueError('d')", "failed", r"ValueError: d \(bad\.py:16\)", None),
    "verify": ("verify", "raise ValueError('e')", "failed", r"ValueError: e \(bad\.py:18\)", "verify"),
    "recursion": ("step", "f = lambda: f(); f()", "failed", r"RecursionError: .*bad\.py:16", None),
    "unprintable": (
        "step",
        "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})()",
        "failed",
        r"\bE\b.*bad\.py:16",
        None,
    ),
    "python_memory": ("prepare", "self.x = bytearray(1 << 60)", "oom", "MemoryError", "prepare"),
    "verification": (
        "verify",
        "return kymo.Verification().compare('out', 'reference', [1.0, 2.0], [1.0, 3.0], 1e-3)",
        "failed",
        "out",
        None,
    ),
    "undeclared_phase": ("prepare", "run.phase('backward').__enter__()", "failed", "backward", None),
    "open_phase": ("step", "self.forward.__enter__()", "failed", "forward", None),
    "skip": ("prepare", "run.skip('not today')", "skipped", "not today", None),
    "os_exit": ("step", "os._exit(6)", "crashed", "exited with code 6", None),
    "segfault": ("step", "ctypes.string_at(0)", "crashed", "signal 11", None),
    "abort": ("step", "os.abort()", "crashed", "signal 6", None),
}


# Has all functions, which compute nothing.
ANY_TORCH = """from .version import __version__

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return lambda *arguments, **options: None
"""


class PythonFaultTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.environment["TMPDIR"] = str(self.folder / "tmp")
        (self.folder / "tmp").mkdir()
        self.environment.pop("VIRTUAL_ENV", None)

    def write(self, text, name="bad.py"):
        file = self.work / name
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        return file

    def workload(self, **bodies):
        methods = dict.fromkeys(("init", "prepare", "before_step", "step", "verify"), "pass")
        methods["verify"] = "return kymo.Verification.unavailable('no reference')"
        return self.write(HEAD.lstrip("\n").format(**{**methods, **bodies}))

    def run_status(self):
        return self.records("SELECT * FROM run ORDER BY run_id DESC LIMIT 1")[0]

    def check_others_are_unaffected(self):
        self.kymo("run", BAD / "raw_valid.so", *QUICK)
        self.assertEqual(self.run_status()["status"], "ok")
        self.assertEqual(os.listdir(self.folder / "tmp"), [])

    def test_rejected_before_a_run(self):
        for name, (text, reason) in REJECTED.items():
            with self.subTest(name):
                file = self.write(text + "\n# kymo\n")
                done = self.kymo("run", file, *QUICK, code=2)
                self.assertRegex(done.stderr, r"\Akymo: [^\n]*bad\.py[^\n]*\n\Z")
                self.assertRegex(done.stderr, reason)
                self.assertLess(len(done.stderr), 2000)
                self.assertFalse(self.database.exists())

    def test_under_a_torch_without_collector_modules(self):
        """The run has its times, and one warning that names the version and those that have modules."""
        torch = self.work / "site" / "torch"
        torch.mkdir(parents=True)
        (torch / "version.py").write_text("__version__ = '1.13.0'\ncuda = None\n", encoding="utf-8")
        (torch / "__init__.py").write_text(ANY_TORCH, encoding="utf-8")
        self.environment["PYTHONPATH"] = str(self.work / "site")
        file = self.write("import torch, kymo\n@kymo.workload\ndef count(run):\n    return lambda: sum(range(1000))\n")
        self.kymo("run", file, *QUICK, "--device", "cpu", "--passes", "time,ops")
        self.assertEqual(self.run_status()["status"], "ok")
        ((detail,),) = self.rows("SELECT detail FROM run_warning WHERE kind = 'torch version'")
        self.assertRegex(detail, r"not recorded under torch 1\.13\.0; .*releases of torch 2\.11")

    def test_faults_of_a_running_workload(self):
        for name, (method, body, status, detail, stage) in FAULTS.items():
            with self.subTest(name):
                file = self.workload(**{method: body})
                self.kymo("run", file, *QUICK, code=0 if status in ("skipped", "oom") else 3)
                run = self.run_status()
                self.assertEqual(run["status"], status, run["detail"])
                self.assertRegex(run["detail"], detail)
                self.assertNotIn("\n", run["detail"])
                if stage:
                    self.assertEqual(run["failed_phase"], stage)
                self.check_others_are_unaffected()

    def test_a_workload_that_closes_all_descriptors_is_measured(self):
        self.kymo("run", self.workload(step="os.closerange(3, 4096)"), *QUICK)
        self.assertEqual(self.run_status()["status"], "ok")
        self.assertEqual(self.rows("SELECT count(*) FROM sample WHERE phase = 'step' AND warmup = 0"), [(3,)])
        self.check_others_are_unaffected()

    def test_a_step_that_never_ends(self):
        file = self.workload(step="time.sleep(1e6)")
        self.kymo("run", file, *QUICK, "--timeout", "5", code=3)
        self.assertEqual(self.run_status()["status"], "timeout")
        self.check_others_are_unaffected()

    def test_an_import_that_hangs_only_in_the_worker(self):
        text = textwrap.dedent(
            """
            import os, time
            import kymo
            imported = __file__ + ".imported"
            if os.path.exists(imported):
                time.sleep(1e6)
            open(imported, "w").close()
            @kymo.workload
            def w(run):
                return lambda: None
            """
        )
        self.kymo("run", self.write(text), *QUICK, "--timeout", "5", code=3)
        self.assertEqual(self.run_status()["status"], "timeout")
        self.check_others_are_unaffected()

    def test_a_file_that_changes_while_it_runs(self):
        file = self.workload()
        self.kymo("run", file, *QUICK)
        changing = self.write("import os\nopen(__file__, 'a').write('#\\n')\n" + file.read_text(encoding="utf-8"))
        self.kymo("run", changing, *QUICK, code=3)
        run = self.run_status()
        self.assertEqual(run["status"], "failed")
        self.assertRegex(run["detail"], "bad.py changed since it was described")

    def test_habits_that_do_no_harm(self):
        for name, text in {
            "threads": "threading.Thread(target=time.sleep, args=(1e6,)).start()",
            "cwd": "os.chdir('/')",
            "stdout": "sys.stdout.close(); os.close(1)",
            "streams": "sys.stdout = sys.stderr = None",
            "children": "[os.posix_spawn('/bin/sleep', ['sleep', '1000'], os.environ) for _ in range(1000)]",
            "descriptors": "os.closerange(3, 65536)",
            "truncation": "import glob; [os.truncate(file, 0) for file in glob.glob('kymo.db.scratch/*/RUN*')]",
            "signals": "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        }.items():
            with self.subTest(name):
                self.kymo("run", self.workload(prepare=text), *QUICK)
                self.assertEqual(self.run_status()["status"], "ok")
                self.check_others_are_unaffected()

    def test_a_removed_directory_of_rank_files(self):
        """The run has the cause, and no other one begins."""
        file = self.workload(prepare="import shutil; shutil.rmtree('kymo.db.scratch')")
        done = self.kymo("run", file, *QUICK, "--repeat", "2", code=1)
        removed = r"the directory '.*kymo\.db\.scratch/\w+' was removed during the run, and with it the measurements: "
        self.assertRegex(done.stderr, r"kymo: no further run is started: " + removed)
        self.assertEqual(self.run_status()["status"], "failed")
        self.assertRegex(self.run_status()["detail"], removed)
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(1,)])
        self.check_others_are_unaffected()

    def test_a_gigabyte_of_output(self):
        file = self.workload(prepare="[print('x' * 999_999) for _ in range(1000)]")
        self.kymo("run", file, *QUICK)
        self.assertEqual(self.run_status()["status"], "ok")
        self.assertLess(self.database.stat().st_size, 30 << 20)
        log = self.kymo("log", self.run_status()["run_id"]).stdout
        self.assertIn("x" * 100, log)


if __name__ == "__main__":
    unittest.main()
