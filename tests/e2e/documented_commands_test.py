# SPDX-License-Identifier: Apache-2.0
"""The examples in the documentation work: every `kymo run` and `kymo suite run` can be planned, and every query
refers to existing views and columns."""

import re
import shlex
import unittest
from pathlib import Path

from kymo_tool import KymoTest

ROOT = Path(__file__).resolve().parents[2]


def documents():
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        yield document, document.read_text(encoding="utf-8")


def commands():
    """(document, command) for all shell lines that plan cases, except those with plugins that the reader writes."""
    for document, text in documents():
        for block in re.findall(r"```sh\n(.*?)```", text, re.S):
            for line in block.replace("\\\n", "").splitlines():
                words = shlex.split(line, comments=True) if line.startswith("kymo ") else []
                if (words[1:2] == ["run"] or words[1:3] == ["suite", "run"]) and not any(
                    word.endswith((".so", ".py")) for word in words
                ):
                    yield document.name, words[1:]


def queries():
    """(document, statement) for all queries on the command line or in a sentence."""
    for document, text in documents():
        for statement in re.findall(r'kymo sql "([^"]+)"', text) + re.findall(r"`((?:SELECT|WITH) [^`]+)`", text):
            yield document.name, statement


class DocumentedCommandsTest(KymoTest):
    def test_each_can_be_planned(self):
        found = list(commands())
        self.assertGreater(len(found), 10)
        for document, words in found:
            with self.subTest(document=document, command=" ".join(words)):
                self.kymo(*words, "--plan")

    def test_each_query_is_answered(self):
        self.kymo("run", "saxpy", "--steps", "1", "--no-verify")
        found = list(queries())
        self.assertGreater(len(found), 2)
        for document, statement in found:
            with self.subTest(document=document, statement=statement):
                self.kymo("sql", statement)


if __name__ == "__main__":
    unittest.main()
