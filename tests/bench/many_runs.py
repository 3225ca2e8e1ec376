#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a results database with many runs, to measure the time and the memory of reports: copies the runs of a real
database, with all of their records, until there are `--runs` runs.

  kymo suite run cs336 --profile small --db small.db
  many_runs.py small.db many.db --runs 10000

By default, each copy is a new invocation of the same cases, a day later: reports show the newest. With --as-cases, each
copy has cases of its own, of which reports show as many as --max-runs allows. Times of a copy are up to 10 % longer
than the original's.
"""

import argparse
import pathlib
import shutil
import sqlite3
import sys

KEYS = ("case_key", "settings_key", "plan_key")
# Times of a run that statistics and reports are made of; the records of a trace keep theirs.
TIMES = {
    "sample": ("host_ns", "device_ns"),
    "step_duration": ("host_ns", "device_ns"),
    "statistic": ("mean_ns", "std_ns", "median_ns", "median_low_ns", "median_high_ns", "min_ns", "max_ns"),
}


def copied_columns(db, table, runs, invocations, as_cases):
    """Returns the columns of a table, and for each the expression of its value in copy `i`."""
    columns = [row[1] for row in db.execute(f"PRAGMA table_info('{table}')")]
    changed = {"run_id": f"run_id + {runs} * i", "invocation_id": f"invocation_id + {invocations} * i"}
    if table == "invocation":
        changed |= {"uuid": "uuid || '-' || i"}
        changed |= {c: f"strftime('%Y-%m-%dT%H:%M:%fZ', {c}, i || ' days')" for c in ("started_at", "ended_at")}
    if as_cases:
        changed |= {key: f"{key} || '-' || i" for key in KEYS}
    changed |= {c: f"CAST({c} * (1 + 0.01 * (i * 7 % 11)) AS INTEGER)" for c in TIMES.get(table, ())}
    return columns, [changed.get(c, f'"{c}"') for c in columns]


def multiply_runs(database, wanted, as_cases=False):
    """Adds copies of all runs of a database to it until there are at least `wanted` runs. Returns their number."""
    db = sqlite3.connect(database)
    tables = [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    ]
    ((count, runs),) = db.execute("SELECT count(*), max(run_id) FROM run")
    ((invocations,),) = db.execute("SELECT max(invocation_id) FROM invocation")
    copies = -(-wanted // count) - 1
    for table in tables:
        columns, values = copied_columns(db, table, runs, invocations, as_cases)
        last = {"run_id": runs, "invocation_id": invocations}.get(columns[0])
        if last is None:
            continue
        for i in range(1, copies + 1):
            db.execute(
                f'INSERT INTO "{table}" SELECT {", ".join(values)} FROM "{table}", (SELECT {i} AS i) '
                f"WHERE {columns[0]} <= {last}"
            )
    db.commit()
    db.close()
    return count * (copies + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--as-cases", action="store_true")
    arguments = parser.parse_args()
    shutil.copyfile(arguments.database, arguments.out)
    print(f"{multiply_runs(arguments.out, arguments.runs, arguments.as_cases)} runs in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
