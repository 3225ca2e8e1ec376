# SPDX-License-Identifier: Apache-2.0
"""kymo with the recipes of docs/extend.md that change the host and its storage builds, and their observation survives
whatever ends the program and kymo."""

import shutil
import signal
import subprocess
import unittest

from extend_test import ROOT, SOURCES, follow
from kymo_tool import BUILD, cached_variable, long_test, needs_torch_parts
from trace_program_test import ENDS, TraceTest


@long_test
@needs_torch_parts
class BuiltTest(TraceTest):
    """The observation of the recipes, built with a copy of kymo, is complete up to the last complete step however the
    program and kymo end."""

    targets = ("kymo", "kymo_engine", "kymo_program_extension", "kymo_faults_module")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = BUILD / "tests" / "extended"  # the same each time, for ccache
        shutil.rmtree(folder, ignore_errors=True)
        cls.addClassCleanup(shutil.rmtree, folder)
        root, build = folder / "source", folder / "build"
        cls.program = build / "bin" / "kymo"
        for name in (*SOURCES, "cmake"):
            shutil.copytree(ROOT / name, root / name)
        for name in ("CMakeLists.txt", "LICENSE", "README.md"):
            shutil.copy(ROOT / name, root / name)
        for section in ("A collector", "A table with its view", "A memory category", "A method setting"):
            follow(section, root)
        settings = {"KYMO_TESTS": "OFF", "KYMO_TORCH_PARTS": "OFF", "CMAKE_BUILD_TYPE": "None"}
        for name in ("CMAKE_MAKE_PROGRAM", "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER"):
            settings[name] = cached_variable(name)
        cmake = cached_variable("CMAKE_COMMAND")
        configure = [cmake, "-S", root, "-B", build, "-G", "Ninja", *(f"-D{k}={v}" for k, v in settings.items())]
        for words in (configure, [cmake, "--build", build, "--parallel", "2", "--target", *cls.targets]):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                raise AssertionError(f"{words}\n{done.stdout}\n{done.stderr}")

    def check(self, status):
        self.assertEqual(self.outcome()[0], status)
        steps = self.rows("SELECT step FROM sample WHERE phase = 'step' ORDER BY step")
        self.assertGreaterEqual(len(steps), 5)
        self.assertEqual(self.rows("SELECT step FROM page_fault ORDER BY step"), steps)
        self.assertEqual(self.rows("SELECT count(*) FROM page_fault WHERE minor < 0 OR major < 0"), [(0,)])
        self.assertEqual(self.rows("SELECT title FROM memory_category WHERE category = 'buffer'"), [("buffers",)])

    def test_the_setting_is_an_option_and_a_key(self):
        suite = self.work / "paused.toml"
        suite.write_text('[[case]]\nname = "a"\nworkload = "saxpy"\npause = 2.5\nsteps = 1\n', encoding="utf-8")
        plugin = BUILD / "lib" / "kymo" / "plugins" / "saxpy.so"
        (plan,) = self.kymo_json("suite", "run", suite, "--plugin", plugin, "--plan")
        self.assertEqual(plan["method"]["pause_s"], 2.5)
        self.assertIn("--pause SECONDS", self.kymo("run", "--help").stdout)

    def test_a_killed_program(self):
        self.trace(ENDS, "kill_early", options=["--passes", "ops"], code=128 + signal.SIGKILL)
        self.check("crashed")

    def test_a_program_killed_with_kymo(self):
        self.kill_kymo("--passes", "ops")
        self.check("interrupted")


if __name__ == "__main__":
    unittest.main()
