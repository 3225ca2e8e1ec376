# SPDX-License-Identifier: Apache-2.0
"""Counts the tokens of the product's code, without comments and tests, and the share of short source files.

Tokens measure how much there is to read better than lines do, because lines depend on formatting.
"""

import re
import subprocess
import sys
from pathlib import Path

DIRECTORIES = ("core", "host", "plugins", "python", "schemas", "reports")
SHORT_LINES = 60
C_FAMILY = {".c", ".cpp", ".hpp", ".h", ".cu", ".cuh", ".js", ".css"}
HASH_COMMENTS = {".py", ".toml", ".cmake", ".txt"}
SOURCES = {".c", ".cpp", ".hpp", ".h", ".cu", ".cuh"}
TESTS = re.compile(r"(^|/)tests/")  # in the product's directories
# Files that are short by design, and not counted as sources: the public headers and the main file of a plugin.
SHORT_BY_DESIGN = re.compile(r"core/(abi|sdk/.*include)/|plugins/(\w+)/\2\.cpp")
STRING = r'R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
WORD = r"[A-Za-z_]\w*|\d[\w.']*|\S"
COMMENT = {
    "c": r"//[^\n]*|/\*.*?\*/",
    "hash": r"#[^\n]*",
    "sql": r"--[^\n]*",
}


def language_of(path):
    if path.suffix in C_FAMILY:
        return "c"
    if path.suffix == ".sql":
        return "sql"
    return "hash" if path.suffix in HASH_COMMENTS else None


def tokens_of(text, language):
    """A string literal counts as its words, because SQL statements in C++ are code, too."""
    pattern = re.compile(f"(?P<comment>{COMMENT[language]})|(?P<string>{STRING})|(?P<word>{WORD})", re.DOTALL)
    count = 0
    for match in pattern.finditer(text):
        if match["string"]:
            count += max(1, len(re.findall(r"\w+", match["string"])))
        elif match["word"]:
            count += 1
    return count


def main():
    total = [0, 0, 0]
    tests = 0
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    for directory in DIRECTORIES:
        names = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", directory], check=True, capture_output=True, text=True
        ).stdout.split("\0")
        counts = [0, 0, 0]
        for name in filter(None, names):
            path = root / name
            language = language_of(path)
            if not language:
                continue
            text = path.read_text(encoding="utf-8")
            tokens = tokens_of(text, language)
            if TESTS.search(name):
                tests += tokens
                continue
            counts[0] += tokens
            if path.suffix in SOURCES and not SHORT_BY_DESIGN.match(name):
                counts[1] += 1
                counts[2] += text.count("\n") < SHORT_LINES
        print(f"{directory:8} {counts[0]:8} tokens, {counts[1]:4} sources, {counts[2]:4} under {SHORT_LINES} lines")
        total = [a + b for a, b in zip(total, counts, strict=True)]
    share = total[2] / total[1]
    print(
        f"{'total':8} {total[0]:8} tokens, {total[1]:4} sources, {total[2]:4} under {SHORT_LINES} lines ({share:.0%})"
    )
    print(f"{'tests':8} {tests:8} tokens below these directories, not counted above")


if __name__ == "__main__":
    main()
