# SPDX-License-Identifier: Apache-2.0
"""Databases that others crafted: whatever is in a file, every command that reads it ends soon, within little memory,
with a message about the file, and writes nothing but its output.

    KYMO_BUILD=build tests/e2e/crafted_databases_test.py --keep FOLDER    writes the databases to a folder
"""

import contextlib
import itertools
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fault_tool import BAD
from kymo_tool import BUILD, HANG_S, KYMO, KymoTest

PASSES = ["--passes", "verify,time,memory,trace,ops", "--observed-steps", "2", "--warmup", "0", "--steps", "3"]
PYTHON = BUILD / "lib" / "kymo" / "python"
# Limits against hangs and exhausted memory: a command takes a tenth of them.
PROCESSOR_S = 10
MEMORY_BYTES = 1 << 30  # of address space

SLOW = "instr(hex(zeroblob(1900000)), hex(zeroblob(950000)) || '1') = 0"  # a minute, with values that readers accept
ENDLESS = "WITH RECURSIVE endless(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM endless) SELECT"
BEYOND_QUICK_CHECK = 9 << 20  # readers check the contents of smaller files
BIG_TEXT = 40 << 20

TABLES = ("run", "sample", "metric", "param", "statistic", "rank", "string", "meta", "invocation", "op", "range")
NAMES = {
    "run": "label status ranks started_at workload timing warmup failed_step plugin_id invocation_id title",
    "metric": "value name unit step",
    "param": "value name type",
    "string": "text",
    "sample": "host_ns step phase start_ns",
    "statistic": "mean_ns count represented_by",
    "invocation": "command exit_code",
    "plugin": "file",
    "rank": "stdout device_id",
    "environment": "value",
    "device": "name kind",
    "range": "parent name_id",
    "mark": "step",
    "overhead": "ratio",
    "collective": "bytes",
    "verification": "outcome",
    "scheduling": "wait_ns",
    "meta": "value",
    "op": "parent start_ns",
    "stack": "stack",
}
COLUMNS = [f"{table}.{name}" for table, names in NAMES.items() for name in names.split()]
VALUES = {
    "text": "'several'",
    "null": "NULL",
    "largest": "9223372036854775807",
    "smallest": "-9223372036854775808",
    "infinite": "9e999",
    "nested": f"'{'[' * 100_000}'",
    "no-utf8": r"CAST(x'ff80c0fe41' AS TEXT)",
    "nul": "'a' || char(0) || 'b'",
    "blob": "x'00ff00'",
    "long": "replace(hex(zeroblob(500000)), '0', 'k')",
    "longer": f"CAST(zeroblob({BIG_TEXT}) AS TEXT)",
    "largest-value": "zeroblob(300000000)",
    "terminal": "char(27) || ']0;x' || char(7) || char(8238) || '<script>'",
    "empty": "''",
}


@contextlib.contextmanager
def writing(path, *, schema=False):
    """A connection that may change everything."""
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("PRAGMA legacy_alter_table = ON")
        if schema:
            connection.execute("PRAGMA writable_schema = ON")
        yield connection
        connection.commit()
    finally:
        connection.close()


def columns_of(connection, table):
    return list(connection.execute(f"SELECT name, type, pk FROM pragma_table_info('{table}')"))


def fill(path):
    """Adds rows to every table that is empty in the run of the test, so that there is something to read."""
    with writing(path) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
                continue
            columns = columns_of(connection, table)
            for row in range(3):
                fixed = {"run_id": 1, "rank": 0, "pass": "ops", "sequence": row, "parent": row - 1, "step": row}
                values = [fixed.get(name, "x" if kind == "TEXT" else row + 1) for name, kind, _ in columns]
                holes = ", ".join("?" * len(columns))
                connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({holes})", values)


def set_value(path, column, value, *, pad):
    table, _, name = column.partition(".")
    with writing(path, schema=True) as connection:
        if pad:
            connection.execute("CREATE TABLE padding (bytes)")
            connection.execute(f"INSERT INTO padding VALUES (zeroblob({BEYOND_QUICK_CHECK}))")
        original = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
        lax = original.replace(" NOT NULL", "").replace(" UNIQUE", "")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (lax, table))
    with writing(path, schema=True) as connection:
        condition = "1"
        if len(value) < len(VALUES["nested"]) and "zeroblob" in value:
            keys = ", ".join(name for name, _, key in columns_of(connection, table) if key)
            condition = f"({keys}) = (SELECT {keys} FROM {table} LIMIT 1)"
        with contextlib.suppress(sqlite3.IntegrityError):  # a key that is NULL or not unique
            connection.execute(f"UPDATE OR REPLACE {table} SET {name} = {value} WHERE {condition}")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (original, table))


def run_sql(path, *statements):
    with writing(path, schema=True) as connection:
        for statement in statements:
            connection.execute(statement)


def add_check(path, table):
    """Adds a slow constraint to a table with its rows, which ALTER TABLE cannot."""
    with writing(path, schema=True) as connection:
        original = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
        columns, _, rest = original.rpartition(")")
        changed = f"{columns}, CHECK ({SLOW})){rest}"
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (changed, table))


def claim_newer(path):
    run_sql(
        path,
        "PRAGMA user_version = 99",
        "UPDATE meta SET value = '99' WHERE key = 'schema_version'",
        "UPDATE meta SET value = '99.0.0' WHERE key = 'kymo_version'",
    )


def of_schema():
    for table in TABLES:
        yield (
            f"view-{table}",
            lambda path, t=table: run_sql(
                path,
                f"ALTER TABLE {t} RENAME TO real_{t}",
                f"CREATE VIEW {t} AS {ENDLESS} r.* FROM real_{t} r, endless",
            ),
        )
        yield f"check-{table}", lambda path, t=table: add_check(path, t)
        yield f"missing-{table}", lambda path, t=table: run_sql(path, f"DROP TABLE {t}")
        yield f"column-{table}", lambda path, t=table: run_sql(path, f"ALTER TABLE {t} ADD COLUMN extra DEFAULT 7")
        yield (
            f"trigger-{table}",
            lambda path, t=table: run_sql(
                path, f"CREATE TRIGGER evil AFTER INSERT ON {t} BEGIN DELETE FROM run; SELECT {SLOW}; END"
            ),
        )
    for table in TABLES[:3]:
        yield (
            f"generated-{table}",
            lambda path, t=table: run_sql(path, f"ALTER TABLE {t} ADD COLUMN extra AS ({SLOW})"),
        )
        yield f"index-{table}", lambda path, t=table: run_sql(path, f"CREATE INDEX evil ON {t} (hex(zeroblob(9)))")
        yield f"partial-{table}", lambda path, t=table: run_sql(path, f"CREATE INDEX evil ON {t} (run_id) WHERE run_id")
        yield f"virtual-{table}", lambda path, t=table: run_sql(path, f"CREATE VIRTUAL TABLE evil_{t} USING fts5(a)")
    yield (
        "check-mine",
        lambda path: (
            run_sql(path, "CREATE TABLE mine (a, run_id)", "INSERT INTO mine SELECT run_id, run_id FROM sample"),
            add_check(path, "mine"),
        ),
    )
    yield (
        "statistics",
        lambda path: run_sql(
            path,
            "ANALYZE",
            "UPDATE sqlite_master SET sql = 'CREATE TABLE sqlite_stat1(tbl, idx, stat AS "
            f"({SLOW.replace(chr(39), chr(39) * 2)}))' WHERE name = 'sqlite_stat1'",
        ),
    )
    yield (
        "wrong-statistics",
        lambda path: run_sql(path, "ANALYZE", "UPDATE sqlite_stat1 SET stat = '1 9999999999 -1 99999999999999999999'"),
    )
    yield (
        "more-statements",
        lambda path: run_sql(
            path,
            "CREATE VIEW mine AS SELECT 1",
            f"UPDATE sqlite_master SET sql = sql || '; COMMIT; VACUUM INTO ''{path.parent}/written.db''' "
            "WHERE name = 'mine'",
        ),
    )
    yield "many-tables", lambda path: run_sql(path, *(f"CREATE TABLE t{i} (a, run_id)" for i in range(1000)))
    yield (
        "long-schema",
        lambda path: run_sql(path, f"CREATE VIEW mine AS SELECT '{'x' * 900_000}' AS a"),
    )
    yield (
        "deep-view",
        lambda path: run_sql(path, f"CREATE VIEW mine AS SELECT {'(' * 40}1{')' * 40} AS a"),
    )
    for view in ("run_list", "phase_time", "run_series", "reported_metric"):
        yield (
            f"newer-view-{view}",
            lambda path, v=view: (
                claim_newer(path),
                run_sql(path, f"DROP VIEW {v}", f"CREATE VIEW {v} AS {ENDLESS} x AS run_id, x AS phase FROM endless"),
            ),
        )
        yield (
            f"altered-view-{view}",
            lambda path, v=view: run_sql(
                path, f"DROP VIEW {v}", f"CREATE VIEW {v} AS {ENDLESS} x AS run_id, x AS phase FROM endless"
            ),
        )


def of_values():
    """Each value in a third of the columns, and each column with a third of the values."""
    for (at, column), (kind, value) in itertools.product(enumerate(COLUMNS), VALUES.items()):
        if kind in ("longer", "largest-value"):
            wanted = column in ("run.label", "metric.name", "string.text") and (kind == "longer" or at == 0)
        else:
            wanted = (at + list(VALUES).index(kind)) % 6 == 0
        if wanted:
            pad = kind in ("null", "text") or at % 2 == 0
            yield f"{kind}-{column}", lambda path, c=column, v=value, p=pad: set_value(path, c, v, pad=p)


def of_rows():
    for table, cycle in itertools.product(("range", "op"), ("sequence", "(sequence + 1) % 3", "-1 - sequence")):
        yield f"cycle-{table}-{cycle}", lambda path, t=table, c=cycle: run_sql(path, f"UPDATE {t} SET parent = {c}")
    yield (
        "many-metrics",
        lambda path: run_sql(
            path,
            "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 21000) "
            "INSERT INTO metric (run_id, rank, pass, sequence, level, step, phase, name, value, unit) "
            "SELECT 1, 0, 'time', i, 'run', -1, '', 'm' || i, i, '' FROM n",
        ),
    )
    yield "no-rows", lambda path: run_sql(path, *(f"DELETE FROM {table}" for table in TABLES if table != "meta"))
    yield "no-strings", lambda path: run_sql(path, "DELETE FROM string")
    yield "no-parameters", lambda path: run_sql(path, "DELETE FROM param", "DELETE FROM plugin")


def of_files():
    def change(name, edit):
        def craft(path):
            data = bytearray(path.read_bytes())
            path.write_bytes(edit(data, random.Random(name)))

        return name, craft

    def flipped(data, choose, end):
        for _ in range(4):
            data[choose.randrange(end or len(data))] ^= 1 << choose.randrange(8)
        return data

    for i in range(12):
        yield change(f"flipped-{i}", lambda data, choose: flipped(data, choose, None))
    for i in range(6):
        yield change(f"flipped-schema-{i}", lambda data, choose: flipped(data, choose, 2 * 8192))
    for i in range(6):
        yield change(f"cut-{i}", lambda data, choose: data[: choose.randrange(len(data))])
    yield change("one-byte", lambda data, _: data[:1])
    yield change("header-only", lambda data, _: data[:100])
    yield change("write-ahead-log", lambda data, _: data[:18] + b"\x02\x02" + data[20:])

    def with_file(suffix, content):
        return lambda path: Path(f"{path}{suffix}").write_bytes(content)

    magic = bytes.fromhex("d9d505f920a163d7")
    yield "journal-empty", with_file("-journal", b"")
    yield "journal-noise", with_file("-journal", random.Random(1).randbytes(5000))
    yield "journal-magic", with_file("-journal", magic + b"\xff" * 5000)
    yield "wal-noise", with_file("-wal", random.Random(2).randbytes(5000))


def all_crafted():
    return [*of_schema(), *of_values(), *of_rows(), *of_files()]


READERS = {
    "runs": ["runs", "--db", "x.db"],
    "show": ["show", "1", "--db", "x.db"],
    "report": ["report", "quick", "--format", "markdown,html,csv", "--out", "out/r", "--db", "x.db"],
    "merge": ["merge", "out/m.db", "x.db"],
    "show json": ["show", "1", "--json", "--db", "x.db"],
    "sql": ["sql", "SELECT * FROM phase_time", "--db", "x.db"],
    "compare": ["compare", "x.db", "good.db"],
    "export perfetto": ["export", "perfetto", "-o", "out/t.json", "--db", "x.db"],
    "log": ["log", "1", "--db", "x.db"],
    "export csv": ["export", "csv", "--table", "sample", "-o", "out/s.csv", "--db", "x.db"],
}
LIBRARY = """
import sys
sys.path.insert(0, sys.argv[1])
import kymo
for path in sys.argv[2:]:
    try:
        with kymo.open(path) as database:
            database.rows("SELECT * FROM run_list")
            database.rows("SELECT * FROM phase_time")
    except kymo.Error as error:
        if path not in str(error):
            print("not about the file:", path, error)
"""
INTERNAL = re.compile(r"json\.exception|std::|basic_string|map::at|vector::|terminate|Traceback|Sanitizer")


class Limits:
    """Runs a program with limits, and what it printed."""

    def __init__(self, environment):
        self.environment = environment

    def run(self, words, folder, cpu_s=PROCESSOR_S):
        limits = f"ulimit -t {cpu_s}; ulimit -v {MEMORY_BYTES >> 10}; "
        with (folder / "output").open("wb") as output, (folder / "errors").open("wb") as errors:
            process = subprocess.Popen(
                ["sh", "-c", limits + 'exec "$@"', "sh", *map(str, words)],
                cwd=folder,
                env={**self.environment, "TMPDIR": str(folder / "tmp")},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
            )
            process.wait(HANG_S)
        self.text = (folder / "errors").read_text(encoding="utf-8", errors="replace")
        self.output = (folder / "output").read_text(encoding="utf-8", errors="replace")
        for name in ("output", "errors"):
            (folder / name).unlink()
        return process.returncode


class CraftedDatabasesTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.kymo("run", BAD / "probe.so", "--axis", "factor=1,2", *PASSES)
        self.good = self.work / "good.db"
        (self.work / "kymo.db").rename(self.good)
        fill(self.good)

    def prepare(self, name, craft):
        folder = self.work / re.sub(r"\W+", "-", name)
        for sub in (folder / "out", folder / "tmp"):
            sub.mkdir(parents=True)
        for file in ("good.db", "x.db"):
            shutil.copy(self.good, folder / file)
        craft(folder / "x.db")
        return folder

    def problems(self, folder, words):
        before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        limits = Limits(self.environment)
        code = limits.run([KYMO, *words], folder)
        error = limits.text
        if code not in (0, 1, 2):
            yield f"exit code {code}: {error}"
        if INTERNAL.search(error):
            yield f"an internal message: {error}"
        if code in (1, 2) and "x.db" not in error:
            yield f"does not name the file: {error}"
        after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        for files in (before, after):
            files.pop("x.db-shm", None)  # SQLite's index of a write-ahead log that it finds
        if not any("journal" in name for name in before) and before != after:
            yield "changed " + ", ".join(sorted(set(before) ^ set(after)) or ["x.db"])
        if left := list((folder / "tmp").iterdir()):
            yield f"left {left}"
        for path in (folder / "out").iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def test_good_database(self):
        folder = self.prepare("good", lambda _: None)
        for reader, words in READERS.items():
            with self.subTest(reader):
                self.assertEqual(list(self.problems(folder, words)), [])

    def test_every_reader(self):
        crafted = all_crafted()
        self.assertGreater(len(crafted), 200)
        self.assertEqual(len({name for name, _ in crafted}), len(crafted))

        def check(at):
            name, craft = crafted[at]
            folder = self.prepare(name, craft)
            names = list(READERS)
            first = at % len(names)
            second = (first + 1 + at // len(names) % (len(names) - 1)) % len(names)
            wrong = []
            for reader in (names[first], names[second]):
                wrong += [f"{name}: {reader}: {what}" for what in self.problems(folder, READERS[reader])]
            (folder / "good.db").unlink()
            if (folder / "x.db").stat().st_size > BEYOND_QUICK_CHECK + (BIG_TEXT >> 1):
                shutil.rmtree(folder)
            return wrong

        with ThreadPoolExecutor(2) as pool:
            wrong = list(itertools.chain.from_iterable(pool.map(check, range(len(crafted)))))
        self.assertEqual(wrong, [])
        self.assertFalse(list(self.work.rglob("written.db")))
        self.check_library()

    def check_library(self):
        """The databases are opened in one process."""
        files = sorted(self.work.glob("*/x.db"))
        limits = Limits(self.environment)
        code = limits.run([sys.executable, "-c", LIBRARY, PYTHON, *files], self.work, cpu_s=len(files))
        self.assertEqual((code, limits.output), (0, ""), limits.text)

    def test_a_slow_function_ends_after_the_time(self):
        text, part = (f"replace(hex(zeroblob({size})), '0', 'a')" for size in (8_000_000, 4_000_000))
        for query in (f"SELECT instr({text}, {part} || 'b')", f"SELECT replace({text}, {part} || 'b', 'c')"):
            folder = self.prepare("slow", lambda _: None)
            limits = Limits(self.environment)
            code = limits.run([KYMO, "sql", query, "--timeout", "0.2", "--db", "x.db"], folder)
            self.assertEqual(code, 1)
            self.assertIn("stopped after its limit of 0.2 s", limits.text)
            shutil.rmtree(folder)

    def test_a_value_of_a_wrong_type_names_the_file(self):
        folder = self.prepare("type", lambda path: set_value(path, "run.ranks", "'several'", pad=True))
        limits = Limits(self.environment)
        code = limits.run([KYMO, "show", "1", "--db", "x.db"], folder)
        self.assertEqual(code, 1)
        self.assertIn("database 'x.db': a value in the data is not what kymo stores there (type must be", limits.text)


def main():
    folder = Path(sys.argv[sys.argv.index("--keep") + 1])
    test = CraftedDatabasesTest()
    test.setUp()
    try:
        for name, craft in all_crafted():
            kept = folder / re.sub(r"\W+", "-", name)
            shutil.copytree(test.prepare(name, craft), kept)
            shutil.rmtree(test.work / kept.name)
    finally:
        test.doCleanups()


if __name__ == "__main__":
    if "--keep" in sys.argv:
        main()
    else:
        unittest.main()
