# SPDX-License-Identifier: Apache-2.0
"""Checks that replaced identifiers, columns and phrases do not return: cmake/replaced_terms.txt lists them, one
`old -> new` per line. Identifiers match as whole words, phrases (with spaces) in any case."""

import re
import subprocess
import sys
from pathlib import Path

from problems import report

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "cmake/replaced_terms.txt"
GENERATED = re.compile(r"docs/examples/[^/]+/.*|cmake/replaced_terms\.txt|LICENSE")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def read_terms():
    pairs = [line.split(" -> ") for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    words = {old: new for old, new in pairs if " " not in old}
    phrases = {old.lower(): new for old, new in pairs if " " in old}
    return words, phrases


def files():
    command = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    return [name for name in names if name and not GENERATED.fullmatch(name) and (ROOT / name).is_file()]


def problems_of(name, words, phrases):
    try:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:  # a picture
        return
    for number, line in enumerate(lines, 1):
        for word in words.keys() & set(IDENTIFIER.findall(line)):
            yield f"{name}:{number}: '{word}' was replaced by '{words[word]}'"
        lowered = line.lower()
        for phrase in phrases:
            if phrase in lowered:
                yield f"{name}:{number}: '{phrase}' was replaced by '{phrases[phrase]}'"


def main():
    words, phrases = read_terms()
    problems = [problem for name in files() for problem in problems_of(name, words, phrases)]
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
