# SPDX-License-Identifier: Apache-2.0
"""Which processes start the ranks of a program, by their command lines."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from fake_host import PACKAGE

# kymo_trace is imported before Python finds the script or the module, so that these need not exist.
AT_START = f"""import os, sys
sys.path.insert(0, {str(PACKAGE)!r})
import kymo_trace
sys.argv[1:] = ["changed", "by", "the", "program"]
from kymo_trace._ranks import is_launcher
os.write(1, str(is_launcher()).encode())
os._exit(0)
"""


class LaunchersTest(unittest.TestCase):
    def is_launcher(self, *words, **variables):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "sitecustomize.py").write_text(AT_START, encoding="utf-8")
            environment = {name: value for name, value in os.environ.items() if name != "RANK"}
            environment |= {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1", **variables}
            command = [sys.executable, *words]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        self.assertIn(done.stdout, ("True", "False"), done.stderr)
        return done.stdout == "True"

    def test_launchers(self):
        for words in (
            ["/environment/bin/torchrun", "--standalone", "train.py"],
            ["-u", "-X", "dev", "accelerate", "launch", "train.py"],
            ["accelerate-launch", "train.py"],
            ["deepspeed", "train.py"],
            ["-m", "torch.distributed.run", "train.py"],
            ["-um", "accelerate.commands.launch", "train.py"],
        ):
            self.assertTrue(self.is_launcher(*words), words)

    def test_words_of_other_programs(self):
        for words in (
            ["train.py", "accelerate"],
            ["train.py", "--library", "deepspeed", "torchrun"],
            ["torchrun/train.py"],
            ["-m", "train", "torchrun"],
            ["-c", "pass", "torchrun"],
        ):
            self.assertFalse(self.is_launcher(*words), words)

    def test_ranks_of_launchers(self):
        self.assertFalse(self.is_launcher("-m", "torch.distributed.run", RANK="0"))


if __name__ == "__main__":
    unittest.main()
