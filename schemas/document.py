# SPDX-License-Identifier: Apache-2.0
"""Generate docs/schema.md from the comments in the SQL files. Fails if a table, view or column has no comment.

    document.py SCHEMAS_FOLDER OUTPUT.md            write the file
    document.py SCHEMAS_FOLDER --check OUTPUT.md    fail if the file is out of date

The comment lines directly above CREATE TABLE, CREATE VIEW, one of their columns or ALTER TABLE ... ADD COLUMN document
it; multiple lines are joined with spaces. A trailing comment is an error, as is a comment that precedes no column.
A later migration can replace the comment of a column with lines that start with `-- TABLE.COLUMN: `.
Views whose names begin with `_` are private: they need comments, too, but the page leaves them out, as it does tables
that a later migration drops or replaces.
An `alias.*` of a view below `-- every column of TABLE` inherits the column comments of that table.
"""

import pathlib
import re
import sqlite3
import sys

CREATE = re.compile(r'CREATE (TABLE|VIEW) "?(\w+)"?')
ANEW = re.compile(r"(\w+)\.(\w+): (.+)$")
ADDED = re.compile(r"ALTER TABLE (\w+) ADD COLUMN (\w+) .*;$")
STRING = re.compile(r"'[^']*'")
EVERY_COLUMN = re.compile(r"every column of (\w+)$")
TYPE_THAT_KEEPS_ANY_VALUE = "BLOB"

# The beginning of the page: what readers ask most, and the views that answer it.
QUESTIONS = [
    ("Which runs are there, and how did they end?", "run_list", "failures"),
    ("How long does a step or a phase take?", "phase_time", "step_time"),
    ("How many FLOP/s and bytes/s are that?", "throughput"),
    ("How much do the times vary, within a run and between runs?", "time_variation"),
    ("After how many steps is a workload warmed up?", "warmup_steps"),
    ("Did it become slower from one label to another?", "label_comparison"),
    ("Was the machine busy during a run or a step?", "machine_slowdown", "step_slowdown", "reference_loop_time"),
    ("Which values can I not trust?", "run_warning", "verification_result", "run_dropped_record"),
    ("Which kernels take the time?", "kernel_summary", "kernel_by_phase"),
    ("How much of the kernel time has a module and a class?", "attribution_coverage", "class_coverage"),
    ("In which module?", "kernel_by_scope", "op_by_scope", "cpu_scope_time"),
    ("Which operators take the time?", "op_summary", "op_by_scope"),
    ("Where is the GPU idle, and what does the host do then?", "launch_gap", "idle_time", "outlier_call"),
    ("What is in memory at its peak, and what allocated it?", "memory_peak", "memory_by_category", "memory_block"),
    ("What is its predicted peak?", "memory_prediction", "memory_prediction_part"),
    ("How much memory does a worker process use?", "worker_memory", "run_memory"),
    ("Why did it run out of memory?", "oom", "oom_block"),
    ("How much communication is hidden, and which rank is late?", "communication_overlap", "collective_straggler"),
    ("What does the observation itself cost?", "trace_overhead"),
    ("What did the workload report?", "reported_metric"),
    ("On which machine, with which software?", "run_machine", "environment_fact"),
    ("What happened, event by event?", "kernel_call", "op_call", "range_instance", "collective_call", "cuda_api_call"),
]
# The view files that come first, by use; the others follow by name.
FIRST_FILES = [
    "timing",
    "runs",
    "comparison",
    "kernels",
    "kernel_classes",
    "operators",
    "memory_timeline",
    "memory_blocks",
    "memory",
    "quality",
    "events",
]
CONSTRAINT = {"PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "CONSTRAINT"}


class DocumentationError(Exception):
    """A line that cannot be documented. The message contains file and line."""


class Described:
    """A table or view with its comment and the comments of its columns."""

    def __init__(self, kind, name, comment, origin):
        self.kind, self.name, self.comment, self.origin = kind, name, comment, origin
        self.columns = {}


def column_of(kind, code):
    """Return the name of the column that `code`, part of a CREATE statement, defines, or None."""
    code = code.strip().rstrip(",;")
    if kind == "TABLE":
        name = code.split(" ")[0].strip('"')
        return None if name in CONSTRAINT or not name.isidentifier() else name
    if code.endswith(".*"):
        return "*"
    found = re.search(r"(\w+)$", code)
    return found.group(1) if found else None


def is_end_of_column(code, following):
    """Return whether a view column with the lines `code` so far ends before the line `following`."""
    return code.endswith((",", ";")) or following.startswith("FROM ")


def read_statement(lines, start, described):
    """Read the comments of one CREATE statement and return the index of the line after it.

    Columns are at the outermost level: inside the parentheses of a table, outside any parentheses in a view.
    """
    level = 1 if described.kind == "TABLE" else 0
    depth, comments, code = level, [], []
    for index in range(start, len(lines)):
        location = f"{described.origin}:{index + 1}"
        line = lines[index].strip()
        if line.startswith("--"):
            if code or depth != level:
                raise DocumentationError(f"{location}: comment inside a column or query")
            comments.append(line[2:].strip())
            continue
        bare = STRING.sub("", line)
        if "--" in bare:
            raise DocumentationError(f"{location}: trailing comment: move it above the code it describes")
        if comments:
            code.append(line)
        depth += bare.count("(") - bare.count(")")
        is_end = bare.endswith(";")
        following = lines[index + 1].strip() if index + 1 < len(lines) else ""
        if code and (described.kind == "TABLE" or is_end or depth == level and is_end_of_column(bare, following)):
            column = column_of(described.kind, " ".join(code))
            if column is None:
                raise DocumentationError(f"{location}: comment does not precede a column")
            described.columns[column] = " ".join(comments)
            comments, code = [], []
        if is_end:
            if comments:
                raise DocumentationError(f"{location}: comment does not precede a column")
            return index + 1
    raise DocumentationError(f"{described.origin}: {described.name}: unterminated statement")


def read_file(path):
    """Return the title of a file (its first comment block) and the tables and views it creates."""
    lines = path.read_text(encoding="utf-8").split("\n")
    title, comments, found, index = None, [], [], 0
    while index < len(lines):
        line = lines[index]
        created = CREATE.match(line)
        if created:
            described = Described(*created.groups(), " ".join(comments), path.name)
            found.append(described)
            index = read_statement(lines, index + 1, described)
            comments = []
            continue
        if line.startswith("-- "):
            if "SPDX" not in line:
                comments.append(line[3:].strip())
        else:
            if comments and title is None:
                title = " ".join(comments)
            comments = []
        index += 1
    return title, found


def take_later_comments(path, known):
    """Read the comments of columns that are documented outside of their CREATE statement."""
    anew, comments = None, []

    def end_anew():
        if anew:
            known[anew[0]].columns[anew[1]] = " ".join(comments)

    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("-- "):
            text = line[3:].strip()
            found = ANEW.match(text)
            if found:
                end_anew()
                anew, comments = found.groups()[:2], [found.group(3)]
            else:
                comments.append(text)
            continue
        added = ADDED.match(line)
        if added and comments:
            known[added.group(1)].columns[added.group(2)] = " ".join(comments)
        end_anew()
        anew, comments = None, []


def expand_stars(described, known):
    for item in described:
        taken = EVERY_COLUMN.search(item.columns.pop("*", ""))
        if taken:
            item.columns = {**known[taken.group(1)].columns, **item.columns}


def check_columns(database, described):
    """Check that every column has a comment, and every comment a column."""
    errors = []
    for item in described:
        real = [row[1] for row in database.execute(f"PRAGMA table_xinfo({item.name})")]
        if not item.comment:
            errors.append(f"{item.origin}: {item.name} has no comment")
        errors += [f"{item.origin}: {item.name}.{name} has no comment" for name in real if not item.columns.get(name)]
        errors += [
            f"{item.origin}: {item.name} documents {name}, which is not a column"
            for name in item.columns
            if name not in real
        ]
    return errors


def check_names(database, described):
    real = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    return [f"{name} is not defined in the files" for name in sorted(real - {item.name for item in described})]


def is_public(item):
    return not item.name.startswith("_")


def opening(described):
    """Return the table of questions and the index of all views and tables."""
    known = {item.name for item in described}
    missing = sorted({name for _, *names in QUESTIONS for name in names} - known)
    if missing:
        raise DocumentationError(f"document.py: QUESTIONS names unknown views: {', '.join(missing)}")

    def links(names):
        return ", ".join(f"[{name}](#{name})" for name in names)

    lines = ["| question | view |", "|---|---|"]
    lines += [f"| {question} | {links(names)} |" for question, *names in QUESTIONS]
    for kind, heading in (("VIEW", "All views"), ("TABLE", "All tables")):
        lines += ["", f"{heading}: {links(sorted(item.name for item in described if item.kind == kind))}"]
    return lines + [""]


def rank_of_file(path):
    return FIRST_FILES.index(path.stem) if path.stem in FIRST_FILES else len(FIRST_FILES)


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def table_text(database, item):
    rows = database.execute(f"PRAGMA table_xinfo({item.name})").fetchall()
    lines = [f"### {item.name}", "", item.comment, ""]
    if item.kind == "TABLE":
        lines += ["| column | type | meaning |", "|---|---|---|"]
        for _, name, kind, required, _, key, _ in rows:
            kind = "any" if kind == TYPE_THAT_KEEPS_ANY_VALUE else kind
            words = " ".join(
                word for word in (kind, "key" if key else "", "" if required or key else "or NULL") if word
            )
            lines.append(f"| {name} | {words} | {cell(item.columns[name])} |")
    else:
        lines += ["| column | meaning |", "|---|---|"]
        lines += [f"| {row[1]} | {cell(item.columns[row[1]])} |" for row in rows]
    return lines + [""]


def document(folder):
    database = sqlite3.connect(":memory:")
    described, sections = [], []
    for kind in ("migrations", "views"):
        for path in sorted((folder / kind).glob("*.sql")):
            database.executescript(path.read_text(encoding="utf-8"))
            title, found = read_file(path)
            described += found
            take_later_comments(path, {item.name: item for item in described})
            sections.append((kind, path, title, found))
    exist = {(kind.upper(), name) for kind, name in database.execute("SELECT type, name FROM sqlite_master")}
    newest = {item.name: item for item in described}  # a later migration may replace a table
    for *_, found in sections:
        found[:] = [item for item in found if (item.kind, item.name) in exist and newest[item.name] is item]
    described = [item for *_, found in sections for item in found]
    expand_stars(described, {item.name: item for item in described})
    errors = check_names(database, described) + check_columns(database, described)
    errors += [f"{path.name}: has no title comment" for _, path, title, _ in sections if not title]
    if errors:
        raise DocumentationError("\n".join(errors))
    lines = [
        "# The results database",
        "",
        "Generated from the comments in `schemas/`. To update, edit the comments and build the target `schema_docs`.",
        "",
        'Query a view of this table with, for example, `kymo sql "SELECT * FROM phase_time WHERE run_id = 1"`:',
        "",
        *opening(list(filter(is_public, described))),
        "A results database is a single SQLite file (application id `kydb`, readable with SQLite 3.34 and later). "
        "Query views rather than tables: views",
        "answer common questions, and tables may gain columns. "
        "Views whose names begin with `_` are parts of others: they are not listed here and may change. "
        "Times are nanoseconds (integers, `_ns`) or milliseconds (`_ms`); sizes are bytes (`_bytes`).",
        "",
        "`kymo sql` and reports also have the functions `median(x)`, `percentile(x, p)` with p from 0 to 100, and "
        "`stddev(x)` (of a sample), as",
        "aggregate and window functions, and `ratio_text(ratio)`, `ratio_text(low, high)` and "
        "`ratio_interval(ratio, low, high)`, which",
        "[state a ratio of two times](compare.md#ratios). Other SQLite tools do not have them; no view uses them.",
        "",
    ]
    # A stable sort: within a rank, the files stay in order of name.
    sections.sort(key=lambda section: rank_of_file(section[1]))
    for kind, heading in (("views", "## Views"), ("migrations", "## Tables")):
        lines += [heading, ""]
        for section, _, title, found in sections:
            if section == kind:
                lines += [title, ""]
                for item in filter(is_public, found):
                    lines += table_text(database, item)
    return "\n".join(lines).rstrip("\n") + "\n"


def main(arguments):
    check = "--check" in arguments
    folder, output = [pathlib.Path(word) for word in arguments if word != "--check"]
    try:
        text = document(folder)
    except DocumentationError as error:
        print(error, file=sys.stderr)
        return 1
    if not check:
        output.write_text(text, encoding="utf-8")
        return 0
    if not output.exists() or output.read_text(encoding="utf-8") != text:
        print(f"{output} is out of date: build the target schema_docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
