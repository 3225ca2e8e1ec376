# SPDX-License-Identifier: Apache-2.0
"""kymo export duckdb: a DuckDB database over the Parquet files of `kymo export parquet`.

Its tables are those of all files as if their databases had been merged: a run, a string, a device … has one id, and a
run that several databases contain counts once. Tables with rows of runs are views of the files. The views of kymo
follow, as far as DuckDB runs them.
"""

import os
import pathlib
import sqlite3

import kymo
from kymo._database import schema_scripts

from kymo_commands import UsageError, require, sql_text
from kymo_commands._dialect import MACROS, translate
from kymo_commands.parquet import MIXED, SCHEMA_VERSION, columns_of_tables, type_column

TYPES = {"INTEGER": "BIGINT", "REAL": "DOUBLE", "TEXT": "VARCHAR", MIXED: "VARIANT"}
# What identifies a row of the tables without runs in all databases: the id is that of the first such row.
_IDENTITIES = {"invocation": "uuid", "plugin": "sha256", "device": "uuid", "string": "text"}
_NO_REFERENCES = ("correlation_id",)


def current_tables():
    """Return the tables of the current schema; see columns_of_tables()."""
    connection = sqlite3.connect(":memory:")
    try:
        for script in schema_scripts("migrations"):
            connection.executescript(script.read_text(encoding="utf-8"))
        return columns_of_tables(lambda sql, values=(): connection.execute(sql, values).fetchall())
    finally:
        connection.close()


def _referred(column):
    """The table whose id a column holds, or None."""
    if not column.endswith("_id") or column in _NO_REFERENCES:
        return None
    owner = column.removesuffix("_id")
    return owner if owner in ("run", *_IDENTITIES) else "string"


def _files(folder, table):
    return f"read_parquet({sql_text(f'{folder}/*/*/{table}.parquet')}, hive_partitioning = true, union_by_name = true)"


def _stored(folder, table, columns):
    """A query of the stored rows of a table, with the columns machine and database."""
    if any(folder.glob(f"*/*/{table}.parquet")):
        return f"SELECT * FROM {_files(folder, table)}"
    types = {"machine": "VARCHAR", "database": "VARCHAR"}
    for name, kind, _ in columns:
        types[name] = "VARCHAR" if kind == MIXED else TYPES[kind]
        if kind == MIXED:
            types[type_column(name)] = "VARCHAR"
    return "SELECT " + ", ".join(f'CAST(NULL AS {kind}) AS "{name}"' for name, kind in types.items()) + " WHERE false"


def _value(name, kind):
    if kind != MIXED:
        return f't."{name}"'
    return (
        f"CASE t.{type_column(name)} WHEN 'integer' THEN CAST(CAST(t.{name} AS BIGINT) AS VARIANT) "
        f"WHEN 'real' THEN CAST(CAST(t.{name} AS DOUBLE) AS VARIANT) ELSE CAST(t.{name} AS VARIANT) END"
    )


def _merged(table, stored, columns):
    """A query of the rows of a table with the ids of all databases."""
    selected, joins = [], []
    for name, kind, _ in columns:
        owner = _referred(name)
        if owner is None:
            selected.append(f'{_value(name, kind)} AS "{name}"')
            continue
        ids = f"ids_{len(joins)}"
        outer = "" if owner == "run" else "LEFT "  # a run that another database contains too counts once
        joins.append(
            f'{outer}JOIN _{owner}_id {ids} ON {ids}.stored_id = t."{name}" AND {ids}.machine = t.machine '
            f"AND {ids}.database = t.database"
        )
        selected.append(f'{ids}.id AS "{name}"')
    rows = f"FROM ({stored}) t {' '.join(joins)}"
    if "run_id" in [name for name, _, _ in columns]:
        return f"SELECT {', '.join(selected)} {rows}"
    # Other rows may be in several databases. The keys are those of the result, with the ids of all databases.
    keys = ", ".join(f'"{name}"' for name, _, key in columns if key)
    return (
        f"SELECT * EXCLUDE (of_machine, of_database) FROM (SELECT {', '.join(selected)}, t.machine AS of_machine, "
        f"t.database AS of_database {rows}) QUALIFY row_number() OVER (PARTITION BY {keys} "
        "ORDER BY of_machine, of_database) = 1"
    )


def _create_ids(connection, stored):
    """For each stored id its id among those of all databases, in the order of the databases."""
    for table, identity in _IDENTITIES.items():
        connection.execute(
            f"CREATE TABLE _{table}_id AS SELECT machine, database, stored_id, "
            f'min(position) OVER (PARTITION BY "{identity}") AS id FROM (SELECT machine, database, '
            f'{table}_id AS stored_id, "{identity}", row_number() OVER (ORDER BY machine, database, {table}_id) '
            f"AS position FROM ({stored[table]}))"
        )
    connection.execute(
        "CREATE TABLE _run_id AS SELECT r.machine, r.database, r.run_id AS stored_id, "
        f"row_number() OVER (ORDER BY r.machine, r.database, r.run_id) AS id FROM ({stored['run']}) r "
        "JOIN _invocation_id i ON i.stored_id = r.invocation_id AND i.machine = r.machine AND i.database = r.database "
        "WHERE r.status <> 'running' QUALIFY row_number() OVER (PARTITION BY i.id, r.sequence ORDER BY r.machine, "
        "r.database) = 1"
    )


def _create_tables(connection, folder):
    tables = current_tables()
    stored = {table: _stored(folder, table, columns) for table, columns in tables.items()}
    _create_ids(connection, stored)
    for table, columns in tables.items():
        has_events = table != "run" and "run_id" in [name for name, _, _ in columns]
        query = _merged(table, stored[table], columns)
        connection.execute(f'CREATE {"VIEW" if has_events else "TABLE"} "{table}" AS {query}')


def create_views(connection):
    """Create the views of kymo in a DuckDB connection that has its tables. Return the reasons of those that DuckDB does
    not run, by name."""
    duckdb = require("duckdb", "duckdb", "kymo export duckdb")
    for macro in MACROS:
        connection.execute(f"CREATE MACRO {macro}")
    waiting = {}
    for script in schema_scripts("views"):
        waiting |= translate(script.read_text(encoding="utf-8"))
    reasons = {}
    while waiting:  # a view may use one of a later file
        created = []
        for name, statement in waiting.items():
            try:
                connection.execute(statement)
                created.append(name)
            except duckdb.Error as error:
                reasons[name] = str(error).partition("\n")[0]
        if not created:
            break
        for name in created:
            del waiting[name]
    return {name: reasons[name] for name in waiting}


def _check_versions(connection, folder):
    known = len(schema_scripts("migrations"))
    files = sql_text(f"{folder}/*/*/meta.parquet")
    for file, version in connection.execute(
        f"SELECT file_name, decode(value) FROM parquet_kv_metadata({files}) WHERE decode(key) = ?", [SCHEMA_VERSION]
    ).fetchall():
        if int(version) != known:
            raise UsageError(
                f"'{pathlib.Path(file).parent}' has schema {version}, but this is kymo with schema {known}: export its "
                "database again with `kymo export parquet --replace`"
            )


def main(options):
    duckdb = require("duckdb", "duckdb", "kymo export duckdb")
    folder = pathlib.Path(options["folder"]).resolve()
    if not any(folder.glob("*/*/meta.parquet")):
        raise UsageError(f"'{folder}' contains no files of `kymo export parquet`; pass the folder of its --out")
    file = pathlib.Path(options["file"])
    partial = file.with_name(f".{file.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        with duckdb.connect(os.fspath(partial)) as connection:
            _check_versions(connection, folder)
            _create_tables(connection, folder)
            missing = create_views(connection)
            (runs,) = connection.execute("SELECT count(*) FROM run").fetchone()
        partial.replace(file)
    except (duckdb.Error, OSError) as error:
        raise kymo.Error(f"cannot write '{file}': {error}") from None
    finally:
        partial.unlink(missing_ok=True)
    print(f"{file}: {runs} runs")
    for name, reason in missing.items():
        print(f"  without view {name}: {reason}")
    return 0
