# SPDX-License-Identifier: Apache-2.0
"""What commands print fits the width of the terminal, or of a pipe, and no two rows of a table look the same."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata
import unittest
from pathlib import Path

from kymo_tool import KYMO, KymoTest, needs_torch_parts
from small_model import ALL_PASSES, CASE, METHOD

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cmake"))
from document_cli import sections  # noqa: E402: the commands that docs/cli.md documents

WIDTHS = (80, 100, 120)
PIPE_COLUMNS = 100
PROGRAM = """
import torch

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(30):
    loss = model(torch.randn(32, 64)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
# Columns that do not say what a row is about.
RESULTS = re.compile(
    r"mean|median|std|min|max|interval|time|share|samples|runs|between|/s|calls|error|outcome|number|verdict"
)


def display_width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def tables(text):
    """The header and the rows of each table, without the lines in which wrapped cells go on."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if index == 0 or not re.fullmatch(r"-+(  -+)*", line):
            continue
        spans = [match.span() for match in re.finditer("-+", line)]
        spans[-1] = (spans[-1][0], None)
        rows = []
        for row in lines[index + 1 :]:
            if not row or any(row[end : end + 2].strip() for _, end in spans[:-1]):
                break  # the table ends
            cells = [row[begin:end].strip() for begin, end in spans]
            if cells[0]:
                rows.append(cells)
        yield [lines[index - 1][begin:end].strip() for begin, end in spans], rows


class WidthTest(KymoTest):
    def setUp(self):
        super().setUp()
        del self.environment["COLUMNS"]

    def in_terminal(self, columns, *words, shows="stdout"):
        """The output in a pseudo-terminal with this width."""
        terminal, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, shows: side}
        with subprocess.Popen([str(KYMO), *words], cwd=self.work, env=self.environment, **streams):
            os.close(side)
            shown = b""
            with contextlib.suppress(OSError):  # EIO at the end
                while part := os.read(terminal, 1 << 16):
                    shown += part
        os.close(terminal)
        return shown.decode().replace("\r\n", "\n")

    def check(self, text, columns, *words):
        self.assertNotEqual(text, "")
        for line in text.splitlines():
            if " " in line.strip():  # a path that is longer than a line stays in one piece
                self.assertLessEqual(display_width(line), columns, f"kymo {' '.join(words)}\n{text}")
        for header, rows in tables(text):
            has_one_row_per_run = "runs" in words
            named = [i for i, name in enumerate(header) if not RESULTS.search(name)]
            shown = [tuple(row[i] for i in named if has_one_row_per_run or header[i] != "run") for row in rows]
            self.assertEqual(len(set(shown)), len(shown), f"kymo {' '.join(words)}\n{text}")

    def check_everywhere(self, *words):
        words = tuple(map(str, words))
        with self.subTest(words=words):
            for columns in WIDTHS:
                self.check(self.in_terminal(columns, *words), columns, *words)
            done = subprocess.run(
                [str(KYMO), *words], cwd=self.work, env=self.environment, stdout=subprocess.PIPE, text=True, check=False
            )
            self.check(done.stdout, PIPE_COLUMNS, *words)

    def test_help(self):
        for words, _ in sections(KYMO):
            self.check_everywhere(*words, "--help")

    def test_lists(self):
        for words in (["list"], ["suite", "list"], ["report"], ["doctor"], ["suite", "run", "quick", "--plan"]):
            self.check_everywhere(*words)

    def test_descriptions_of_all_workloads(self):
        for plugin in self.kymo_json("list")["plugins"]:
            for workload in plugin["workloads"]:
                self.check_everywhere("describe", workload["name"])

    def test_runs(self):
        small = ["--steps", "20", "--device", "cpu"]
        self.check_everywhere("run", "saxpy", *small, "--axis", "n=7,8,9", "--axis", "precision", "--label", "before")
        many = ["--smoke", "--axis", "n=1..15+1", "--axis", "a=1,2,3"]
        self.check_everywhere("run", "saxpy", *small, *many, "--label", "after")
        self.check_everywhere("run", "saxpy", *small, "--against", "saxpy:n=7", "--set", "n=8")
        self.check_everywhere("ab", "saxpy:n=8", "saxpy:n=9", "--max-time", "1")
        self.check_everywhere("verify", "saxpy")
        for words in (
            ["runs", "--limit", "40"],
            ["runs", "--invocation", "5"],
            ["show", "1"],
            ["compare", "before", "after"],
            ["sql", "SELECT * FROM run LIMIT 2"],
            ["sql", "SELECT run_id, workload FROM run LIMIT 2"],
        ):
            self.check_everywhere(*words)

    @needs_torch_parts
    def test_runs_of_a_model(self):
        name = "a_module_with_a_long_name_" + "x" * 60
        self.kymo("run", *CASE, *METHOD, *ALL_PASSES, "--label", name)
        axes = ["--axis", "mode=forward,train", "--axis", "dtype=fp32,bf16"]
        self.kymo("run", *CASE, *METHOD, *axes, "--label", name + "y")
        for words in (["show", "1"], ["show", "1", "--roofline"], ["runs"], ["compare", name, name + "y"]):
            self.check_everywhere(*words)

    @needs_torch_parts
    def test_a_traced_program(self):
        (self.work / "train.py").write_text(PROGRAM)
        words = ["trace", "--steps", "5:10", "--", sys.executable, "train.py"]
        self.check(self.in_terminal(80, *words, shows="stderr"), 80, *words)
        self.check_everywhere("show", "1")


if __name__ == "__main__":
    unittest.main()
