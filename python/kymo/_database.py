# SPDX-License-Identifier: Apache-2.0
"""Results databases as data frames. Only reads: `kymo` is the only program that writes to them."""

import difflib
import html
import importlib
import os
import pathlib
import re
import sqlite3
import struct
import sys
import time

from . import _build
from ._sql_functions import add_sql_functions
from ._structure import problem_of

ROOT = pathlib.Path(__file__).absolute().parents[4]  # contains bin/, lib/ and share/; not resolved: links are allowed
_SCHEMAS = ROOT / "share" / "kymo" / "schemas"
DOCUMENTATION = ROOT / "share" / "doc" / "kymo" / "docs" / "schema.md"

_APPLICATION_ID = 0x6B796462  # "kydb"
_INCOMPATIBLE_APPLICATION_IDS = (0x6B796D6F, 0x6B796D72)
_HEADER_BYTES = 100
_CHECKED_BYTES = 8 << 20
_BUSY_SECONDS = 10  # while `kymo` writes
_RUNS_SHOWN = 20
_MAX_VALUE_BYTES = 4 << 20  # more than kymo stores
_CHECK_SECONDS = 10  # of processor time; checking 8 MiB takes 0.03 s
_INSTRUCTIONS_PER_CHECK = 100_000


class Error(Exception):
    """An invalid argument or database. The message states the error, its location and a correction."""


def schema_scripts(kind):
    """The SQL files of the tables ('migrations', in the order in which they are applied) or of the 'views'."""
    return sorted((_SCHEMAS / kind).glob("*.sql"))


def _check_header(path):
    """Reject a file that is not a results database, before SQLite opens it."""

    def reject(why):
        raise Error(f"database '{path}': {why}")

    if not path.exists():
        reject("no such file; create it with kymo.run(..., database=FILE) or `kymo run --db FILE`")
    if not path.is_file():
        reject("not a regular file; specify another file")
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError as error:
        reject(f"cannot be read ({error.strerror}); check its permissions")
    if not header:
        reject("the file is empty; fill it with kymo.run(..., database=FILE) or `kymo run --db FILE`")
    if len(header) < _HEADER_BYTES or not header.startswith(b"SQLite format 3\0"):
        reject("not an SQLite database; specify another file")
    (application_id,) = struct.unpack_from(">I", header, 68)
    if application_id in _INCOMPATIBLE_APPLICATION_IDS:
        reject("written by an earlier, incompatible version of kymo and cannot be read; specify another file")
    if application_id != _APPLICATION_ID:
        reject("an SQLite database, but not a results database of kymo; specify another file")
    if 2 in header[18:20]:
        reject("uses a write-ahead log; switch back with `sqlite3 FILE 'PRAGMA journal_mode = DELETE'`")


def _check_version(connection, path):
    """Return the schema version of the database."""
    damaged = Error(
        f"database '{path}': the file is damaged: its schema version is missing or inconsistent; use a copy"
    )
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'").fetchone():
        raise damaged
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    compatible = str(meta.get("compatible_version", ""))
    if version < 1 or str(meta.get("schema_version")) != str(version) or not compatible.isdigit():
        raise damaged
    known = len(schema_scripts("migrations"))
    if int(compatible) > known:
        raise Error(
            f"database '{path}': written by kymo {meta.get('kymo_version')} with schema {version}, but this is kymo "
            f"{_build.VERSION} with schema {known}; use the newer kymo"
        )
    return version


def _with_current_schema(connection, path):
    """Return a connection to the data of the database with the views of this version of kymo.

    Tables of an older schema are migrated in a copy in memory. The views of the file are hidden by temporary ones, as
    in the program.
    """
    version = _check_version(connection, path)
    later = schema_scripts("migrations")[version:]
    if later:
        copy = sqlite3.connect(":memory:", check_same_thread=False)
        connection.backup(copy)
        connection.close()
        connection = copy
        for script in later:
            connection.executescript(script.read_text(encoding="utf-8"))
    for script in schema_scripts("views"):
        connection.executescript(script.read_text(encoding="utf-8").replace("\nCREATE VIEW ", "\nCREATE TEMP VIEW "))
    connection.execute("PRAGMA query_only = ON")
    return connection


def _load_schema(connection):
    """Read the schema with tight limits: SQLite also reads the table of ANALYZE's statistics, whose generated columns
    cannot be checked before."""
    if sys.version_info < (3, 11):  # without setlimit()
        return
    limits = {sqlite3.SQLITE_LIMIT_LENGTH: 100_000, sqlite3.SQLITE_LIMIT_VDBE_OP: 250}
    previous = {limit: connection.setlimit(limit, value) for limit, value in limits.items()}
    connection.execute("SELECT count(*) FROM main.sqlite_master").fetchone()
    for limit, value in previous.items():
        connection.setlimit(limit, value)


def _check_content(connection, path):
    """Reject a file whose schema contains expressions, before SQLite evaluates them, and a damaged one."""
    end = time.thread_time() + _CHECK_SECONDS
    connection.set_progress_handler(lambda: time.thread_time() > end, _INSTRUCTIONS_PER_CHECK)
    _load_schema(connection)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    migrations = schema_scripts("migrations")
    known = migrations[:version] if 1 <= version <= len(migrations) else []
    if connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'").fetchone():
        problem = problem_of(connection, [script.read_text(encoding="utf-8") for script in known])
        if problem:
            raise Error(f"database '{path}': {problem}; use a copy or another file")
    if path.stat().st_size <= _CHECKED_BYTES:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
    connection.set_progress_handler(None, 0)


def _connect(path):
    _check_header(path)
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS, check_same_thread=False
    )
    if sys.version_info >= (3, 11):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    connection.executescript(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY"
    )
    try:
        _check_content(connection, path)
        return _with_current_schema(connection, path)
    except sqlite3.DatabaseError as error:
        connection.close()
        if "readonly" in str(error):  # SQLITE_READONLY_ROLLBACK
            raise Error(
                f"database '{path}': a writer that did not end normally left a journal, which must be rolled back "
                f"first; run `kymo runs --db FILE`"
            ) from None
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise Error(
                f"database '{path}': another process has been writing for {_BUSY_SECONDS} s; try again"
            ) from None
        raise Error(f"database '{path}': the file is damaged ({error}); use a copy or another file") from None
    except BaseException:
        connection.close()
        raise


def _module(name, extra):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise Error(f"{name} is not installed in this environment: pip install {extra}") from None


def _series(pandas, values):
    """Keep integers exact: a column of integers with NULLs is Int64, because float64 rounds times in ns."""
    kinds = set(map(type, values))
    if kinds == {int, type(None)}:
        return pandas.array(values, dtype="Int64")
    if kinds and kinds <= {int, float, type(None)} and float in kinds:
        return pandas.array([float("nan") if value is None else float(value) for value in values], dtype="float64")
    return values if kinds == {int} or kinds == {str} else pandas.Series(values, dtype=object)


def frame(names, rows):
    """Return a data frame of rows with these column names."""
    pandas = _module("pandas", "pandas")
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    frame = pandas.DataFrame({at: _series(pandas, list(column)) for at, column in enumerate(columns)})
    frame.columns = list(names)  # two columns of a query may have the same name
    return frame


class Database:
    """A results database, opened read-only.

        db = kymo.open("kymo.db")
        db["phase_time"]                                   # a view as a data frame
        db.query("SELECT * FROM step_time WHERE run_id = ?", [3])
        db.views()                                         # all views and what they contain

    Besides SQLite's functions, queries may use median(x), percentile(x, p) with p from 0 to 100, stddev(x),
    ratio_text(ratio), ratio_text(low, high) and ratio_interval(ratio, low, high).
    """

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self._errors = []
        self._connection = _connect(self.path)
        add_sql_functions(self._connection, self._errors)

    def close(self):
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def rows(self, sql, params=()):
        """Return the column names and the rows of a query. Raises Error if the query is invalid."""
        self._errors.clear()
        try:
            cursor = self._connection.execute(sql, params)
            return [column[0] for column in cursor.description or ()], cursor.fetchall()
        except sqlite3.DatabaseError as error:
            raise Error(f"database '{self.path}': {self._explain(str(error))}") from None

    def batches(self, sql, size):
        """Yield the rows of a query in lists of at most `size`, so that memory does not grow with the result."""
        self._errors.clear()
        try:
            cursor = self._connection.execute(sql)
            while rows := cursor.fetchmany(size):
                yield rows
        except sqlite3.DatabaseError as error:
            raise Error(f"database '{self.path}': {self._explain(str(error))}") from None

    def _explain(self, message):
        if self._errors:
            return f"invalid statement: {self._errors[0]}"
        if "string or blob too big" in message:
            return (
                f"a value is larger than {_MAX_VALUE_BYTES >> 20} MiB: the statement computes it, or the file is "
                "damaged"
            )
        if "readonly" in message:
            return "the statement is not a read-only query; only SELECT (or WITH ... SELECT) is allowed"
        unknown = re.match(r"no such table: (?:\w+\.)?(\w+)", message)
        return f"invalid statement: {message}" + (self._suggestion(unknown[1]) if unknown else "")

    def _names(self):
        """All tables and views but the private ones, `_*`; a temporary view hides that of the file."""
        sql = (
            "SELECT name, type FROM (SELECT name, type FROM sqlite_master UNION SELECT name, type FROM "
            "temp.sqlite_master) WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' AND name NOT GLOB '_*' "
            "ORDER BY name"
        )
        return dict(self._connection.execute(sql).fetchall())

    def _suggestion(self, name):
        near = difflib.get_close_matches(name, self._names(), n=1)
        return f"; did you mean '{near[0]}'?" if near else "; list the views with db.views()"

    def query(self, sql, params=()):
        """Return the result of a SELECT statement as a pandas.DataFrame. `params` are the values of its `?`, or of its
        `:name` as a dictionary."""
        return frame(*self.rows(sql, params))

    def arrow(self, sql, params=()):
        """Return the result of a SELECT statement as a pyarrow.Table. A column of mixed types becomes text."""
        pyarrow = _module("pyarrow", "pyarrow")
        names, rows = self.rows(sql, params)
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)

        def array(values):
            kinds = set(map(type, values)) - {type(None)}
            if len(kinds) > 1 and not kinds <= {int, float}:
                values = [value if value is None else str(value) for value in values]
            return pyarrow.array(values)

        return pyarrow.Table.from_arrays([array(column) for column in columns], names=names)

    def polars(self, sql, params=()):
        """Return the result of a SELECT statement as a polars.DataFrame, through Arrow."""
        return _module("polars", "polars pyarrow").from_arrow(self.arrow(sql, params))

    def _check_name(self, name):
        if name not in self._names():
            raise Error(f"database '{self.path}': no view or table '{name}'{self._suggestion(name)}")

    def view(self, name, where="", params=()):
        """Return a view or table as a pandas.DataFrame; `where` is an SQL condition such as "run_id = 3"."""
        self._check_name(name)
        return self.query(f'SELECT * FROM "{name}"' + (f" WHERE {where}" if where else ""), params)

    __getitem__ = view

    def columns(self, name):
        """Return the names of the columns of a view or table. Raises Error if there is none of this name."""
        self._check_name(name)
        return self.rows(f'SELECT * FROM "{name}" LIMIT 0')[0]

    def views(self):
        """Return a dictionary of the names of all views and what they contain."""
        documented = dict(
            re.findall(r"^### (\w+)\n\n(.+)$", DOCUMENTATION.read_text(encoding="utf-8"), re.MULTILINE)
            if DOCUMENTATION.exists()
            else ()
        )
        return {name: documented.get(name, "") for name, kind in self._names().items() if kind == "view"}

    def _ipython_key_completions_(self):
        return list(self._names())

    def _runs(self):
        """The newest runs, oldest first."""
        names, rows = self.rows(
            "SELECT run_id, workload, parameters, device_kind AS device, status, step_median_ms, "
            "started_at FROM run_list "
            f"ORDER BY run_id DESC LIMIT {_RUNS_SHOWN}"
        )
        count = self.rows("SELECT count(*) FROM run")[1][0][0]
        title = f"{self.path}: {count} run{'' if count == 1 else 's'}" + (
            f", the newest {_RUNS_SHOWN}:" if count > _RUNS_SHOWN else ""
        )
        return title, names, [["" if cell is None else str(cell) for cell in row] for row in reversed(rows)]

    def __repr__(self):
        title, names, rows = self._runs()
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [names, *rows]
        ]
        return "\n".join([title, *(line.rstrip() for line in lines)])

    def _repr_html_(self):
        title, names, rows = self._runs()

        def line(tag, cells):
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line("td", row) for row in rows)
        return f"<p>{html.escape(title)}</p><table><thead>{line('th', names)}</thead><tbody>{body}</tbody></table>"


def open(path):
    """Open a results database read-only. Raises Error if the file is not one that this version of kymo reads."""
    return Database(os.fspath(path))
