# SPDX-License-Identifier: Apache-2.0
"""Every `kymo run` and `kymo suite run` that the documentation shows can be planned: names, values and options are as it says."""
import re
import shlex
import unittest
from pathlib import Path

from kymo_tool import KymoTest

ROOT = Path(__file__).resolve().parents[2]


def commands():
    """(document, command) of all lines of shell that plan cases; not of plugins that the reader has yet to build."""
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for block in re.findall(r"```sh\n(.*?)```", document.read_text(encoding="utf-8"), re.S):
            for line in block.splitlines():
                words = shlex.split(line, comments=True) if line.startswith("kymo ") else []
                if (words[1:2] == ["run"] or words[1:3] == ["suite", "run"]) and not any(word.endswith(".so") for word in words):
                    yield document.name, words[1:]


class DocumentedCommandsTest(KymoTest):
    def test_each_can_be_planned(self):
        found = list(commands())
        self.assertGreater(len(found), 10)
        for document, words in found:
            with self.subTest(document=document, command=" ".join(words)):
                self.kymo(*words, "--plan")


if __name__ == "__main__":
    unittest.main()
