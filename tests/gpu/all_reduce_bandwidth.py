# SPDX-License-Identifier: Apache-2.0
"""Measures all_reduce, all_gather, reduce_scatter and broadcast of 1 GiB over NCCL on two GPUs, and checks algbw and
busbw of kymo against the formula of nccl-tests and against the bandwidth of NVLink in one direction. Broadcasts in a
group (workload sharded_optimizer) must not exceed that bandwidth either.

Usage: all_reduce_bandwidth.py KYMO [FOLDER]. The databases are written to FOLDER. Ends with 1 if a check fails, with 77
if there are fewer than two GPUs.
"""

import json
import os
import statistics
import sys
import tempfile

from gpu_tool import command, count_gpus, dropped_faults, rows, show, warnings

RANKS = 2
MESSAGE = 1 << 30
OPERATIONS = ("all_reduce", "reduce_scatter", "all_gather", "broadcast")
TOLERANCE = 0.02
NVLINK_GB_S = 450  # of an H100 or H200 with 18 links, in one direction
SLOWEST = """
SELECT max(coalesce(s.device_ns, s.host_ns)) AS ns FROM sample s
WHERE s.run_id = {} AND s.pass = 'time' AND s.phase = 'step' AND NOT s.warmup GROUP BY s.step
"""
SUMMARY = "SELECT run_id, operation, calls, launches, bytes, algbw_gb_s, busbw_gb_s FROM collective_summary"


def bus_factor(operation):
    """As in doc/PERFORMANCE.md of nccl-tests."""
    if operation == "broadcast":
        return 1
    return (2 if operation == "all_reduce" else 1) * (RANKS - 1) / RANKS


def differs(value, expected):
    return value is None or abs(value - expected) > TOLERANCE * expected


def implausible(what, busbw):
    return [f"{what}: busbw {busbw:.4g} GB/s exceeds {NVLINK_GB_S} GB/s"] if busbw and busbw > NVLINK_GB_S else []


def check_operation(kymo, database, run):
    """(what to print, faults) of one run."""
    operation = run["parameters"]["operation"]
    if run["status"] != "ok":
        return f"{operation}: {run['status']}", [f"{operation}: {run['detail']}"]
    step = run["phases"]["step"]
    seconds = statistics.median(row["ns"] for row in rows(kymo, database, SLOWEST.format(run["run_id"]))) / 1e9
    algbw = MESSAGE / seconds / 1e9
    faults = implausible(operation, step["busbw_gb_s"])
    for name, expected in (("algbw_gb_s", algbw), ("busbw_gb_s", algbw * bus_factor(operation))):
        if differs(step.get(name), expected):
            faults.append(f"{operation}: {name} is {step.get(name)}, expected {expected:.4g}")
    if "bytes_per_s" in step:
        faults.append(f"{operation}: declares work")
    line = f"{operation}: {1e3 * seconds:.4g} ms, algbw {step['algbw_gb_s']:.4g}, busbw {step['busbw_gb_s']:.4g} GB/s"
    return line, faults


def check_calls(kymo, database):
    """The traced calls: transfers only, without the wait for the last rank."""
    lines, faults = [], []
    for row in rows(kymo, database, SUMMARY):
        lines.append(json.dumps(row))
        if row["busbw_gb_s"]:
            faults += implausible(f"trace of {row['operation']}", row["busbw_gb_s"])
            is_alone = row["calls"] == row["launches"]
            if is_alone and differs(row["busbw_gb_s"], row["algbw_gb_s"] * bus_factor(row["operation"])):
                faults.append(f"trace of {row['operation']}: busbw {row['busbw_gb_s']}, algbw {row['algbw_gb_s']}")
    return lines, faults


def check_collectives(kymo, database):
    words = ["--ranks", RANKS, "--device", "cuda", "--passes", "time,trace", "--steps", 20, "--db", database]
    settings = ["--set", "backend=nccl", "--set", f"bytes={MESSAGE}", "--axis", f"operation={','.join(OPERATIONS)}"]
    done = command(kymo, "run", "all_reduce", *words, *settings, "--json")
    if done.returncode:
        return [], [f"exit code {done.returncode}: {done.stderr[-2000:]}"]
    runs = json.loads(done.stdout)["runs"]
    lines, faults = [], []
    for run in runs:
        line, found = check_operation(kymo, database, run)
        lines.append(line)
        faults += found
    if len(runs) != len(OPERATIONS):
        faults.append(f"{len(runs)} runs instead of {len(OPERATIONS)}")
    lines += command(kymo, "show", runs[0]["run_id"], "--db", database).stdout.splitlines()
    return lines, faults


def check_grouped_broadcasts(kymo, database):
    words = ["--ranks", RANKS, "--device", "cuda", "--passes", "trace", "--db", database]
    settings = ["scheme=broadcast", "model=small"]
    done = command(kymo, "run", "sharded_optimizer", *words, *(word for each in settings for word in ("--set", each)))
    if done.returncode:
        return [], [f"exit code {done.returncode}: {done.stderr[-2000:]}"]
    found = rows(kymo, database, SUMMARY + " WHERE operation = 'broadcast' AND calls > launches")
    return [], [] if found else ["no broadcasts in a group were recorded"]


def main(kymo, folder):
    if count_gpus(kymo) < RANKS:
        print("fewer than two GPUs")
        return 77
    os.makedirs(folder, exist_ok=True)
    failed = False
    for name, check in (("collectives", check_collectives), ("grouped-broadcasts", check_grouped_broadcasts)):
        database = f"{folder}/{name}.db"
        lines, faults = check(kymo, database)
        if not faults:
            of_calls, more = check_calls(kymo, database)
            lines, faults = lines + of_calls, more + dropped_faults(kymo, database)
            lines += warnings(kymo, database)
        failed = failed or bool(faults)
        show(name, lines, faults)
    return int(failed)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="kymo-bandwidth") as scratch:
        sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else scratch))
