#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The build id that host and collector modules share covers every header that crosses between them: the closure of
collect/collector.hpp. Called with the environment variables CMAKE, NINJA and CXX."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
ROOT_HEADER = "collect/collector.hpp"
OUTSIDE = "collect/module.hpp"  # includes the root header, which does not include it

SCRIPT = """
cmake_minimum_required(VERSION 3.25)
include({module})
kymo_include_closure(closure {core} {header})
kymo_hash_of_includes(hash {core} {header})
message("${{closure}}")
message("${{hash}}")
"""
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(identity LANGUAGES NONE)
include({module})
kymo_hash_of_includes(hash {core} {header})
add_custom_target(show ALL COMMAND ${{CMAKE_COMMAND}} -E echo "identity ${{hash}}")
"""


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command} failed:\n{done.stdout}")
    return done.stdout


class BuildIdTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kymo-build-id-")
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        self.core = self.work / "core"
        shutil.copytree(SOURCE / "core", self.core, ignore=shutil.ignore_patterns("*.cpp", "*.txt"))

    def write(self, name, text):
        (self.work / name).write_text(
            text.format(module=SOURCE / "cmake/KymoIncludeClosure.cmake", core=self.core, header=ROOT_HEADER)
        )

    def closure_and_hash(self):
        self.write("print.cmake", SCRIPT)
        closure, identity = output_of(os.environ["CMAKE"], "-P", str(self.work / "print.cmake")).split()
        return closure.split(";"), identity

    def change(self, header):
        with open(self.core / header, "a", encoding="utf-8") as file:
            file.write("// changed\n")

    def test_closure_is_that_of_the_compiler(self):
        rule = output_of(
            os.environ["CXX"], "-std=c++20", "-MM", "-x", "c++", f"-I{self.core}", str(self.core / ROOT_HEADER)
        )
        paths = [pathlib.Path(word) for word in rule.partition(":")[2].replace("\\\n", " ").split()]
        included = {str(path.relative_to(self.core)) for path in paths if path.is_relative_to(self.core)}
        self.assertIn("event/records.hpp", included)
        self.assertEqual(set(self.closure_and_hash()[0]), included)

    def test_every_header_of_the_closure_changes_it(self):
        closure, before = self.closure_and_hash()
        seen = {before}
        for header in closure:
            self.change(header)
            seen.add(self.closure_and_hash()[1])
        self.assertEqual(len(seen), len(closure) + 1)

    def test_other_headers_do_not_change_it(self):
        closure, before = self.closure_and_hash()
        self.assertNotIn(OUTSIDE, closure)
        self.change(OUTSIDE)
        self.assertEqual(self.closure_and_hash(), (closure, before))

    def test_a_missing_header_is_an_error(self):
        (self.core / "event" / "records.hpp").unlink()
        with self.assertRaisesRegex(AssertionError, "event/records.hpp"):
            self.closure_and_hash()

    def test_a_build_notices_a_changed_header_and_nothing_else(self):
        self.write("CMakeLists.txt", PROJECT)
        build = self.work / "build"
        output_of(
            os.environ["CMAKE"], "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={os.environ['NINJA']}", "-S", str(self.work),
            "-B", str(build),
        )  # fmt: skip

        def built():
            text = output_of(os.environ["CMAKE"], "--build", str(build))
            return text.partition("identity ")[2].split()[0], "Re-running CMake" in text

        first = built()
        self.assertEqual(first, (self.closure_and_hash()[1], False))
        self.change(OUTSIDE)
        self.assertEqual(built(), first)
        self.change("event/records.hpp")
        changed, reconfigured = built()
        self.assertNotEqual(changed, first[0])
        self.assertTrue(reconfigured)
        self.assertEqual(built(), (changed, False))


if __name__ == "__main__":
    unittest.main()
