# SPDX-License-Identifier: Apache-2.0
"""Writes docs/schema.md from the comments in the SQL files, and fails if a table, view or column has none.

    document.py SCHEMAS_FOLDER OUTPUT.md            write
    document.py SCHEMAS_FOLDER --check OUTPUT.md    fail if it is not what would be written

The comment lines right above CREATE TABLE, CREATE VIEW, a column of either or ALTER TABLE ... ADD COLUMN describe it;
several lines are joined by spaces. A comment behind code is a mistake, as is one that stands above no column.
A later migration describes a column anew, whose meaning has grown, by comment lines that begin `-- TABLE.COLUMN: `.
A view's `alias.*` below `-- every column of TABLE` takes the column comments of that table.
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
CONSTRAINT = {"PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "CONSTRAINT"}


class Mistake(Exception):
    """A line that cannot be documented; the message names file and line."""


class Described:
    """A table or view with its comment and those of its columns."""

    def __init__(self, kind, name, comment, origin):
        self.kind, self.name, self.comment, self.origin = kind, name, comment, origin
        self.columns = {}


def column_of(kind, code):
    """The column that the code of a column of a CREATE statement makes, or None."""
    code = code.strip().rstrip(",;")
    if kind == "TABLE":
        word = code.split(" ")[0].strip('"')
        return None if word in CONSTRAINT or not word.isidentifier() else word
    if code.endswith(".*"):
        return "*"
    found = re.search(r"(\w+)$", code)
    return found.group(1) if found else None


def is_end_of_column(code, following):
    """Whether the column of a view whose lines so far are `code` ends before the line `following`."""
    return code.endswith((",", ";")) or following.startswith("FROM ")


def read_statement(lines, start, described):
    """Takes the comments of one CREATE statement; returns the index of the line after it.

    Columns stand at the outermost level: in parentheses in a table, in none in a view.
    """
    level = 1 if described.kind == "TABLE" else 0
    depth, comments, code = level, [], []
    for index in range(start, len(lines)):
        place = f"{described.origin}:{index + 1}"
        line = lines[index].strip()
        if line.startswith("--"):
            if code or depth != level:
                raise Mistake(f"{place}: a comment within a column or query")
            comments.append(line[2:].strip())
            continue
        bare = STRING.sub("", line)
        if "--" in bare:
            raise Mistake(f"{place}: a comment behind code: move it above what it describes")
        if comments:
            code.append(line)
        depth += bare.count("(") - bare.count(")")
        is_end = bare.endswith(";")
        following = lines[index + 1].strip() if index + 1 < len(lines) else ""
        if code and (described.kind == "TABLE" or is_end or depth == level and is_end_of_column(bare, following)):
            column = column_of(described.kind, " ".join(code))
            if column is None:
                raise Mistake(f"{place}: a comment that belongs to no column")
            described.columns[column] = " ".join(comments)
            comments, code = [], []
        if is_end:
            if comments:
                raise Mistake(f"{place}: a comment that belongs to no column")
            return index + 1
    raise Mistake(f"{described.origin}: {described.name} does not end")


def read_file(path):
    """The title of a file (its first comment block) and what it creates."""
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
    """Takes the comments of columns that are described outside of their CREATE statement."""
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
    """Every real column has a comment, and every comment a column."""
    mistakes = []
    for item in described:
        real = [row[1] for row in database.execute(f"PRAGMA table_xinfo({item.name})")]
        if not item.comment:
            mistakes.append(f"{item.origin}: {item.name} has no comment")
        mistakes += [f"{item.origin}: {item.name}.{name} has no comment" for name in real if not item.columns.get(name)]
        mistakes += [
            f"{item.origin}: {item.name} has a comment for {name}, which is no column"
            for name in item.columns
            if name not in real
        ]
    return mistakes


def check_names(database, described):
    real = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    return [f"{name} was not found in the files" for name in sorted(real - {item.name for item in described})]


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
    expand_stars(described, {item.name: item for item in described})
    mistakes = check_names(database, described) + check_columns(database, described)
    mistakes += [f"{path.name}: does not say what it is about" for _, path, title, _ in sections if not title]
    if mistakes:
        raise Mistake("\n".join(mistakes))
    lines = [
        "# The results database",
        "",
        "Generated from the comments in `schemas/`; change those and build the target `schema_docs`.",
        "",
        "A results database is one SQLite file (application id `kymo`, readable with SQLite 3.34 and later). "
        "Ask views rather than tables: tables may gain",
        "columns, views answer the usual questions. "
        "Times are nanoseconds as integers (`_ns`) or milliseconds (`_ms`), sizes bytes (`_bytes`).",
        "",
    ]
    for kind, heading in (("views", "## Views"), ("migrations", "## Tables")):
        lines += [heading, ""]
        for section, _, title, found in sections:
            if section == kind:
                lines += [title, ""]
                for item in found:
                    lines += table_text(database, item)
    return "\n".join(lines).rstrip("\n") + "\n"


def main(arguments):
    check = "--check" in arguments
    folder, output = [pathlib.Path(word) for word in arguments if word != "--check"]
    try:
        text = document(folder)
    except Mistake as mistake:
        print(mistake, file=sys.stderr)
        return 1
    if not check:
        output.write_text(text, encoding="utf-8")
        return 0
    if not output.exists() or output.read_text(encoding="utf-8") != text:
        print(f"{output} is stale: build the target schema_docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
