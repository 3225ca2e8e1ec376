#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the speed of kymo itself: `kymo list` with a warm catalog, what a run costs in addition to its steps, many
cases in one call, and a report on a database with many runs.

  tool_speed.py BUILD [--runs 10000] [--calls 20]

Prints one line per measurement: name, median, minimum and maximum of the calls, and the required bound.
"""

import argparse
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

from many_runs import multiply_runs

WORDS = ("--set", "n=1024", "--warmup", "1", "--steps", "10", "--no-verify")


def timed(command, calls, **options):
    seconds = []
    for _ in range(calls):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)
        seconds.append(time.perf_counter() - start)
    return seconds


def time_of_runs(kymo, folder, words):
    """Returns the wall time of one call with a new database, the time of its steps, and the peak memory of kymo."""
    database = folder / f"runs-{time.monotonic_ns()}.db"
    command = [kymo, "run", "saxpy", *WORDS, *words, "--db", str(database)]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - start
    if child.returncode != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    db = sqlite3.connect(database)
    ((steps_ns,),) = db.execute("SELECT sum(host_ns) FROM sample WHERE phase = 'step' AND pass = 'time'").fetchall()
    db.close()
    return wall_s, steps_ns / 1e9, usage.ru_maxrss


def cost_of_runs(kymo, folder, calls):
    """Returns the cost of each run of a reused worker: of 100 more repetitions, without their steps."""
    costs = []
    for _ in range(calls):
        few_s, few_steps_s, _ = time_of_runs(kymo, folder, ["--repeat", "10"])
        many_s, many_steps_s, _ = time_of_runs(kymo, folder, ["--repeat", "110"])
        costs.append((many_s - many_steps_s - few_s + few_steps_s) / 100)
    return costs


def show(name, seconds, bound_s):
    median = statistics.median(seconds)
    print(
        f"{name}: median {1e3 * median:.1f} ms, {1e3 * min(seconds):.1f} to {1e3 * max(seconds):.1f} ms, "
        f"bound {1e3 * bound_s:.0f} ms"
    )
    return median < bound_s


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=20)
    arguments = parser.parse_args()
    kymo = str(arguments.build.resolve() / "bin" / "kymo")
    subprocess.run([kymo, "list"], check=True, stdout=subprocess.DEVNULL)  # fills the catalog's cache
    kept = show("list, warm", timed([kymo, "list"], arguments.calls), 0.010)

    folder = pathlib.Path(tempfile.mkdtemp(prefix="kymo-bench"))
    try:
        kept &= show("run of a reused worker, without its steps", cost_of_runs(kymo, folder, 3), 0.020)
        wall_s, _, memory_kib = time_of_runs(kymo, folder, ["--axis", "a=1..1000+1"])
        kept &= show("each of 1000 cases", [wall_s / 1000], 0.030)
        _, _, memory_of_one_kib = time_of_runs(kymo, folder, [])
        print(f"peak memory: {memory_kib / 1024:.0f} MiB for 1000 cases, {memory_of_one_kib / 1024:.0f} MiB for one")

        database = folder / "many.db"
        subprocess.run([kymo, "run", "saxpy", *WORDS, "--db", str(database)], check=True, stdout=subprocess.DEVNULL)
        multiply_runs(database, arguments.runs, as_cases=True)
        command = [kymo, "report", "quick", "--db", str(database), "--out", str(folder / "out"), "--format", "markdown"]
        kept &= show(f"report on {arguments.runs} runs", timed(command, 5), 0.9)
    finally:
        shutil.rmtree(folder)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
