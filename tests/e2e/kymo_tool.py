# SPDX-License-Identifier: Apache-2.0
"""Common parts of the end-to-end tests: test cases with a folder of their own, and the built program."""

import functools
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ["KYMO_BUILD"])
KYMO = BUILD / "bin" / "kymo"
SAXPY = BUILD / "lib" / "kymo" / "plugins" / "saxpy.so"
TRANSFORMER = SAXPY.with_name("transformer_lm.so")


PLUGINS = BUILD / "tests" / "plugins"
OBSERVED = ("memory", "trace", "ops")
# Limit of every wait in these tests, in seconds. It ends a test that hangs; nothing that a test waits for takes a tenth
# of it on two idle processors.
HANG_S = 900

# The build configuration defines which plugins exist: a missing plugin is a failure, not a reason to skip.
HAS_TORCH_PARTS = "KYMO_TORCH_PARTS:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
needs_torch_parts = unittest.skipUnless(HAS_TORCH_PARTS, "this build has no LibTorch parts")


# For tests that take a minute of processor time to cover variations of what another test covers.
long_test = unittest.skipIf("KYMO_QUICK" in os.environ, "'./dev test quick' leaves long tests out")


def cached_variable(name):
    """A variable of the CMake build; empty if it is not set."""
    lines = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    return next((line.partition("=")[2] for line in lines if line.startswith(f"{name}:")), "")


# The torch packages of other versions that the build has modules for and that are in a virtual environment, and the
# interpreters of these environments.
OTHER_TORCHES = {
    torch: torch.parents[3] / "bin" / "python"
    for torch in map(Path, filter(None, cached_variable("KYMO_OTHER_TORCH").split(";")))
    if (torch.parents[3] / "bin" / "python").exists()
}
OTHER_TORCH, OTHER_PYTHON = next(reversed(OTHER_TORCHES.items()), (None, None))
needs_other_torch = unittest.skipUnless(
    OTHER_TORCHES, "KYMO_OTHER_TORCH names no torch package in a virtual environment"
)


def needs_installed(found, what):
    """For test classes that need what `./dev test` installs first. They fail if it is missing, because nobody would
    notice that they were skipped."""
    if found:
        return lambda case: case

    def failing(case):
        def fail(_):
            raise AssertionError(f"needs {what}, which './dev test' and './dev setup tests' install")

        case.setUpClass = classmethod(fail)
        return case

    return failing


def rows_of(database, query, *values):
    connection = sqlite3.connect(database)
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


@functools.cache
def descriptions():
    """The folder of cached descriptions of the built plugins. A description loads LibTorch once per plugin, which takes
    longer than most tests."""
    cache = BUILD / "tests" / "cache"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    environment.pop("KYMO_PLUGIN_PATH", None)
    subprocess.run([str(KYMO), "list"], env=environment, check=True, stdout=subprocess.DEVNULL)
    return cache / "kymo" / "plugins"


class KymoTest(unittest.TestCase):
    """Each test runs in an empty folder, which also contains its cache: a copy of the descriptions of the built
    plugins."""

    program = KYMO

    def setUp(self):
        self.make_folders()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def make_folders(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kymo-e2e-"))
        self.work = self.folder / "work"
        self.work.mkdir()
        # Another test program may be writing a description to a temporary file beside the others.
        cached = self.folder / "cache" / "kymo" / "plugins"
        shutil.copytree(descriptions(), cached, ignore=shutil.ignore_patterns("*.json.*"))
        # Threads that spin while they wait for each other would take minutes next to other tests.
        self.environment = {
            **os.environ,
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "NO_COLOR": "1",
            "OMP_NUM_THREADS": "1",
            "COLUMNS": "1000",  # sentences are looked for in one line
        }
        for name in ("KYMO_PLUGIN_PATH", "RANK", "WORLD_SIZE"):
            self.environment.pop(name, None)

    def kymo(self, *words, code=0, folder=None):
        """Runs kymo, in a folder of the test or another one, and checks its exit code."""
        done = subprocess.run(
            [str(self.program), *map(str, words)],
            cwd=folder or self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=HANG_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        self.assertEqual(done.returncode, code, f"kymo {' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}")
        return done

    def rows(self, query, *values):
        return rows_of(self.work / "kymo.db", query, *values)

    def records(self, query, *values):
        """Rows as dictionaries by column name."""
        connection = sqlite3.connect(self.work / "kymo.db")
        try:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query, values)]
        finally:
            connection.close()

    def kymo_json(self, *words, code=0):
        return json.loads(self.kymo(*words, "--json", code=code).stdout)

    def sql(self, query, database="kymo.db"):
        return self.kymo_json("sql", query, "--db", database)


class SharedRunTest(KymoTest):
    """The tests of a class inspect the results of a single call of kymo, which is executed before the first of them."""

    words = ()  # after `kymo run`
    shared = None

    def setUp(self):
        kind = type(self)
        if kind.shared is None:
            self.make_folders()
            kind.shared = (self.folder, self.work, self.environment)
            kind.addClassCleanup(shutil.rmtree, self.folder, ignore_errors=True)
            self.run_once()
        self.folder, self.work, self.environment = kind.shared

    def run_once(self):
        self.kymo("run", *self.words)
