# SPDX-License-Identifier: Apache-2.0
"""kymo.open, kymo.run and kymo.compare: data frames of databases made by the built program, and errors."""

import contextlib
import importlib.util
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from kymo_tool import BUILD, HANG_S, KYMO, PLUGINS, KymoTest, needs_installed

PACKAGE = BUILD / "lib" / "kymo" / "python"
sys.path.insert(0, str(PACKAGE))
from kymo import _database, _results  # noqa: E402

SCHEMAS = Path(__file__).parents[2] / "schemas"


MINE = """
import kymo
class Sums(kymo.Workload):
    n = kymo.Int(10)
    phases = ("sum",)
    def prepare(self, run):
        self.sum = run.phase("sum")
    def step(self, run):
        with self.sum:
            sum(range(self.n))
@kymo.workload(phases=("product",))
def products(run, n: kymo.Int = 10):
    product = run.phase("product")
    def step():
        with product:
            [i * i for i in range(n)]
    return step
"""


def installed(*modules):
    return needs_installed(all(importlib.util.find_spec(name) for name in modules), " and ".join(modules))


def write(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.executescript(statement)
    connection.close()


class Fabricated(KymoTest):
    """Databases without runs, made from the SQL files."""

    def empty(self, *statements, migrations=None, views=True):
        """An empty results database with the first migrations, or all, changed by the statements."""
        path = self.work / "made.db"
        scripts = sorted((SCHEMAS / "migrations").glob("*.sql"))[:migrations]
        version = len(scripts)
        scripts += sorted((SCHEMAS / "views").glob("*.sql")) if views else []
        write(
            path,
            f"PRAGMA application_id = {_database._APPLICATION_ID}; PRAGMA user_version = {version}",
            *(script.read_text() for script in scripts),
            f"INSERT OR REPLACE INTO meta VALUES ('schema_version', '{version}'), ('compatible_version', '1'), "
            "('kymo_version', '0.1.0')",
            *statements,
        )
        return path


class OpenTest(Fabricated):
    def rejected(self, path, *words):
        before = path.read_bytes() if path.is_file() else None
        with self.assertRaises(_results.Error) as caught:
            _results.open(path)
        for word in (str(path), *words):
            self.assertIn(word, str(caught.exception))
        self.assertEqual(path.read_bytes() if path.is_file() else None, before)

    def test_files_that_are_no_results_database(self):
        self.rejected(self.work / "missing.db", "no such file", "kymo run --db")
        self.rejected(self.work, "not a regular file")
        path = self.work / "x.db"
        path.write_bytes(b"")
        self.rejected(path, "empty")
        path.write_text("time,name\n1,2\n" * 100)
        self.rejected(path, "not an SQLite database")
        path.unlink()
        write(path, "CREATE TABLE t (x)")
        self.rejected(path, "not a results database of kymo")
        write(path, f"PRAGMA application_id = {0x6B796D6F}")
        self.rejected(path, "earlier, incompatible version")
        write(path, f"PRAGMA application_id = {_database._APPLICATION_ID}")
        self.rejected(path, "damaged", "schema version")

    def test_newer_schema(self):
        path = self.empty("UPDATE meta SET value = 99 WHERE key = 'compatible_version'")
        self.rejected(path, "written by kymo 0.1.0", "use the newer kymo")

    def test_newer_schema_that_is_compatible_is_read_with_the_views_of_this_version(self):
        path = self.empty(
            "UPDATE meta SET value = 999 WHERE key = 'schema_version'; PRAGMA user_version = 999",
            "UPDATE meta SET value = '9.0.0' WHERE key = 'kymo_version'",
            "DROP VIEW run_list; CREATE VIEW run_list AS SELECT 7 AS of_newer_kymo",
        )
        with _results.open(path) as database:
            self.assertIn("step_median_ms", database.rows("SELECT * FROM run_list")[0])

    def test_write_ahead_log(self):
        path = self.empty("PRAGMA journal_mode = WAL")
        self.rejected(path, "write-ahead log", "journal_mode = DELETE")

    def test_damaged_page(self):
        path = self.empty()
        content = bytearray(path.read_bytes())
        content[4096 * 2 : 4096 * 3] = os.urandom(4096)
        path.write_bytes(content)
        self.rejected(path, "damaged")

    def test_expressions_in_the_schema(self):
        for statement, found in (
            ("CREATE TABLE mine (a CHECK (hex(zeroblob(1000000)) > a))", "its table 'mine' has a CHECK"),
            ("ALTER TABLE run ADD COLUMN mine AS (hex(label))", "its table 'run' has generated columns"),
            ("CREATE INDEX mine ON run (hex(label))", "its index 'mine' has a condition or an expression"),
            ("CREATE TABLE mine (a DEFAULT (hex(zeroblob(9))))", "its table 'mine' has a default value"),
            ("CREATE VIRTUAL TABLE mine USING fts5(a)", "it contains a virtual table"),
            ("ALTER TABLE run ADD COLUMN mine TEXT", "its schema is not the one that kymo created (table run)"),
            ("DROP TABLE metric", "it lacks the table metric"),
        ):
            with self.subTest(statement):
                self.rejected(self.empty(statement), found)
                (self.work / "made.db").unlink()
        path = self.empty("CREATE TABLE mine (a DEFAULT 1); CREATE INDEX by_label ON run (label, ranks DESC); ANALYZE")
        with _results.open(path) as database:
            self.assertEqual(database.rows("SELECT count(*) FROM run")[1], [(0,)])

    def test_views_are_those_of_this_version(self):
        path = self.empty("DROP VIEW run_list; CREATE VIEW run_list AS SELECT 7 AS altered")
        content = path.read_bytes()
        with _results.open(path) as database:
            self.assertIn("step_median_ms", database.rows("SELECT * FROM run_list")[0])
        self.assertEqual(path.read_bytes(), content)

    def test_older_schema_is_migrated_in_a_copy(self):
        path = self.empty(migrations=1, views=False)
        content = path.read_bytes()
        with _results.open(path) as database:
            self.assertIn("median_confidence", database.rows("SELECT * FROM phase_time")[0])
            self.assertEqual(database.rows("SELECT count(*) FROM run_warning")[1], [(0,)])
        self.assertEqual(path.read_bytes(), content)

    def test_journal_of_a_killed_writer(self):
        path = self.empty()
        killed = (
            "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA cache_size = 1');"
            "c.execute('CREATE TABLE t (x)'); c.execute('BEGIN');"
            "c.executemany('INSERT INTO t VALUES (zeroblob(1000))', [()] * 1000); os._exit(0)"
        )
        subprocess.run([sys.executable, "-c", killed, str(path)], check=True)
        self.assertTrue(path.with_name("made.db-journal").exists())
        self.rejected(path, "left a journal", "kymo runs --db")
        self.kymo("runs", "--db", path)
        _results.open(path).close()

    def test_waits_for_a_writer_and_says_if_it_takes_too_long(self):
        path = self.empty()
        writer = sqlite3.connect(path)
        self.addCleanup(writer.close)
        writer.execute("BEGIN EXCLUSIVE")
        with mock.patch.object(_database, "_BUSY_SECONDS", 0.05):
            self.rejected(path, "another process has been writing")


class QueryTest(Fabricated):
    def setUp(self):
        super().setUp()
        self.database = _results.open(self.empty())
        self.addCleanup(self.database.close)

    def error_of(self, sql, *params):
        with self.assertRaises(_results.Error) as caught:
            self.database.rows(sql, *params)
        return str(caught.exception)

    def test_errors(self):
        self.assertIn("did you mean 'run_list'?", self.error_of("SELECT * FROM run_lst"))
        self.assertIn("db.views()", self.error_of("SELECT * FROM qqqqqqqqq"))
        self.assertIn("no such column: no_column", self.error_of("SELECT no_column FROM run"))
        self.assertIn("only SELECT", self.error_of("DELETE FROM run"))
        self.assertIn("only SELECT", self.error_of("CREATE TEMP TABLE x (y)"))
        with self.assertRaisesRegex(_results.Error, "no view or table 'fase_time'; did you mean 'phase_time'?"):
            self.database["fase_time"]

    def test_documentation_of_every_view(self):
        views = self.database.views()
        self.assertEqual([name for name in views if name.startswith("_")], [])
        self.assertEqual([name for name, text in views.items() if not text], [])
        self.assertRegex(views["run_list"], "One row per run")
        self.assertIn("phase_time", self.database._ipython_key_completions_())

    def test_statistics_functions_are_those_of_the_program(self):
        values = "(VALUES (1, 3), (1, 1.5), (1, NULL), (1, '7e0'), (2, 4), (2, 9223372036854775807), (3, NULL), (4, 5))"
        of_group = "median(v) AS m, percentile(v, 0) AS p0, percentile(v, 33.3) AS p33, percentile(v, 100) AS p100"
        queries = [
            f"SELECT g, {of_group}, stddev(v) AS s FROM (SELECT column1 AS g, column2 AS v FROM {values}) GROUP BY g",
            f"SELECT median(column2) AS m, stddev(column2) AS s FROM {values} WHERE column1 > 100",
        ]
        if sys.version_info >= (3, 11):
            window = "OVER (ORDER BY column1, column2 ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
            queries.append(f"SELECT median(column2) {window} AS m, stddev(column2) {window} AS s FROM {values}")
        for sql in queries:
            names, rows = self.database.rows(sql)
            expected = self.sql(sql, "made.db")
            self.assertEqual(len(rows), len(expected))
            for row, known in zip(rows, expected, strict=True):
                for name, value in zip(names, row, strict=True):
                    with self.subTest(sql=sql, name=name):
                        if isinstance(value, float):
                            self.assertAlmostEqual(value, known[name], delta=1e-12 * abs(value))
                        else:
                            self.assertEqual(value, known[name])

    def test_ratios_are_stated_as_by_the_program(self):
        ratios = "VALUES (0.001), (0.0612), (0.5), (0.666), (0.949), (0.9957), (1), (1.051), (1.4999), (1.5), (12.34)"
        sql = (
            f"WITH r(x) AS ({ratios}, (0), (-1), (NULL), ('a'), (9e999)) SELECT ratio_text(a.x) AS one, "
            "ratio_text(a.x, b.x) AS range, ratio_interval(c.x, a.x, b.x) AS interval FROM r a, r b, r c"
        )
        _, rows = self.database.rows(sql)
        known = self.sql(sql, "made.db")
        self.assertEqual(rows, [(row["one"], row["range"], row["interval"]) for row in known])
        self.assertIn(
            ("16.3 times as long", "5.1 % faster to 16.3 times as long", "5.1 % faster to 16.3 times as long"),
            self.database.rows(
                "SELECT ratio_text(1/0.0612), ratio_text(0.949, 1/0.0612), ratio_interval(2, 0.949, 1/0.0612)"
            )[1],
        )

    def test_errors_of_statistics_functions_are_those_of_the_program(self):
        for sql in (
            "SELECT median('a')",
            "SELECT percentile(1, 101)",
            "SELECT percentile(1, NULL)",
            "SELECT percentile(1, column1) FROM (VALUES (1), (2))",
        ):
            printed = self.kymo("sql", sql, "--db", "made.db", code=2).stderr.strip()
            self.assertEqual(self.error_of(sql).split(": ", 1)[1], printed.removeprefix("kymo: "))


@installed("pandas", "polars", "pyarrow")
class FrameTest(Fabricated):
    """Types of columns."""

    VALUES = "SELECT column1 AS a, column2 AS b, column3 AS c, column4 AS d FROM (VALUES {})"

    def setUp(self):
        super().setUp()
        self.database = _results.open(self.empty())
        self.addCleanup(self.database.close)

    def test_integers_stay_exact(self):
        sql = self.VALUES.format("(4611686018427387905, 1.5, 'x', 1), (NULL, 2, NULL, 'y')")
        frame = self.database.query(sql)
        self.assertEqual(frame.a[0], 4611686018427387905)
        self.assertEqual([str(frame[name].dtype) for name in "ab"], ["Int64", "float64"])
        self.assertTrue(frame.a.isna()[1] and frame.c.isna()[1])
        self.assertEqual(list(frame.d), [1, "y"])
        columns = self.database.polars(sql)
        self.assertEqual(columns.rows(), [(4611686018427387905, 1.5, "x", "1"), (None, 2.0, None, "y")])

    def test_no_rows_and_names_that_occur_twice(self):
        none = self.database.query("SELECT run_id, status FROM run")
        self.assertEqual((len(none), list(none.columns)), (0, ["run_id", "status"]))
        self.assertEqual(self.database.polars("SELECT run_id, status FROM run").columns, ["run_id", "status"])
        twice = self.database.query("SELECT 1 AS x, 2 AS x")
        self.assertEqual((list(twice.columns), twice.values.tolist()), (["x", "x"], [[1, 2]]))

    def test_parameters(self):
        self.assertEqual(self.database.query("SELECT ? AS x", [3]).x[0], 3)
        self.assertEqual(self.database.query("SELECT :name AS x", {"name": "y"}).x[0], "y")
        self.assertEqual(len(self.database.view("meta", "key = ?", ["kymo_version"])), 1)

    def test_missing_libraries(self):
        for name, call in (("pandas", self.database.query), ("polars", self.database.polars)):
            with (
                mock.patch.dict(sys.modules, {name: None}),
                self.assertRaisesRegex(_results.Error, f"pip install {name}"),
            ):
                call("SELECT 1 AS x")


class InWork(KymoTest):
    """kymo.run and kymo.compare in the folder and environment of the test."""

    def setUp(self):
        super().setUp()
        before = Path.cwd()
        os.chdir(self.work)
        self.addCleanup(os.chdir, before)
        patch = mock.patch.dict(os.environ, {"KYMO_PROGRAM": str(KYMO), **self.environment}, clear=True)
        patch.start()
        self.addCleanup(patch.stop)


@installed("pandas")
class RunTest(InWork):
    QUICK = {"steps": 5, "warmup": 1}

    def test_frame_of_a_sweep(self):
        results = _results.run("saxpy", axes={"n": [1024, 4096]}, set={"precision": "fp64"}, **self.QUICK)
        frame = results.frame
        self.assertEqual(list(frame.n), [1024, 4096])
        self.assertEqual(set(frame.precision) | set(frame.status), {"fp64", "ok"})
        self.assertTrue((frame.median_ms > 0).all() and (frame.compute_ms <= frame.max_ms).all())
        self.assertEqual(list(frame.footprint), [24576, 98304])
        stored = results.database["phase_time"].query("phase == 'step'")
        self.assertEqual([round(ms, 9) for ms in stored.median_ms], [round(ms, 9) for ms in frame.median_ms])
        self.assertEqual(len(results.runs), 2)
        self.assertEqual(list(results.warnings.columns), ["run_id", "kind", "detail"])
        self.assertIn("2 runs", repr(results.database))
        self.assertIn("<td>saxpy</td>", results.database._repr_html_())
        self.assertIn("<table", results._repr_html_())

    def test_times_of_phases_have_the_parameters_that_vary(self):
        results = _results.run("saxpy", axes={"n": [1024, 4096]}, **self.QUICK)
        frame = results.phase_times
        self.assertEqual(list(frame.columns)[:3], ["run_id", "n", "phase"])
        self.assertEqual(
            {(n, phase) for n, phase in zip(frame.n, frame.phase, strict=True)},
            {(n, phase) for n in (1024, 4096) for phase in ("step", "compute", "other")},
        )
        steps = frame[frame.phase == "step"]
        self.assertEqual(list(steps.median_ms), list(results.frame.median_ms))

    def test_nothing_is_measured_that_could_not_be_shown(self):
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with (
                mock.patch.object(_results, "kymo_json", side_effect=AssertionError),
                self.assertRaisesRegex(_results.Error, "pandas is not installed .* database=FILE"),
            ):
                _results.run("saxpy", **self.QUICK)
            results = _results.run("saxpy", database="kept.db", **self.QUICK)
            self.assertEqual(len(results.runs), 1)

    def test_temporary_database_lasts_as_long_as_its_results(self):
        results = _results.run("saxpy", set={"n": 64}, passes=["time"], **self.QUICK)
        database, path = results.database, results.path
        del results
        self.assertEqual(len(database["run_list"]), 1)
        self.assertTrue(path.exists())
        del database
        self.assertFalse(path.parent.exists())

    def test_words_of_the_command_line(self):
        with (
            mock.patch.object(_results, "kymo_json", return_value={"invocation_id": 1, "runs": []}) as called,
        ):
            _results.run(
                ["saxpy", Path("/x/y.so")],
                axes={"n": range(1, 3), "a": "1..4*2", "precision": None, "flag": (True, False)},
                passes=["time", "ops"],
                database="r.db",
                python="/usr/bin/python3",
                min_time=2,
                fresh=True,
                trust=False,
                label=None,
                plugin=["a.so", "b.so"],
            )
        self.assertEqual(
            " ".join(called.call_args[0][0]),
            "run saxpy /x/y.so --db r.db --python /usr/bin/python3 --axis n=1,2 --axis a=1..4*2 --axis precision "
            "--axis flag=true,false --passes time,ops --min-time 2 --fresh --plugin a.so --plugin b.so",
        )
        with self.assertRaisesRegex(_results.Error, "axis name: 'a,b' contains a comma"):
            _results.run("saxpy", axes={"name": ["a,b"]})

    def test_usage_errors_are_those_of_the_program(self):
        for wrong, message in (
            ({"workload": "saxpi"}, "did you mean 'saxpy'"),
            ({"workload": "saxpy", "stepz": 3}, "unknown option '--stepz'"),
            ({"workload": "saxpy", "set": {"n": -1}}, "parameter 'n'"),
            ({"workload": "saxpy", "database": "no/such/folder.db"}, "directory does not exist"),
        ):
            with self.assertRaisesRegex(_results.Error, message):
                _results.run(**wrong)

    def test_failed_runs_are_rows(self):
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            results = _results.run(
                PLUGINS / "throws.so", axes={"where": ["step", "nowhere"]}, passes="time", database="k.db", **self.QUICK
            )
        failed, fine = results.frame.to_dict("records")
        self.assertEqual((failed["status"], fine["status"]), ("failed", "ok"))
        self.assertIn("thrown on purpose", failed["detail"])
        self.assertIn("thrown on purpose", shown.getvalue())
        self.assertEqual(len(_results.open("k.db")["failures"]), 1)

    def test_interrupt_ends_the_program(self):
        code = (
            "from kymo import _results\n"
            "try: _results.run('saxpy', passes='time', steps=10**9, database='k.db')\n"
            "except KeyboardInterrupt: print('interrupted')\n"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PACKAGE)},
            start_new_session=True,
        )
        self.addCleanup(child.stdout.close)
        deadline = time.monotonic() + HANG_S
        while time.monotonic() < deadline:
            with contextlib.suppress(_results.Error, sqlite3.Error):
                if _results.open("k.db").rows("SELECT status FROM run")[1]:
                    break
            time.sleep(0.05)
        os.kill(child.pid, signal.SIGINT)
        self.assertEqual(child.communicate(timeout=HANG_S)[0], "interrupted\n")
        self.assertEqual(_results.open("k.db").rows("SELECT status FROM run")[1], [("interrupted",)])
        with self.assertRaises(ProcessLookupError):  # nothing of it is left
            os.killpg(child.pid, 0)

    def test_program_that_is_missing(self):
        os.environ["KYMO_PROGRAM"] = "/no/such/kymo"
        with self.assertRaisesRegex(_results.Error, "KYMO_PROGRAM: no program '/no/such/kymo'"):
            _results.run("saxpy")

    def python(self, code):
        """Runs a file mine.py with two workloads and this code."""
        (self.work / "mine.py").write_text(MINE + code)
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
        return subprocess.run(
            [sys.executable, "mine.py"], capture_output=True, text=True, env=environment, timeout=HANG_S, check=False
        )

    def test_class_and_function_of_a_script(self):
        done = self.python(
            "if __name__ == '__main__':\n"
            "    frame = kymo.run([Sums, products], set={'n': 7}, steps=3, passes='time').frame\n"
            "    print(list(zip(frame.workload, frame.n, frame.status)))\n"
        )
        self.assertEqual(done.stdout, "[('sums', 7, 'ok'), ('products', 7, 'ok')]\n", done.stderr)

    def test_run_while_the_workload_is_imported(self):
        done = self.python("kymo.run(Sums, steps=3, passes='time')\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("move it under 'if __name__ == \"__main__\":'", done.stderr)
        self.assertIn("(mine.py:", done.stderr)


@installed("pandas")
class CompareTest(InWork):
    def test_results_and_labels_and_databases(self):
        def measure(n, **options):
            return _results.run("saxpy", set={"n": 4096}, repeat=5, fresh=True, passes="time", steps=20, **options)

        first, second = measure(4096), measure(4096)
        self.assertEqual(_results.compare(first, second).before_runs[0], 5)
        # Synthetic times, independent of the machine.
        for results, base in ((first, 1e5), (second, 2e5)):
            values = f"median_ns = {base} + run_id, mean_ns = {base} + run_id, represented_by = 'median'"
            write(results.path, f"UPDATE statistic SET {values}")
            write(results.path, "DELETE FROM reference_loop")  # a busy machine would be noted
        slower = _results.compare(first, second).iloc[0]
        self.assertEqual((slower.verdict, slower.n, slower.notes), ("SLOWER", 4096, ""))
        self.assertAlmostEqual(slower.ratio, 2, places=3)
        self.assertAlmostEqual(slower.after_ms, 0.2, places=4)
        self.assertEqual(_results.compare(second.path, first.database).verdict[0], "FASTER")
        self.assertEqual(_results.compare(first, second.path, margin=0.6).verdict[0], "SLOWER")

        both = [measure(4096, database="k.db", label=label) for label in ("a", "b")]
        by_label = _results.compare("a", "b", database="k.db", phase="compute")
        self.assertEqual((by_label.before_runs[0], by_label.phase[0]), (5, "compute"))
        by_results = _results.compare(*both, phase="compute")
        self.assertEqual(json.loads(by_label.to_json()), json.loads(by_results.to_json()))
        with self.assertRaisesRegex(_results.Error, "also contains other runs"):
            _results.compare(first, both[0])
        with self.assertRaisesRegex(_results.Error, "no run has a phase 'komputt'; did you mean 'compute'"):
            _results.compare(*both, phase="komputt")


if __name__ == "__main__":
    unittest.main()
