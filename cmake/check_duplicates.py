# SPDX-License-Identifier: Apache-2.0
"""Checks that no two files of the views, the reports and the Python packages have more than LONGEST lines in a row in
common: the same lines, or lines that differ in names and values only.

What queries have in common belongs in a view, which may be private, or in a query of the key `with` of a report.
"""

import keyword
import re
import sys
from pathlib import Path

from problems import report

ROOT = Path(__file__).resolve().parent.parent
FILES = ("schemas/views/*.sql", "reports/*/*.sql", "python/**/*.py")

LONGEST = 10
# Lines that differ in names count only if they are of this many kinds: lists of columns have the same form everywhere.
KINDS = 8

COMMENT = {".sql": re.compile(r"--.*"), ".py": re.compile(r"#.*")}
TOKEN = re.compile(r"""'[^']*'|"[^"]*"|\w+|\S""")


def is_kept(token, suffix):
    """Returns whether a token is a keyword or a symbol, not a name or a value."""
    is_keyword = token.isupper() if suffix == ".sql" else keyword.iskeyword(token)
    return is_keyword or not re.match(r"[\w'\"]", token)


def lines_of(path):
    """Returns the lines without comments and indentation, and their forms: names and values are replaced."""
    text = COMMENT[path.suffix].sub("", path.read_text(encoding="utf-8"))
    tokens = [TOKEN.findall(line) for line in text.splitlines() if line.strip()]
    return [" ".join(line) for line in tokens], [
        " ".join(token if is_kept(token, path.suffix) else "x" for token in line) for line in tokens
    ]


def problems():
    first = {}
    for path in sorted(path for pattern in FILES for path in ROOT.glob(pattern)):
        lines, forms = lines_of(path)
        own = {}
        for i in range(len(lines) - LONGEST):
            part = slice(i, i + LONGEST + 1)
            keys = [tuple(lines[part])]
            if len(set(forms[part])) >= KINDS:
                keys.append(tuple(forms[part]))
            other = next((first[key] for key in keys if key in first), None)
            if other:
                yield f"{path.relative_to(ROOT)}: repeats {other.relative_to(ROOT)} from '{lines[i]}' on"
                break
            own.update((key, path) for key in keys)
        first |= own


if __name__ == "__main__":
    sys.exit(report(problems()))
