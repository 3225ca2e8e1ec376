# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: a case with a folder of its own and the built tool."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ["KYMO_BUILD"])
KYMO = BUILD / "bin" / "kymo"
SAXPY = BUILD / "lib" / "kymo" / "plugins" / "saxpy.so"
TRANSFORMER = SAXPY.with_name("transformer_lm.so")


class KymoTest(unittest.TestCase):
    """Each test runs in an empty folder, which also holds its cache."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kymo-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "NO_COLOR": "1"}
        for name in ("KYMO_PLUGIN_PATH", "RANK", "WORLD_SIZE"):
            self.environment.pop(name, None)

    def kymo(self, *words, code=0, seconds=300):
        """Runs the tool and checks its exit code."""
        done = subprocess.run([str(KYMO), *map(str, words)], cwd=self.work, env=self.environment, capture_output=True, text=True,
                              timeout=seconds, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, code, f"kymo {' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}")
        return done

    def kymo_json(self, *words, code=0):
        return json.loads(self.kymo(*words, "--json", code=code).stdout)

    def sql(self, query, database="kymo.db"):
        return self.kymo_json("sql", query, "--db", database)
