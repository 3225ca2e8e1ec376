# SPDX-License-Identifier: Apache-2.0
"""Describing files with workloads: what the description contains, and what is reported for files that have none."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from fake_host import PACKAGE, describe, needs_torch, start, write_file
from kymo import _describe, _errors

CLASS = """
import kymo

class MyKernel(kymo.Workload):
    '''Scales a vector.

    In place.
    '''
    n = kymo.Int(4096, minimum=1, axis=(1024, 4096), unit="elements", doc="vector length", title="{} elements")
    scale = kymo.Real(0.5, minimum=0, axis=(0.25, 1e-7), title_at_default=True)
    dtype = kymo.Choice("fp32", ("fp32", "bf16"), doc="element type", axis=("bf16",))
    fused = kymo.Bool(False, axis=(False, True), setting=True)
    note = kymo.Text("a b")
    phases = ("forward", "backward")
    optional_phases = True
    devices = ("cpu", "cuda")
    ranks = (2, None)
    asynchronous = True
    title = "Kernel"
    family = "kernels"
    family_order = 3
    def step(self, run):
        pass
"""

NAME_RULE = "a name is a lowercase letter followed by up to 63 lowercase letters, digits and '_'"
PARAMETER = {"unit": "", "documentation": "", "axis": [], "title": "", "titled_at_default": False, "setting": False}


def workload(line, body="def step(self, run): pass"):
    return f"import kymo\nclass A(kymo.Workload):\n    {line}\n    {body}\n"


def function(line, decorator="@kymo.workload", body="return print"):
    return f"import kymo\nfrom typing import Literal\n{decorator}\ndef softmax({line}):\n    {body}\n"


def error_in_this_process(source):
    """The reason why a file is rejected, without a process for each."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(write_file(folder, source))
        try:
            _describe.describe(file)
        except Exception as error:
            return _errors.describe(error, file)
        finally:
            sys.path.remove(os.path.dirname(file))


class Description(unittest.TestCase):
    maxDiff = None

    def test_contains_what_a_class_declares(self):
        code, plugin, done = describe(CLASS)
        self.assertEqual(code, 0, done.stderr)
        self.assertEqual(done.stdout.count("\n"), 1)
        described = plugin.pop("workloads")
        version = ".".join(map(str, sys.version_info[:3]))
        self.assertEqual(
            plugin,
            {
                **dict.fromkeys(("version", "file", "sha256", "framework", "framework_version", "cuda_version"), ""),
                "name": "my_kernel",
                "libraries": {},
                "abi_major": 2,
                "abi_minor": 1,
                "cxx_abi": "",
                "torch": "",
                "compiler": f"CPython {version}",
            },
        )
        parameters = described[0].pop("parameters")
        self.assertEqual(
            described,
            [
                {
                    "name": "my_kernel",
                    "documentation": "Scales a vector.\n\nIn place.",
                    "devices": ["cpu", "cuda"],
                    "min_ranks": 2,
                    "max_ranks": 0,
                    "asynchronous_step": True,
                    "title": "Kernel",
                    "family": "kernels",
                    "family_order": 3,
                    "phases": ["forward", "backward"],
                }
            ],
        )
        expected = [
            {"name": "n", "type": "int", "default": 4096, "minimum": 1, "axis": ["1024", "4096"], "unit": "elements"},
            {"name": "scale", "type": "real", "default": 0.5, "minimum": 0.0, "axis": ["0.25", "1e-07"]},
            {"name": "dtype", "type": "choice", "default": "fp32", "choices": ["fp32", "bf16"], "axis": ["bf16"]},
            {"name": "fused", "type": "bool", "default": False, "axis": ["false", "true"], "setting": True},
            {"name": "note", "type": "text", "default": "a b"},
        ]
        expected[0] |= {"documentation": "vector length", "title": "{} elements"}
        expected[1]["titled_at_default"] = True
        expected[2]["documentation"] = "element type"
        self.assertEqual(parameters, [{**PARAMETER, **each} for each in expected])

    def test_has_defaults(self):
        _, plugin, _ = describe(workload(""))
        expected = {"name": "a", "title": "a", "devices": ["cpu"], "min_ranks": 1, "max_ranks": 1, "family": ""}
        self.assertEqual(plugin["workloads"][0] | expected, plugin["workloads"][0])

    def test_contains_functions(self):
        parameters = (
            "run, n: kymo.Int = 4, x: float = 1, d: Literal['a', 'b'] = 'b', m: kymo.Int(8, maximum=9) = 7, s='t'"
        )
        for future in ("", "from __future__ import annotations\n"):
            source = future + function(
                parameters, "@kymo.workload(phases=('forward',), devices=('cuda',), name='soft')"
            )
            _, plugin, done = describe(source)
            self.assertNotIn("error", plugin)
            described = plugin["workloads"][0]
            self.assertEqual((described["name"], described["devices"]), ("soft", ["cuda"]))
            self.assertEqual(
                [(each["name"], each["type"], each["default"]) for each in described["parameters"]],
                [("n", "int", 4), ("x", "real", 1.0), ("d", "choice", "b"), ("m", "int", 7), ("s", "text", "t")],
            )
            self.assertEqual(described["parameters"][3]["maximum"], 9)

    def test_contains_parameters_that_are_default_values_of_functions(self):
        parameters = (
            "run, impl=kymo.Choice('a', ('a', 'b')), n: kymo.Int = kymo.Int(4, minimum=2), dtype: str = "
            "kymo.Choice('c', ('c', 'd'), doc='type'), x: float = kymo.Real(0.5), b: bool = kymo.Bool(True)"
        )
        for future in ("", "from __future__ import annotations\n"):
            _, plugin, _ = describe(future + function(parameters))
            expected = [
                {"name": "impl", "type": "choice", "default": "a", "choices": ["a", "b"]},
                {"name": "n", "type": "int", "default": 4, "minimum": 2},
                {"name": "dtype", "type": "choice", "default": "c", "choices": ["c", "d"], "documentation": "type"},
                {"name": "x", "type": "real", "default": 0.5},
                {"name": "b", "type": "bool", "default": True},
            ]
            self.assertEqual(plugin["workloads"][0]["parameters"], [{**PARAMETER, **each} for each in expected])

    def test_lists_workloads_of_the_file_in_order_of_definition(self):
        source = """
            import kymo
            from kymo import Workload
            class _Base(kymo.Workload):
                n = kymo.Int(1)
                def step(self, run): pass
            class FA4Kernel(_Base):
                m = kymo.Int(2)
            @kymo.workload
            def between(run): return print
            class AnHTTPServer(_Base):
                n = None
            same = AnHTTPServer
        """
        _, plugin, _ = describe(source)
        self.assertEqual(
            [(each["name"], [p["name"] for p in each["parameters"]]) for each in plugin["workloads"]],
            [("fa4_kernel", ["n", "m"]), ("between", []), ("an_http_server", [])],
        )

    @needs_torch
    def test_of_torch_has_its_versions_and_folder(self):
        for source in ("import torch\n" + workload("pass"), workload("framework = 'torch'")):
            _, plugin, done = describe(source)
            self.assertEqual((plugin["framework"], plugin["workloads"][0]["devices"]), ("libtorch", ["cpu", "cuda"]))
            self.assertRegex(plugin["framework_version"], r"^\d+\.\d+\.\d+$")
            self.assertTrue((Path(plugin["torch"]) / "version.py").exists())
            self.assertEqual(done.stderr, "")


class Errors(unittest.TestCase):
    def check(self, source, expected, **options):
        code, answer, done = describe(source, **options)
        self.assertEqual(code, 1, done.stderr)
        self.assertEqual(answer, {"error": expected})

    def test_of_the_file_have_type_text_file_and_line(self):
        self.check("import kymo\nx = 1 +\n", "SyntaxError: invalid syntax (my_kernel.py:2: x = 1 +)")
        self.check(
            "if 1:\npass\n",
            "IndentationError: expected an indented block after 'if' statement on line 1 (my_kernel.py:2: pass)",
        )
        self.check(
            "import nothing_of_that_name",
            "ModuleNotFoundError: No module named 'nothing_of_that_name' (my_kernel.py:1)",
        )
        self.check("\nraise KeyboardInterrupt", "KeyboardInterrupt (my_kernel.py:2)")
        self.check("import sys\nsys.exit(3)", "SystemExit: 3 (my_kernel.py:2)")
        self.check("def f():\n  return f()\nf()", "RecursionError: maximum recursion depth exceeded (my_kernel.py:2)")
        self.check(
            "import json\njson.loads('')",
            "JSONDecodeError: Expecting value: line 1 column 1 (char 0) (my_kernel.py:2)",
        )
        self.check("raise ValueError('a\\nb\\0c \\udc80')", "ValueError: a b\\0c \\udc80 (my_kernel.py:1)")
        text = "class E(Exception):\n  def __str__(self): raise self\nraise E"
        self.check(text, "E: its text cannot be determined: E (my_kernel.py:3)")

    def test_of_syntax_have_the_file_that_contains_them(self):
        with tempfile.TemporaryDirectory() as folder:
            write_file(folder, "a b", "beside_it.py")
            file = write_file(folder, "import beside_it")
            done = start(folder, ["describe", str(file)])
            self.assertIn("SyntaxError: invalid syntax (beside_it.py:1: a b)", done.stdout)

    def test_of_a_long_text_keep_the_position(self):
        _, answer, _ = describe("raise ValueError('é' * 10000)")
        self.assertRegex(answer["error"], r"^ValueError: é+… \(my_kernel.py:1\)$")
        self.assertLess(len(answer["error"]), 500)

    def test_of_declarations_name_workload_and_parameter(self):
        # {p} and {w}: how messages begin that name a parameter and a workload.
        for line, expected in {
            "n = kymo.Int()": "TypeError: {p} needs a default value, such as kymo.Int(1024)",
            "n = kymo.Int(1.5)": "TypeError: {p}: the default must be an int, not 1.5",
            "n = kymo.Int(True)": "TypeError: {p}: the default must be an int, not True",
            "n = kymo.Int(1 << 63)": "ValueError: {p}: the default is 9223372036854775808, which does not "
            "fit into 64 bits",
            "n = kymo.Int(0, minimum=1)": "ValueError: {p}: the default is 0; the minimum is 1",
            "n = kymo.Int(1, axis=(1, 9), maximum=8)": "ValueError: {p}: a value of axis is 9; the maximum is 8",
            "n = kymo.Int(1, minimum=2, maximum=1)": "ValueError: {p}: minimum 2 is greater than maximum 1",
            "n = kymo.Real('1')": "TypeError: {p}: the default must be a float, not '1'",
            "n = kymo.Real(float('inf'))": "ValueError: {p}: the default is inf; it must be finite",
            "n = kymo.Bool(1)": "TypeError: {p}: the default must be True or False, not 1",
            "n = kymo.Text(1)": "TypeError: {p}: the default must be a str, not 1",
            "n = kymo.Choice('c', ('a', 'b'))": "ValueError: {p}: the default is 'c'; it must be one of 'a', 'b'",
            "n = kymo.Choice('c')": 'ValueError: {p} needs choices, such as kymo.Choice("fp32", ("fp32", "bf16"))',
            "n = kymo.Choice('c', 'c')": "TypeError: {p}: choices must be a tuple of str, such as ('c',), not 'c'",
            "n = kymo.Text('', axis='abc')": "TypeError: {p}: axis must be a sequence of values, not 'abc'",
            "n = kymo.Text('\\udc80')": "ValueError: {p}: the default contains a null character or text that UTF-8 "
            "cannot represent",
            "n = kymo.Int(1, unit=2)": "TypeError: {p}: unit must be a str, not 2",
            "n = kymo.Parameter(1)": "TypeError: {p} must be a kymo.Int, Real, Bool, Text or Choice",
            "n = kymo.Int": "TypeError: {p} must be an instance: write n = kymo.Int(default)",
            "N = kymo.Int(1)": f"ValueError: the name of parameter 'N' of {{w}} is 'N'; {NAME_RULE}",
            "ranks = kymo.Int(1)": "TypeError: parameter 'ranks' of {w}: the name is reserved; choose another one",
            "phases = 'forward'": "TypeError: {w}: phases must be a tuple of str, such as ('forward',), not 'forward'",
            "phases = ('step',)": "ValueError: {w}: the phase 'step' is reserved; choose another name",
            "phases = ('f', 'f')": "ValueError: {w}: phases contains the same entry twice: ('f', 'f')",
            "phases = ('F',)": f"ValueError: {{w}}: a phase is 'F'; {NAME_RULE}",
            "devices = ('gpu',)": 'ValueError: {w}: devices must contain "cpu" or "cuda" or both, not (\'gpu\',)',
            "ranks = 0": "ValueError: {w}: ranks must be a number from 1 on, or (minimum, maximum) with None for no "
            "maximum, not 0",
            "ranks = (3, 2)": "ValueError: {w}: ranks must be a number from 1 on, or (minimum, maximum) with None for "
            "no maximum, not (3, 2)",
            "name = 'my kernel'": f"ValueError: the name of workload 'my kernel' is 'my kernel'; {NAME_RULE}",
            "family = ''": f"ValueError: {{w}}: family is ''; {NAME_RULE}",
            "family_order = -1": "ValueError: {w}: family_order must be an int from 0 to 999, not -1",
            "framework = 'jax'": "ValueError: {w}: framework must be None or \"torch\", not 'jax'",
            "asynchronous = 1": "TypeError: {w}: asynchronous must be True or False, not 1",
            "prepare = 1": "TypeError: {w}: prepare must be a method, not 1",
            "def prepare(self): pass": "TypeError: prepare() of {w} must accept (self, run): too many positional "
            "arguments",
            "def verify(self, run): yield": "TypeError: verify() of {w} must be a plain function: calling a generator "
            "or coroutine function does not run it",
        }.items():
            with self.subTest(line):
                message = expected.format(w="workload 'a'", p="parameter 'n' of workload 'a'")
                self.assertEqual(error_in_this_process(workload(line)), f"{message} (my_kernel.py:2)")

    def test_of_functions_name_workload_and_parameter(self):
        for line, expected in {
            "": "must accept the run",
            "run, n": "parameter 'n' of workload 'softmax' needs a default value",
            "run, n: kymo.Int": "parameter 'n' of workload 'softmax' needs a default value, such as kymo.Int(1024)",
            "run, n: [1] = 1": "parameter 'n' of workload 'softmax' needs a default value and may be",
            "run, n: list = 1": "may be annotated with kymo.Int",
            "run, n: int = 'a'": "parameter 'n' of workload 'softmax': the default must be an int, not 'a'",
            "run, n: Literal['a'] = 'b'": "the default is 'b'; it must be one of 'a'",
            "run, n=kymo.Choice('a')": "parameter 'n' of workload 'softmax' needs choices",
            "run, n=kymo.Choice('c', ('a', 'b'))": "the default is 'c'; it must be one of 'a', 'b'",
            "run, n=kymo.Int()": "parameter 'n' of workload 'softmax' needs a default value, such as kymo.Int(1024)",
            "run, n: int = kymo.Choice('a', ('a', 'b'))": "parameter 'n' of workload 'softmax' has both an annotation "
            'and a kymo.Choice as its default; write n=kymo.Choice("fp32", ("fp32", "bf16")), without an annotation',
            "run, n: kymo.Int(8) = kymo.Int(4)": "write n=kymo.Int(1024), without an annotation",
            "run, *n": "must be an ordinary parameter",
            "run, n: 'nothing' = 1": "its annotations cannot be evaluated: name 'nothing' is not defined",
        }.items():
            with self.subTest(line):
                error = error_in_this_process(function(line))
                self.assertIn(expected, error)
                self.assertTrue(error.endswith("(my_kernel.py:3)") or "(my_kernel.py:4)" in error)
        _, answer, _ = describe(function("run", "@kymo.workload(phase=('f',))"))
        self.assertIn("kymo.workload() has no argument 'phase'; it has name, phases", answer["error"])
        _, answer, _ = describe(function("run", body="yield"))
        self.assertIn("workload 'softmax' must be a plain function", answer["error"])
        _, answer, _ = describe("import kymo\n@kymo.workload\nclass A: pass")
        self.assertIn("decorates functions; derive <class 'my_kernel.A'> from kymo.Workload", answer["error"])

    def test_of_the_whole_file_say_what_to_do(self):
        self.check(
            "import kymo",
            "it contains no workload: derive a class from kymo.Workload or decorate a function with @kymo.workload",
        )
        self.check(
            "import kymo\nclass A(kymo.Workload): pass",
            "workload 'a' defines no step(self, run); the name of a class that is only a base class begins with an "
            "underscore",
        )
        twice = "import kymo\nclass A(kymo.Workload):\n  def step(self, run): pass\nclass B(A):\n  name = 'a'\n"
        self.check(twice, "it contains two workloads named 'a': set the attribute `name` of one of them")

    def test_of_a_missing_file_is_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            done = start(folder, ["describe", f"{folder}/absent.py"])
            self.assertIn("absent.py cannot be read: No such file or directory", done.stdout)

    def test_names_the_torch_of_the_interpreter_without_importing_it(self):
        with tempfile.TemporaryDirectory() as folder:
            torch = Path(folder) / "torch"
            torch.mkdir()
            (torch / "__init__.py").write_text("raise SystemError('torch was imported')")
            (torch / "version.py").write_text("__version__ = '7.13.1+cu997'\ncuda: Optional[str] = '99.7'\n")
            source = "import kymo\n@kymo.workload\ndef a(run):\n    import torch\n    return torch.ones\n"
            file = write_file(folder, source)
            plugin = json.loads(start(folder, ["describe", str(file)], PYTHONPATH=folder).stdout)
        found = [plugin[name] for name in ("framework", "framework_version", "cuda_version", "torch")]
        self.assertEqual(found, ["libtorch", "7.13.1", "99.7", str(torch)])


class Process(unittest.TestCase):
    def test_ends_although_the_file_holds_it(self):
        for source in (
            "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n",
            "import atexit, time\natexit.register(time.sleep, 1000)\n",
            "import os\nos.close(1)\n",
            "import sys\nsys.stdout.close()\nsys.stdout = None\n",
            "import os\nos.chdir('/')\n",
            "print('x' * 1000000)\nimport os\nos.write(1, b'noise')\n",
            "import sys\nsys.stdout = sys.stderr = object()\n",
        ):
            with self.subTest(source):
                code, plugin, done = describe(source + workload("pass"))
                self.assertEqual((code, plugin["workloads"][0]["name"]), (0, "a"), done.stderr)

    def test_a_free_threaded_interpreter_is_rejected(self):
        program = (
            "import sys, runpy; sys.abiflags += 't'; sys.argv = [sys.argv[1], 'describe', 'my_kernel.py']; "
            "runpy.run_path(sys.argv[0], run_name='__main__')"
        )
        command = [sys.executable, "-c", program, str(PACKAGE / "kymo_worker.py")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(json.loads(done.stdout)["error"], r"free-threaded builds of Python, such as this 3\.\d+t: use")

    def test_that_the_file_ends_gives_no_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            done = start(folder, ["describe", str(write_file(folder, "import os\nos._exit(7)"))])
            self.assertEqual((done.returncode, done.stdout), (7, ""))

    def test_leaves_nothing_next_to_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = write_file(folder, workload("pass"))
            done = start(folder, ["describe", str(file)], PYTHONDONTWRITEBYTECODE="")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(os.listdir(folder)), ["my_kernel.py", "root"])

    def test_imports_modules_next_to_the_file_and_its_own_package_first(self):
        with tempfile.TemporaryDirectory() as folder:
            write_file(folder, "VALUE = 'from beside'", "beside_it.py")
            write_file(folder, "raise SystemError('the wrong kymo')", "kymo.py")
            file = write_file(folder, "from beside_it import VALUE\n" + workload("title = VALUE"))
            for options in ([], ["-P"] if sys.version_info >= (3, 11) else [], ["-I"]):
                done = start(folder, ["describe", str(file)], options=options)
                self.assertIn('"title": "from beside"', done.stdout)

    def test_accepts_names_of_other_modules(self):
        for name in ("queue.py", "json.py", "kymo.py", "my-kernel.py"):
            code, plugin, _ = describe(workload("pass"), name)
            self.assertEqual((code, plugin["workloads"][0]["name"]), (0, "a"))


if __name__ == "__main__":
    unittest.main()
