# SPDX-License-Identifier: Apache-2.0
"""Checks the schema of a database for expressions that SQLite would evaluate, from the text of its statements alone.
The program does the same (core/store/structure.cpp)."""

import re
import sqlite3

_TOKEN = re.compile(
    r"""(?:--[^\n]*|/\*.*?(?:\*/|\Z)|\s+)|'[^']*'?|"(?P<double>[^"]*)"?|`(?P<back>[^`]*)`?|\[(?P<square>[^]]*)\]?"""
    r"|(?P<word>[A-Za-z0-9_\x80-\U0010ffff]+)|.",
    re.DOTALL,
)
_NAMED_WITHIN = 200  # characters of a view's text that contain its name
_BYTE_ORDER_MARK = "\ufeff"  # SQLite skips it between tokens, so that it could hide a keyword


def _tokens(sql):
    """The words in lower case, names in double quotes, '' for literals, and symbols, without comments and blanks."""
    tokens = []
    for found in _TOKEN.finditer(sql):
        text = found[0]
        if found.lastgroup == "word":
            tokens.append(text.lower())
        elif found.lastgroup:
            tokens.append(f'"{found[found.lastgroup].lower()}"')
        elif text.startswith("'"):
            tokens.append("''")
        elif not text.isspace() and not text.startswith(("--", "/*")):
            tokens.append(text)
    return tokens


def _kind_and_name(tokens):
    rest = [token for token in tokens[1:] if token not in ("temp", "temporary", "unique")]
    return (rest + ["", ""])[0], (rest + ["", ""])[1].strip('"')


def _statements(connection):
    return [str(sql) for (sql,) in connection.execute("SELECT sql FROM main.sqlite_master WHERE sql IS NOT NULL")]


def _expression_of_table(sql, tokens):
    if _BYTE_ORDER_MARK in sql:
        return "an invisible character in its definition"
    if "check" in tokens:
        return "a CHECK constraint"
    if "as" in tokens or "generated" in tokens:
        return "generated columns"
    if any(pair == ("default", "(") for pair in zip(tokens, tokens[1:], strict=False)):
        return "a default value that is an expression"
    return ""


def _expression_of_index(sql, tokens):
    if _BYTE_ORDER_MARK in sql:
        return "an invisible character in its definition"
    if "(" not in tokens or ")" not in tokens or tokens.index(")") + 1 != len(tokens):
        return "a condition or an expression"
    columns = tokens[tokens.index("(") + 1 : -1]
    return "" if all(re.match(r'[\w",]', token) for token in columns) else "an expression"


def _migrated_tables(migrations):
    """The statements of the tables that the migrations create, and their names."""
    scratch = sqlite3.connect(":memory:")
    try:
        for script in migrations:
            scratch.executescript(script)
        return dict(scratch.execute("SELECT sql, name FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL"))
    finally:
        scratch.close()


def problem_of(connection, migrations):
    """Return the error in the schema of a database, or an empty string. `migrations` are the scripts that create
    its tables; none if they are unknown. Evaluates nothing that is in the file."""
    expected = _migrated_tables(migrations)
    statements = _statements(connection)
    tables = {}
    for sql in statements:
        if sql in expected:
            continue
        kind, name = _kind_and_name(_tokens(sql[:_NAMED_WITHIN]))
        if kind in ("view", "trigger"):  # hidden by those of this version, or disabled
            continue
        tokens = _tokens(sql)
        if kind == "virtual":
            return "it contains a virtual table, which kymo does not read"
        kind, name = _kind_and_name(tokens)
        if kind in ("table", "index"):
            found = (_expression_of_table if kind == "table" else _expression_of_index)(sql, tokens)
            if found:
                return f"its {kind} '{name}' has {found}, which kymo does not evaluate"
        if kind == "table":
            tables[name] = tokens
    for sql in expected.keys() - set(statements):
        name = expected[sql]
        if name not in tables:
            return f"the file is damaged: it lacks the table {name}"
        if tables[name] != _tokens(sql):  # other comments
            return f"the file is damaged: its schema is not the one that kymo created (table {name})"
    return ""
