# SPDX-License-Identifier: Apache-2.0
"""kymo export parquet and duckdb: many databases give what their merge gives, and the views what SQLite gives."""

import importlib.util
import math
import re
import sqlite3
import sys
import unittest
import uuid
from pathlib import Path

from kymo_tool import BUILD, SharedRunTest, needs_installed, rows_of

sys.path.insert(0, str(BUILD / "lib" / "kymo" / "python"))

SOURCE = Path(__file__).parents[2]
MODULES = ("duckdb", "pyarrow", "sqlglot")
needs_duckdb = needs_installed(all(map(importlib.util.find_spec, MODULES)), " and ".join(MODULES))
MEDIANS = "SELECT workload, phase, clock, count(*), median(median_ms) FROM phase_time GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
DATABASES, RUNS = 100, 3


def rounded(value):
    """Numbers with nine digits, because the two add in another order."""
    if isinstance(value, (int, float)) or type(value).__name__ == "Decimal":
        number = float(value)
        return float(f"{number:.9g}") if math.isfinite(number) else number
    return value


def in_order(rows):
    return sorted(
        (tuple(map(rounded, row)) for row in rows), key=lambda row: repr([(cell is None, cell) for cell in row])
    )


def copy_of(source, path, number):
    """A database with the runs of another one as if another machine had measured them: more runs, and other times."""
    path.write_bytes(source.read_bytes())
    connection = sqlite3.connect(path)
    connection.execute("UPDATE invocation SET uuid = ?", [str(uuid.UUID(int=number + 1))])
    connection.execute("UPDATE environment SET value = ? WHERE name = 'host'", [f"node{number}"])
    # Ids of texts differ between databases.
    connection.execute("INSERT INTO string (text) VALUES (?)", [f"only on node {number}"])
    (first,) = connection.execute("SELECT min(run_id) FROM run").fetchone()
    for repetition in range(1, RUNS):
        for table, columns in tables_with_runs(connection).items():
            values = ["?1" if name == "run_id" else f'"{name}"' for name in columns]
            if table == "run":
                values[columns.index("sequence")] = "?2"
            names = ", ".join(f'"{name}"' for name in columns)
            connection.execute(
                f'INSERT INTO "{table}" ({names}) SELECT {", ".join(values)} FROM "{table}" WHERE run_id = ?3',
                [first + repetition, repetition, first],
            )
    connection.execute("UPDATE statistic SET median_ns = median_ns * (1 + (run_id * 37 + ? * 11) % 23)", [number])
    connection.commit()
    connection.close()


def tables_with_runs(connection):
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    columns = {
        name: [row[1] for row in connection.execute(f'PRAGMA table_info("{name}")')] for (name,) in names.fetchall()
    }
    return {name: found for name, found in columns.items() if "run_id" in found}


@needs_duckdb
class ManyDatabasesTest(SharedRunTest):
    words = ["saxpy", "--set", "n=1024", "--steps", "5", "--warmup", "1"]

    def python(self):
        return ["--python", sys.executable]

    def many(self, count):
        names = [f"{number}/kymo.db" for number in range(count)]
        for number, name in enumerate(names):
            path = self.work / name
            path.parent.mkdir(exist_ok=True)
            copy_of(self.work / "kymo.db", path, number)
        return names

    def connect(self, file):
        import duckdb

        return duckdb.connect(str(self.work / file), read_only=True)

    def test_medians_are_those_of_the_merge(self):
        names = self.many(DATABASES)
        self.kymo("merge", "merged.db", *names)
        self.kymo("export", "parquet", *names, "-o", "tables", *self.python())
        self.kymo("export", "duckdb", "tables", "-o", "many.duckdb", *self.python())
        merged = [tuple(row.values()) for row in self.sql(MEDIANS, database="merged.db")]
        self.assertEqual(sum(row[3] for row in merged if row[1] == "step"), DATABASES * RUNS)
        self.assertGreater(len({row[4] for row in merged}), 2, "the databases have different times")
        with self.connect("many.duckdb") as connection:
            self.assertEqual(in_order(connection.execute(MEDIANS).fetchall()), in_order(merged))
            machines = connection.execute(
                "SELECT count(DISTINCT value) FROM environment WHERE name = 'host'"
            ).fetchone()
            self.assertEqual(machines, (DATABASES,))

    def test_a_run_in_two_databases_counts_once(self):
        names = self.many(3)
        self.kymo("merge", "both.db", *names[:2])
        self.kymo("merge", "all.db", *names)
        self.kymo("export", "parquet", *names, "both.db", "-o", "twice", *self.python())
        self.kymo("export", "duckdb", "twice", "-o", "twice.duckdb", *self.python())
        with self.connect("twice.duckdb") as connection:
            for table in ("run", "sample", "statistic", "param", "invocation", "environment", "plugin", "string"):
                expected = rows_of(self.work / "all.db", f'SELECT count(*) FROM "{table}"')
                self.assertEqual(connection.execute(f'SELECT count(*) FROM "{table}"').fetchall(), expected, table)

    def test_every_value_and_type_is_kept(self):
        import pyarrow.parquet

        self.kymo("export", "parquet", "kymo.db", "-o", "one", *self.python())
        (folder,) = (self.work / "one").glob("machine=*/database=kymo-*")
        connection = sqlite3.connect(self.work / "kymo.db")
        self.addCleanup(connection.close)
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            stored = connection.execute(f'SELECT * FROM "{name}"').fetchall()
            file = folder / f"{name}.parquet"
            if not stored:
                self.assertFalse(file.exists(), name)
                continue
            table = pyarrow.parquet.read_table(file)
            kinds = {row[1]: row[2] for row in connection.execute(f'PRAGMA table_info("{name}")')}
            self.assertEqual(table.schema.metadata[b"kymo.schema_version"].decode(), str(self.schema_version()))
            for column, (declared, values) in enumerate(zip(kinds.items(), zip(*stored, strict=True), strict=True)):
                written = table[declared[0]].to_pylist()
                if declared[1] == "BLOB":
                    types = {"integer": int, "real": float, "text": str}
                    kept = table[f"{declared[0]}_type"].to_pylist()
                    written = [types[kind](value) for kind, value in zip(kept, written, strict=True)]
                self.assertEqual(written, list(values), f"{name}, column {column}")
            integers = {table.schema.field(column).type for column, kind in kinds.items() if kind == "INTEGER"}
            self.assertLessEqual(integers, {pyarrow.int64()}, name)

    def schema_version(self):
        return len(list((SOURCE / "schemas" / "migrations").glob("*.sql")))

    def test_errors(self):
        self.kymo("export", "parquet", "kymo.db", "-o", "again", *self.python())
        done = self.kymo("export", "parquet", "kymo.db", "-o", "again", *self.python(), code=2)
        self.assertRegex(done.stderr, "exported before; pass --replace")
        self.kymo("export", "parquet", "kymo.db", "-o", "again", "--replace", *self.python())
        self.assertEqual([path.name for path in (self.work / "again").iterdir() if path.name.startswith(".")], [])
        done = self.kymo("export", "parquet", "missing.db", "-o", "again", *self.python(), code=2)
        self.assertIn("no such database", done.stderr)
        done = self.kymo("export", "duckdb", "elsewhere", *self.python(), code=2)
        self.assertRegex(done.stderr, "contains no files of `kymo export parquet`")


@needs_duckdb
class ViewsTest(unittest.TestCase):
    """The rows of tests/sql in both: each view that DuckDB runs gives what it gives in SQLite."""

    filled = ()  # tables of DuckDB

    def test_views_give_the_same_rows(self):
        import duckdb
        from kymo_commands import duckdb as command

        tables = command.current_tables()
        connection = duckdb.connect()
        self.addCleanup(connection.close)
        for table, columns in tables.items():
            types = ", ".join(f'"{name}" {command.TYPES[kind]}' for name, kind, _ in columns)
            connection.execute(f'CREATE TABLE "{table}" ({types})')
        missing = command.create_views(connection)
        page = (SOURCE / "docs" / "export.md").read_text(encoding="utf-8")
        documented = re.findall(r"^- `(\w+)`$", page, re.MULTILINE)
        self.assertEqual(sorted(name for name in missing if not name.startswith("_")), sorted(documented))
        schema = self.schema_in_sqlite()
        names = {name for (name,) in schema.execute("SELECT name FROM sqlite_master WHERE type = 'view'")}
        compared = 0
        for case in sorted((SOURCE / "tests" / "sql").glob("*.sql")):
            if case.stem not in names - missing.keys():
                continue
            rows = self.rows_in_sqlite(schema, case)
            self.fill(connection, rows, tables)
            expected = rows.execute(f'SELECT * FROM "{case.stem}"').fetchall()
            with self.subTest(view=case.stem):
                found = connection.execute(f'SELECT * FROM "{case.stem}"').fetchall()
                self.assertEqual(in_order(found), in_order(expected))
            compared += bool(expected)
        self.assertGreater(compared, 80)

    def schema_in_sqlite(self):
        database = sqlite3.connect(":memory:")
        self.addCleanup(database.close)
        for kind in ("migrations", "views"):
            for script in sorted((SOURCE / "schemas" / kind).glob("*.sql")):
                database.executescript(script.read_text(encoding="utf-8"))
        return database

    def rows_in_sqlite(self, schema, case):
        database = sqlite3.connect(":memory:")
        self.addCleanup(database.close)
        schema.backup(database)
        text = case.read_text(encoding="utf-8")
        for name in ["runs", *re.findall(r"^-- with: (\w+)$", text, re.MULTILINE)]:
            common = case.parent / "common" / f"{name}.sql"
            database.executescript(common.read_text(encoding="utf-8"))
        database.executescript(text)
        return database

    def fill(self, connection, rows, tables):
        for table in self.filled:
            connection.execute(f'DELETE FROM "{table}"')
        self.filled = []
        for table in tables:
            values = [f"({', '.join(map(literal, row))})" for row in rows.execute(f'SELECT * FROM "{table}"')]
            if values:
                connection.execute(f'INSERT INTO "{table}" VALUES {", ".join(values)}')
                self.filled.append(table)


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"CAST('{value!r}' AS DOUBLE)" if isinstance(value, float) else str(value)


@needs_duckdb
class TranslationTest(unittest.TestCase):
    """What DuckDB would reject, or understand in another way."""

    def check(self, query, expected):
        import duckdb
        from kymo_commands._dialect import MACROS, translate

        rows = "CREATE TABLE t (a INTEGER, b INTEGER, c TEXT);"
        rows += "INSERT INTO t VALUES (7, 2, 'x'), (9, 2, 'Y'), (3, NULL, 'z')"
        sqlite = sqlite3.connect(":memory:")
        self.addCleanup(sqlite.close)
        sqlite.executescript(rows)
        self.assertEqual(sqlite.execute(query).fetchall(), expected)
        connection = duckdb.connect()
        self.addCleanup(connection.close)
        connection.execute(rows)
        for macro in MACROS:
            connection.execute(f"CREATE MACRO {macro}")
        connection.execute(translate(f"CREATE VIEW v AS {query}")["v"])
        self.assertEqual(connection.execute("SELECT * FROM v").fetchall(), expected)

    def test_integers_are_divided_without_remainder(self):
        self.check(
            "SELECT a / b, a / 2.0, a / 0 FROM t ORDER BY a", [(None, 1.5, None), (3, 3.5, None), (4, 4.5, None)]
        )

    def test_conditions_are_numbers(self):
        self.check("SELECT sum(a > 5), 1 - (max(a) = 9), 1 IN (1, 2) FROM t", [(2, 0, 1)])

    def test_columns_that_are_not_grouped(self):
        self.check("SELECT c, max(a) FROM t", [("Y", 9)])
        self.check("SELECT c, min(a), b FROM t", [("z", 3, None)])
        self.check("SELECT b, count(*), b + 1 FROM t GROUP BY b ORDER BY b", [(None, 1, None), (2, 2, 3)])

    def test_least_and_greatest_of_null(self):
        self.check("SELECT min(a, b), max(a, b, 8) FROM t ORDER BY a", [(None, None), (2, 8), (2, 9)])

    def test_order_of_null_and_case(self):
        self.check("SELECT b, c LIKE 'y' FROM t ORDER BY b, a", [(None, 0), (2, 0), (2, 1)])

    def test_joins_and_values(self):
        self.check(
            "SELECT x.a, y.column2 FROM t x CROSS JOIN (VALUES (7, 'seven')) y ON y.column1 IS x.a", [(7, "seven")]
        )


if __name__ == "__main__":
    unittest.main()
