# SPDX-License-Identifier: Apache-2.0
"""Checks that reports and the command line read views, that nothing else reads the private ones, that each public view
has a reader, and that no view or query of a report names a workload.

Results belong in views, so that every consumer computes them in the same way. Workloads declare their titles and
families (core/abi/kymo_plugin.h), so that new ones appear in reports without changes to SQL.
"""

import re
import sys
from pathlib import Path

from problems import report

ROOT = Path(__file__).resolve().parent.parent

# Tables that describe what was run, where and with what. Their rows are subjects of reports as they are: a view could
# only repeat their columns.
SUBJECTS = {"run", "run_library", "rank", "invocation", "plugin", "device"}
# Names of workloads that are also words of SQL and its comments: a collective operation, and the plural of peak.
WORDS = {"all_reduce", "peaks"}

# May name private views, whose names begin with `_`: it evaluates views once that others read repeatedly.
EVALUATES_VIEWS = "host/report/hidden_runs.cpp"
PRESENTING = ("cli", "terminal", "report")  # directories of host whose queries read views only
# What reads views besides other views. The tests in tests/sql are those of the views themselves.
READERS = ("README.md", "core/**/*.[ch]pp", "docs/*.md", "host/**/*.[ch]pp", "python/**/*.py", "schemas/document.py")

CREATED = re.compile(r'^CREATE TABLE "?(\w+)"?', re.MULTILINE)
DROPPED = re.compile(r"^DROP TABLE (\w+)", re.MULTILINE)
VIEW = re.compile(r"^CREATE VIEW (\w+)", re.MULTILINE)
SOURCE = re.compile(r'\b(?:FROM|JOIN)\s+(?:main\.)?"?([a-z_]+)"?(?![\w(.])')
COMMON_TABLE = re.compile(r"\b([a-z_]+)\s+(?:\([^()]*\)\s+)?AS\s+\(")
COMMENT = re.compile(r"--[^\n]*")
STRING = re.compile(r'R"(\w*)\((.*?)\)\1"|"((?:\\.|[^"\\\n])*)"', re.DOTALL)
QUERY = re.compile(r'^(?:sql|with\.\w+) = (?:"""(.*?)"""|"([^"\n]*)")', re.MULTILINE | re.DOTALL)
DECLARED = re.compile(r'\b(?:Descriptor\{|descriptor\(|describe_as\()\s*"(\w+)"')


def statements_in(path):
    """Returns the SQL in a file, without comments."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".sql":
        return COMMENT.sub("", text)
    if path.suffix == ".toml":
        return COMMENT.sub("", "\n".join(match[1] or match[2] for match in QUERY.finditer(text)))
    # Adjacent string literals are one statement.
    joined = re.sub(r'"\s*\n\s*"', "", text)
    return "\n".join(match[2] or match[3] or "" for match in STRING.finditer(joined))


def files(*patterns):
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def table_problems():
    tables = set()
    for path in files("schemas/migrations/*.sql"):
        text = path.read_text(encoding="utf-8")
        tables = tables.difference(DROPPED.findall(text)).union(CREATED.findall(text))
    for path in files(*(f"host/{part}/*.cpp" for part in PRESENTING), "reports/*/*.sql", "reports/*/*.toml"):
        sql = statements_in(path)
        for name in sorted(set(SOURCE.findall(sql)) & tables - SUBJECTS - set(COMMON_TABLE.findall(sql))):
            yield f"{path.relative_to(ROOT)}: reads the table '{name}'; read a view instead, or add one"


def names_in(path):
    return set(re.findall(r"\w+", path.read_text(encoding="utf-8")))


def view_problems():
    views = {view for path in files("schemas/views/*.sql") for view in VIEW.findall(path.read_text(encoding="utf-8"))}
    private = {view for view in views if view.startswith("_")}
    used = set()
    for path in files(*READERS, "plugins/**/*.[ch]pp", "tests/*/**/*.[ch]pp", "tests/**/*.py"):
        words = names_in(path)
        name = str(path.relative_to(ROOT))
        if name != EVALUATES_VIEWS:
            yield from (f"{name}: names the private view '{view}'" for view in sorted(words & private))
        if not name.startswith("tests/") and name != "docs/schema.md":
            used |= words
    for path in files("reports/*/*.sql", "reports/*/*.toml"):
        used |= names_in(path)
    for view in sorted(views - private - used):
        yield f"schemas/views: no report, command or page reads '{view}'; begin its name with '_'"


def workload_problems():
    names = set()
    for path in files("plugins/*/*.cpp", "plugins/lib/*/*.cpp"):
        names.update(DECLARED.findall(path.read_text(encoding="utf-8")))
    for path in files("schemas/views/*.sql", "reports/*/*.sql", "reports/*/*.toml"):
        sql = statements_in(path)
        for line in sql.splitlines():
            named = {name for literal in re.findall(r"'([^']*)'", line) for name in names if name in literal}
            if "workload" not in line:
                named -= WORDS
            for name in sorted(named):
                yield f"{path.relative_to(ROOT)}: names the workload '{name}': {line.strip()}"
        if path.suffix == ".sql":
            comments = " ".join(COMMENT.findall(path.read_text(encoding="utf-8")))
            for name in sorted((names - WORDS) & set(re.findall(r"\w+", comments))):
                yield f"{path.relative_to(ROOT)}: a comment names the workload '{name}'"


def main():
    problems = [*table_problems(), *view_problems(), *workload_problems()]
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
