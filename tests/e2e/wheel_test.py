# SPDX-License-Identifier: Apache-2.0
"""The wheel: what it contains, and its installation in a fresh virtual environment without network access."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from kymo_tool import (
    BUILD,
    HANG_S,
    OTHER_TORCH,
    KymoTest,
    cached_variable,
    long_test,
    needs_installed,
    needs_other_torch,
    needs_torch_parts,
)

SOURCE = Path(__file__).parents[2]
TOOLS = all(importlib.util.find_spec(name) for name in ("pip", "wheel", "auditwheel"))
ROW_SUMS = (SOURCE / "docs" / "write-a-plugin.md").read_text().partition("```cpp row_sums.cpp\n")[2].partition("```")[0]


def run(*command, **options):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **options
    )
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def torch_folder():
    return Path(cached_variable("KYMO_TORCH"))


def other_interpreters():
    """CPython 3.10 and later on this machine that have a pip of their own, without the version that runs the tests. The
    pip that runs the tests may be too old for a newer Python."""
    folders = [*os.environ["PATH"].split(":"), *map(str, (Path.home() / ".pyenv" / "versions").glob("3.*/bin"))]
    for minor in range(10, 20):
        found = shutil.which(f"python3.{minor}", path=":".join(reversed(folders)))
        if found and minor != sys.version_info.minor:
            has_pip = subprocess.run([found, "-c", "import ensurepip"], capture_output=True, check=False)
            if has_pip.returncode == 0:
                yield found


def files_below(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()}


@needs_torch_parts
@needs_installed(TOOLS, "pip, wheel and auditwheel")
class WheelTest(KymoTest):
    """One wheel and one environment for all tests. torch is not downloaded: a link stands for it, and a .pth file makes
    the packages that it needs visible."""

    @classmethod
    def setUpClass(cls):
        cls.shared = Path(tempfile.mkdtemp(prefix="kymo-wheel-"))
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        run(sys.executable, SOURCE / "cmake" / "build_wheel.py", BUILD, cls.shared / "dist")
        (cls.wheel,) = (cls.shared / "dist").iterdir()
        cls.environment_folder = cls.shared / "environment"
        run(sys.executable, "-m", "venv", "--without-pip", cls.environment_folder)
        cls.python = cls.environment_folder / "bin" / "python"
        cls.site = Path(run(cls.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        (cls.site / "torch").symlink_to(torch_folder())
        (cls.site / "packages_of_build.pth").write_text(f"{torch_folder().parent}\n")
        cls.pip(cls.python, "install", "--no-index", cls.wheel)

    @classmethod
    def pip(cls, python, *words):
        return run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, *words)

    def setUp(self):
        super().setUp()
        self.environment["PATH"] = f"{self.python.parent}:/usr/bin:/bin"
        self.environment["VIRTUAL_ENV"] = str(self.environment_folder)
        # The installed plugins are described once for all tests.
        self.environment["XDG_CACHE_HOME"] = str(self.shared / "cache")
        for name in ("KYMO_PROGRAM", "KYMO_TORCH", "PYTHONPATH"):
            self.environment.pop(name, None)

    def installed(self, *words):
        return run(*words, cwd=self.work, env=self.environment, timeout=HANG_S)

    def test_program_is_the_plain_executable(self):
        program = self.python.parent / "kymo"
        with zipfile.ZipFile(self.wheel) as wheel:
            (name,) = [name for name in wheel.namelist() if ".data/scripts/" in name]
            content = wheel.read(name)
        self.assertTrue(content.startswith(b"\x7fELF"))
        self.assertEqual(program.read_bytes(), content)
        self.assertTrue(os.access(program, os.X_OK))
        self.assertIn("attention_sdpa", self.installed("kymo", "list"))

    def test_modules_share_the_standard_library_with_torch(self):
        """A second copy of libstdc++ in the process could not catch torch's exceptions."""
        checked = 0
        for library in (self.environment_folder / "lib" / "kymo").rglob("*.so"):
            needed = re.findall(r"NEEDED.*\[(.+)\]", run("readelf", "--dynamic", library))
            if any(name.startswith(("libtorch", "libc10")) for name in needed):
                self.assertIn("libstdc++.so.6", needed, library)
                checked += 1
        self.assertGreater(checked, 5)

    def test_included_workload_and_results(self):
        self.installed(
            *("kymo", "run", "attention_sdpa", "--device", "cpu", "--steps", "2", "--warmup", "1"),
            *("--set", "batch=1", "--set", "seq=64", "--set", "head_dim=16"),
        )
        code = "import kymo; print(kymo.__file__); print(kymo.open('kymo.db').rows('SELECT status FROM run'))"
        file, rows = self.installed("python", "-c", code).splitlines()
        self.assertEqual(Path(file).parent, self.environment_folder / "lib" / "kymo" / "python" / "kymo")
        self.assertEqual(rows, "(['status'], [('ok',)])")

    def test_stacks_name_the_functions_of_plugins(self):
        self.installed(
            *("kymo", "run", "transformer_lm", "--set", "size=tiny", "--device", "cpu", "--passes", "memory"),
            *("--steps", "1", "--warmup", "1"),
        )
        frames = self.rows("SELECT count(*), count(function_id) FROM stack_frame WHERE module = 'transformer_lm.so'")
        (frames, named) = frames[0]
        self.assertGreater(frames, 10)
        self.assertEqual(named, frames)

    def test_workload_in_python(self):
        (self.work / "double.py").write_text(
            "import kymo, torch\n"
            "@kymo.workload(phases=('forward',), devices=('cpu',))\n"
            "def double(run, n: kymo.Int = 16):\n"
            "    x, forward = torch.ones(n), run.phase('forward')\n"
            "    def step():\n"
            "        with forward:\n"
            "            x.mul(2)\n"
            "    return step\n"
        )
        code = (
            "import kymo\n"
            "results = kymo.run('double.py', axes={'n': [16, 32]}, steps=5, passes='time')\n"
            "print([(run['parameters']['n'], run['status']) for run in results.runs])"
        )
        self.assertEqual(self.installed("python", "-c", code), "[(16, 'ok'), (32, 'ok')]\n")

    @needs_installed(importlib.util.find_spec("pytest"), "pytest")
    def test_pytest_finds_the_fixture(self):
        (self.work / "test_sum.py").write_text(
            "def test_sum(kymo_benchmark):\n    assert kymo_benchmark(sum, range(100)) == 4950\n"
        )
        options = ("--kymo-repeat", "2", "--kymo-min-time", "0.01")
        self.installed("python", "-m", "pytest", "-p", "no:cacheprovider", *options)
        self.assertEqual(self.rows("SELECT workload, status FROM run_list"), [("benchmark", "ok")] * 2)

    @long_test
    def test_compiles_a_plugin(self):
        (self.work / "row_sums.cpp").write_text(ROW_SUMS)
        self.installed("kymo", "build", "row_sums.cpp")
        self.assertIn("ok", self.installed("kymo", "run", "./row_sums.so", "--steps", "2"))

    def test_observes_isolated_programs(self):
        """Through kymo_trace.pth, which is not found by the module path of kymo but by the environment."""
        program = SOURCE / "tests" / "python" / "programs" / "train.py"
        self.installed("kymo", "trace", "--device", "cpu", "--", self.python, "-I", program, "by_hand", "16")
        self.assertEqual(self.rows("SELECT status, detail FROM run"), [("ok", "")])
        self.assertEqual(self.rows("SELECT count(*) FROM sample WHERE phase = 'step' AND warmup = 0"), [(10,)])
        self.assertTrue((self.environment_folder / "lib" / "kymo" / "inject" / "sitecustomize.py").exists())

    def test_metadata(self):
        shown = self.pip(self.python, "show", "kymo")
        self.assertRegex(shown, "(?m)^Requires: *$")  # torch is not downloaded with it
        with zipfile.ZipFile(self.wheel) as wheel:
            (name,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
            metadata = wheel.read(name).decode()
        self.assertIn("Requires-Python: >=3.10\n", metadata)
        self.assertRegex(metadata, r"completely under releases of torch 2\.\d+(, 2\.\d+)*\.")
        self.assertRegex(metadata, r"workloads in C\+\+ need torch \d+\.\d+\.\d+\.")

    @long_test
    def test_other_versions_of_python(self):
        """Workloads without torch and results, with the versions that this machine has; continuous integration may
        have none."""
        (self.work / "count.py").write_text(
            "import kymo\n"
            "@kymo.workload(phases=('count',))\n"
            "def count(run, n: kymo.Int = 100):\n"
            "    phase = run.phase('count')\n"
            "    def step():\n"
            "        with phase:\n"
            "            sum(range(n))\n"
            "    return step\n"
        )
        code = (
            "import kymo; "
            "print([run['status'] for run in kymo.run('count.py', steps=3, passes='time', database='kept.db').runs])"
        )
        for interpreter in other_interpreters():
            with self.subTest(interpreter=interpreter), tempfile.TemporaryDirectory() as folder:
                run(interpreter, "-m", "venv", folder)
                python = Path(folder, "bin", "python")
                run(python, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", self.wheel)
                environment = {**self.environment, "PATH": f"{python.parent}:/usr/bin:/bin", "VIRTUAL_ENV": folder}
                self.assertEqual(run(python, "-c", code, cwd=self.work, env=environment), "['ok']\n")

    def test_plugins_in_cpp_reject_another_torch_without_loading_it(self):
        other = self.folder / "other"
        run(sys.executable, "-m", "venv", "--without-pip", other)
        self.pip(other / "bin" / "python", "install", "--no-index", self.wheel)
        (site,) = (other / "lib").glob("python3.*/site-packages")
        (site / "torch" / "lib").mkdir(parents=True)
        (site / "torch" / "lib" / "libtorch_cpu.so").touch()
        (site / "torch" / "__init__.py").write_text("print('loaded')\nraise RuntimeError('loaded')\n")
        (site / "torch" / "version.py").write_text("__version__ = '1.13.1+cu117'\ncuda = '11.7'\n")
        environment = {**self.environment, "PATH": f"{other / 'bin'}:/usr/bin:/bin", "VIRTUAL_ENV": str(other)}
        command = ["kymo", "run", "attention_sdpa", "--device", "cpu"]
        done = subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, timeout=HANG_S, check=False
        )
        self.assertIn(done.returncode, (1, 2))
        for word in ("1.13.1", "2.11.0", str(other)):
            self.assertIn(word, done.stderr)
        self.assertNotIn("loaded", done.stdout + done.stderr)

    @needs_other_torch
    def test_python_workload_under_another_torch(self):
        other = self.folder / "other"
        run(sys.executable, "-m", "venv", "--without-pip", other)
        python = other / "bin" / "python"
        self.pip(python, "install", "--no-index", self.wheel)
        (site,) = (other / "lib").glob("python3.*/site-packages")
        (site / "torch").symlink_to(OTHER_TORCH)
        (site / "packages_of_other.pth").write_text(f"{OTHER_TORCH.parent}\n")
        environment = {**self.environment, "PATH": f"{python.parent}:/usr/bin:/bin", "VIRTUAL_ENV": str(other)}
        model = SOURCE / "tests" / "python" / "workloads" / "model.py"
        words = ("--warmup", "1", "--steps", "3", "--passes", "verify,time,memory,ops")
        run("kymo", "run", f"{model}:model", *words, cwd=self.work, env=environment, timeout=HANG_S)
        self.assertEqual(self.rows("SELECT status FROM run"), [("ok",)])
        self.assertEqual(self.rows("SELECT * FROM dropped_record"), [])
        self.assertGreater(self.rows("SELECT count(*) FROM op")[0][0], 0)

    def test_uninstall_leaves_nothing_behind(self):
        other = self.folder / "other"
        run(sys.executable, "-m", "venv", "--without-pip", other)
        python = other / "bin" / "python"
        site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        Path(site, "another_package.py").touch()
        before = files_below(other)
        self.pip(python, "install", "--no-index", self.wheel)
        workload = other / "lib" / "kymo" / "plugins" / "softmax_triton.py"
        run(other / "bin" / "kymo", "describe", workload, env=self.environment)
        run(python, "-c", "import kymo; kymo.Error")
        self.assertGreater(len(files_below(other) - before), 100)
        self.pip(python, "uninstall", "--yes", "kymo")
        self.assertEqual(sorted(files_below(other) - before), [])
        self.assertEqual(list(other.rglob("kymo*")), [])


if __name__ == "__main__":
    unittest.main()
