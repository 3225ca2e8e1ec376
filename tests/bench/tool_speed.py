#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the speed of kymo itself: `kymo list` with a warm catalog, and a report on a database with many runs.

  tool_speed.py BUILD [--runs 10000] [--calls 20]

Prints one line per measurement: name, median, minimum and maximum of the calls, and the required bound.
"""

import argparse
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

WORDS = ("--set", "n=1024", "--warmup", "1", "--steps", "10", "--no-verify")


def timed(command, calls, **options):
    seconds = []
    for _ in range(calls):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)
        seconds.append(time.perf_counter() - start)
    return seconds


def show(name, seconds, bound_s):
    median = statistics.median(seconds)
    print(
        f"{name}: median {1e3 * median:.1f} ms, {1e3 * min(seconds):.1f} to {1e3 * max(seconds):.1f} ms, "
        f"bound {1e3 * bound_s:.0f} ms"
    )
    return median < bound_s


def multiply_runs(database, wanted):
    """Copies the single run of a real database until there are `wanted` runs, each a case of its own."""
    db = sqlite3.connect(database)
    (run_id,) = db.execute("SELECT max(run_id) FROM run").fetchone()
    for (table,) in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall():
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        if "run_id" not in columns:
            continue
        renewed = {"run_id": "i", "case_key": "'c' || i", "settings_key": "'s' || i", "plan_key": "'p' || i"}
        if table == "run":
            renewed["sequence"] = "i"
        values = ", ".join(renewed.get(c, c) for c in columns)
        db.execute(
            f"WITH RECURSIVE n(i) AS (SELECT {run_id + 1} "
            f"UNION ALL SELECT i + 1 FROM n WHERE i < {run_id + wanted - 1}) "
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table}, n WHERE run_id = {run_id}"
        )
    db.commit()
    db.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=20)
    arguments = parser.parse_args()
    kymo = str(arguments.build.resolve() / "bin" / "kymo")
    subprocess.run([kymo, "list"], check=True, stdout=subprocess.DEVNULL)  # fills the catalog's cache
    kept = show("list, warm", timed([kymo, "list"], arguments.calls), 0.050)

    folder = pathlib.Path(tempfile.mkdtemp(prefix="kymo-bench"))
    try:
        database = folder / "many.db"
        subprocess.run([kymo, "run", "saxpy", *WORDS, "--db", str(database)], check=True, stdout=subprocess.DEVNULL)
        multiply_runs(database, arguments.runs)
        command = [kymo, "report", "quick", "--db", str(database), "--out", str(folder / "out"), "--format", "markdown"]
        kept &= show(f"report on {arguments.runs} runs", timed(command, 5), 0.9)
    finally:
        shutil.rmtree(folder)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
