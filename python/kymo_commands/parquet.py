# SPDX-License-Identifier: Apache-2.0
"""kymo export parquet: the tables of databases as Parquet files, one per table, in a folder per database.

OUT/machine=HOST/database=NAME/TABLE.parquet; readers that know Hive partitions add the columns machine and database.
"""

import hashlib
import os
import pathlib
import re
import tempfile

import kymo
from kymo._build import VERSION
from kymo._database import schema_scripts

from kymo_commands import UsageError, require

SCHEMA_VERSION = "kymo.schema_version"
MIXED = "BLOB"  # declared type of columns whose values have different types
_ROWS_AT_ONCE = 16384
_SEVERAL = "several"  # machine of a database with invocations of several machines, or of none
_TYPE_NAMES = {int: "integer", float: "real", str: "text"}


def columns_of_tables(rows):
    """Return the tables of a database: for each name its columns, as (name, declared type, position in the key).
    `rows(sql, values)` returns the rows of a query."""
    names = rows("SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
    return {name: rows("SELECT name, type, pk FROM pragma_table_info(?, 'main')", [name]) for (name,) in names}


def type_column(name):
    """The column with the types of the values of a column of mixed types: integer, real or text."""
    return f"{name}_type"


class _Columns:
    """The columns of a table in SQLite and in Parquet. A column of mixed types becomes text."""

    def __init__(self, pyarrow, declared):
        types = {"INTEGER": pyarrow.int64(), "REAL": pyarrow.float64()}
        self._pyarrow = pyarrow
        self._is_mixed = [kind == MIXED for _, kind, _ in declared]
        self.fields = []
        for name, kind, _ in declared:
            self.fields.append(pyarrow.field(name, types.get(kind, pyarrow.string())))
            if kind == MIXED:
                self.fields.append(pyarrow.field(type_column(name), pyarrow.string()))

    def arrays(self, rows):
        values = []
        for column, is_mixed in zip(zip(*rows, strict=True), self._is_mixed, strict=True):
            values.append([None if value is None else str(value) for value in column] if is_mixed else column)
            if is_mixed:
                values.append([None if value is None else _TYPE_NAMES[type(value)] for value in column])
        return [self._pyarrow.array(column, type=field.type) for column, field in zip(values, self.fields, strict=True)]


def _write_table(database, table, declared, file, metadata):
    """Write the rows of a table, a batch at a time, and return their number. Without rows there is no file."""
    pyarrow = require("pyarrow", "pyarrow", "kymo export parquet")
    parquet = require("pyarrow.parquet", "pyarrow", "kymo export parquet")
    columns = _Columns(pyarrow, declared)
    schema = pyarrow.schema(columns.fields, metadata={**metadata, "kymo.table": table})
    count = 0
    writer = None
    try:
        for rows in database.batches(f'SELECT * FROM main."{table}"', _ROWS_AT_ONCE):
            if writer is None:
                writer = parquet.ParquetWriter(file, schema, compression="zstd")
            writer.write_batch(pyarrow.record_batch(columns.arrays(rows), schema=schema))
            count += len(rows)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, KeyError) as error:
        raise kymo.Error(
            f"database '{database.path}', table {table}: a value has another type than its column ({error}): the "
            "database is damaged, or another program changed it; use a copy or another file"
        ) from None
    finally:
        if writer is not None:
            writer.close()
    return count


def _file_name(text):
    return re.sub(r"[^\w.-]", "_", text)


def _machine(database):
    hosts = database.rows("SELECT DISTINCT value FROM environment WHERE name = 'host' LIMIT 2")[1]
    return _file_name(hosts[0][0]) if len(hosts) == 1 else _SEVERAL


def _name(path):
    """A name that differs between files of the same name in different folders."""
    return f"{_file_name(path.stem)}-{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:8]}"


def _export(path, out, replace):
    with kymo.open(path) as database:
        folder = out / f"machine={_machine(database)}" / f"database={_name(database.path)}"
        if folder.exists() and not replace:
            raise UsageError(f"'{folder}' exists: '{path}' has been exported before; pass --replace to export it again")
        metadata = {
            SCHEMA_VERSION: str(len(schema_scripts("migrations"))),
            "kymo.version": VERSION,
            "kymo.database": str(database.path.resolve()),
        }
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=out) as partial:
            written = pathlib.Path(partial) / "tables"
            written.mkdir()
            counts = {
                table: _write_table(database, table, declared, written / f"{table}.parquet", metadata)
                for table, declared in columns_of_tables(lambda *query: database.rows(*query)[1]).items()
            }
            if folder.exists():
                folder.rename(pathlib.Path(partial) / "replaced")
            written.rename(folder)
    return folder, counts


def main(options):
    out = pathlib.Path(options["out"])
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path in options["databases"]:
            folder, counts = _export(path, out, options["replace"])
            tables = sum(map(bool, counts.values()))
            print(f"{folder}: {counts['run']} runs, {sum(counts.values())} rows in {tables} tables", flush=True)
    except OSError as error:
        raise kymo.Error(
            f"'{out}': cannot be written ({error.strerror}); check its permissions and free space"
        ) from None
    return 0
