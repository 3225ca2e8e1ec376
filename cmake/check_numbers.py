# SPDX-License-Identifier: Apache-2.0
"""Checks that sentences of reports contain no number that is neither a result of a query nor a limit that it applies.

The prose of a report gets its numbers from queries. A query may put a number into a sentence itself only as a limit
that it, or a shared query that it reads, compares with: "within 2 %" needs 0.02, 0.98 or 1.02. Formulas and
explanations are marked as such in the report and are not checked.
"""

import re
import sys
from pathlib import Path

import tomllib
from problems import report

ROOT = Path(__file__).resolve().parent.parent
TEXTS = {"prose", "summary"}
NUMBER = re.compile(r"(?<![\w.−-])\d+(?:\.\d+)?(?![\w.]*[A-Za-z])")
FIELD = re.compile(r"\{\{.*?\}\}|`[^`]*`")
NAME = re.compile(r"\b(?:stage|ranks?|steps?) \d+", re.IGNORECASE)  # ZeRO stage 1, rank 0 and step 0 are names
COMMENT = re.compile(r"--[^\n]*")
LITERAL = re.compile(r"'((?:[^']|'')*)'")
DIRECTIVE = re.compile(r"%[-+ 0]*\d*(?:\.\d+)?[a-z]")
VALUE = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e\d+)?(?!\w)")
SYMBOLS = re.compile(r"[·√²]|\b[A-Z] /|/ [A-Z]\b")  # an expression such as 1 / N
STATED = {"95"}  # the confidence of the intervals, which kymo computes outside of queries
# Phrases of prose that state a constant, and the file with the text that sets it.
CONSTANTS = {
    "> 25 % of the mean": ("schemas/views/warnings.sql", "std_ms > 0.25 * mean_ms"),
    "at least 2 % of a step": ("reports/quick/phase_chart.sql", ">= 0.02"),
    "4 × length²": ("reports/cs336/q_leaderboard.sql", "3.5 * 2 * l.batch * l.heads * l.seq * l.seq"),
    "2.5 times as many in backward": ("schemas/views/attention.sql", "2.5 times forward for backward"),
}


def members(node, path=()):
    """Yields the key, with those above it, and the text of each string in a parsed file."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from members(value, (*path, key))
    elif isinstance(node, list):
        for value in node:
            yield from members(value, path)
    elif isinstance(node, str):
        yield path, node


def limits_in(query):
    """The numbers that a query contains, and the percentages and powers of ten that sentences name them by."""
    found = set()
    for text in VALUE.findall(LITERAL.sub("", query)):
        value = float(text)
        for named in (value, 100 * value, 100 * (value - 1), 100 * (1 - value), value / 1e9):
            found.add(f"{named:.6g}")
    return found


def shared_queries(path, parsed):
    """The text of the queries that those of a file may read."""
    texts = []
    for keys, text in members(parsed):
        if "with" in keys:
            file = path.parent / text
            texts.append(file.read_text(encoding="utf-8") if text.endswith(".sql") else text)
    return COMMENT.sub("", "\n".join(texts))


def problems_of(path):
    parsed = tomllib.loads(path.read_text(encoding="utf-8"))
    shared = shared_queries(path, parsed)
    where = path.relative_to(ROOT)
    for keys, text in members(parsed):
        if keys[-1] in TEXTS:
            prose = " ".join(text.split())
            for phrase in CONSTANTS:
                prose = prose.replace(phrase, "")
            for number in NUMBER.findall(NAME.sub("", FIELD.sub("", prose))):
                yield f"{where}: {keys[-1]} contains {number}, which is not from a query"
        if keys[-1] == "sql":
            query = COMMENT.sub("", text)
            limits = limits_in(query) | limits_in(shared) | STATED
            for literal in LITERAL.findall(query):
                sentence = DIRECTIVE.sub("", literal)
                if " " not in sentence.strip() or SYMBOLS.search(sentence):
                    continue
                for number in NUMBER.findall(NAME.sub("", sentence)):
                    if f"{float(number):.6g}" not in limits:
                        yield f"{where}: a query prints {number} in '{literal}', but compares with no such limit"


def null_problems():
    """SQLite prints a missing number as 0, so that coalesce does not replace the text."""
    for path in sorted(
        (*ROOT.glob("reports/*/*.toml"), *ROOT.glob("reports/*/*.sql"), *ROOT.glob("schemas/views/*.sql"))
    ):
        if re.search(r"coalesce\(\s*printf\(", path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(ROOT)}: coalesce(printf(...)) is never NULL; test the number with CASE instead"


def constant_problems():
    for phrase, (name, text) in CONSTANTS.items():
        if text not in (ROOT / name).read_text(encoding="utf-8"):
            yield f"{name}: '{text}' not found, which sets '{phrase}' in the prose of reports"


def main():
    found = [*constant_problems(), *null_problems()]
    for path in sorted(ROOT.glob("reports/*/*.toml")):
        found += problems_of(path)
    return report(found)


if __name__ == "__main__":
    sys.exit(main())
