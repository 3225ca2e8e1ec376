# SPDX-License-Identifier: Apache-2.0
"""Writes docs/schema.md from the comments in the SQL files, and fails if a table, view or column has none.

    document.py SCHEMAS_FOLDER OUTPUT.md            write
    document.py SCHEMAS_FOLDER --check OUTPUT.md    fail if it is not what would be written

The comment lines right above CREATE TABLE or CREATE VIEW describe it; the comment behind a column, on its last line, describes the column.
A column that a later migration adds is described behind its ALTER TABLE ... ADD COLUMN, on the same line.
A later migration describes a column anew, whose meaning has grown, by a line `-- TABLE.COLUMN: comment`.
A view's `alias.*  -- every column of TABLE` takes the column comments of that table.
"""

import pathlib
import re
import sqlite3
import sys

CREATE = re.compile(r"CREATE (TABLE|VIEW) (\w+)")
ANEW = re.compile(r"-- (\w+)\.(\w+): (.+)$")
ADDED = re.compile(r"ALTER TABLE (\w+) ADD COLUMN (\w+) .*;(?:\s*--(.*))?$")
EVERY_COLUMN = re.compile(r"every column of (\w+)$")
CONSTRAINT = {"PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "CONSTRAINT"}


class Mistake(Exception):
    """A line that cannot be documented; the message names file and line."""


class Described:
    """A table or view with its comment and those of its columns."""

    def __init__(self, kind, name, comment, origin):
        self.kind, self.name, self.comment, self.origin = kind, name, comment, origin
        self.columns = {}


def column_of(kind, code):
    """The column that a line of a CREATE statement ends, or None."""
    code = code.strip().rstrip(",")
    if kind == "TABLE":
        word = code.split(" ")[0]
        return None if word in CONSTRAINT or not word.isidentifier() else word
    if code.endswith(".*"):
        return "*"
    found = re.search(r"(\w+)$", code)
    return found.group(1) if found else None


def read_statement(lines, start, described):
    """Takes the comments of one CREATE statement; returns the index of the line after it."""
    for index in range(start, len(lines)):
        code, mark, comment = lines[index].partition("--")
        if mark:
            column = column_of(described.kind, code)
            if column is None:
                raise Mistake(f"{described.origin}:{index + 1}: a comment that belongs to no column")
            described.columns[column] = comment.strip()
        if code.rstrip().endswith(";"):
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
            first = index + 1 if created.group(1) == "TABLE" else index
            index = read_statement(lines, first, described)
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
    for line in path.read_text(encoding="utf-8").split("\n"):
        anew = ANEW.match(line)
        if anew:
            known[anew.group(1)].columns[anew.group(2)] = anew.group(3).strip()
        added = ADDED.match(line)
        if added and added.group(3):
            known[added.group(1)].columns[added.group(2)] = added.group(3).strip()


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
            words = " ".join(
                word for word in (kind or "any", "key" if key else "", "" if required or key else "or NULL") if word
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
        "A results database is one SQLite file (application id `kymo`, readable with SQLite 3.34 and later). Ask views rather than tables: tables may gain",
        "columns, views answer the usual questions. Times are nanoseconds as integers (`_ns`) or milliseconds (`_ms`), sizes bytes (`_bytes`).",
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
