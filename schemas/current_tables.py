# SPDX-License-Identifier: Apache-2.0
"""Writes the statements that create the tables and indexes that a database has after all migrations.

    current_tables.py OUTPUT.sql MIGRATION.sql...

SQLite reads the whole schema again after each ALTER TABLE, so that the migrations take several times as long. Fails if
the migrations leave rows in a new database.
"""

import pathlib
import sqlite3
import sys


def main(output, migrations):
    database = sqlite3.connect(":memory:")
    for file in migrations:
        database.executescript(pathlib.Path(file).read_text(encoding="utf-8"))
    entries = list(database.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"))
    for kind, name, _ in entries:
        if kind == "table" and database.execute(f'SELECT count(*) FROM "{name}"').fetchone() != (0,):
            sys.exit(f"current_tables.py: the migrations leave rows in table {name} of a new database")
    pathlib.Path(output).write_text("".join(f"{sql};\n" for _, _, sql in entries), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
