#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares kernel durations of a trace with those measured by Nsight Compute (gpu__time_duration), on one GPU.

  compare_ncu.py KYMO [--sizes small,large] [--ncu PROGRAM] [--kernels 10]

Traces transformer_lm (context 256, train), then runs it again under ncu through --wrap, without clock and cache
control, and compares the mean duration of the kernels with the largest total time among those of at least 20 us. ncu
replays each kernel in isolation, so kernels that overlap in the trace do not overlap there. Prints one row per kernel.
"""

import argparse
import collections
import csv
import io
import os
import sqlite3
import subprocess
import sys
import tempfile

SETTING = ["context=256", "batch=4", "mode=train"]
KERNELS = """SELECT s.text, g.grid_x || ',' || g.grid_y || ',' || g.grid_z, count(*), avg(k.end_ns - k.start_ns)
  FROM kernel k JOIN string s ON s.string_id = k.name_id JOIN launch_config g USING (run_id, rank, pass, launch_config)
  WHERE k.step = (SELECT max(step) FROM kernel) GROUP BY 1, 2 HAVING avg(k.end_ns - k.start_ns) >= 20000
  ORDER BY sum(k.end_ns - k.start_ns) DESC"""
NS_PER = {"ns": 1, "nsecond": 1, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6}


def command(kymo, size, database, extra):
    words = [
        kymo,
        "run",
        "transformer_lm",
        "--device",
        "cuda",
        "--no-verify",
        "--db",
        database,
        "--set",
        f"size={size}",
    ] + extra
    for word in SETTING:
        words += ["--set", word]
    return words


def traced(kymo, size, folder):
    database = os.path.join(folder, f"{size}.db")
    subprocess.run(command(kymo, size, database, ["--passes", "trace"]), check=True, stdout=subprocess.DEVNULL)
    with sqlite3.connect(database) as db:
        return {(name, grid): (calls, mean) for name, grid, calls, mean in db.execute(KERNELS)}


def profiled(kymo, size, folder, ncu):
    """Mean duration by kernel and grid over the steps of a time pass under ncu."""
    log = os.path.join(folder, f"{size}.csv")
    wrap = (
        f"{ncu} --clock-control none --cache-control none --metrics gpu__time_duration.sum --csv --page raw "
        f"--log-file {log}"
    )
    run = command(
        kymo,
        size,
        os.path.join(folder, f"{size}-ncu.db"),
        ["--passes", "time", "--warmup", "0", "--steps", "1", "--wrap", wrap],
    )
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    with open(log, encoding="utf-8") as lines:
        text = "".join(line for line in lines if not line.startswith("=="))
    rows = list(csv.reader(io.StringIO(text)))
    header, units = rows[0], rows[1]
    name, grid = header.index("Kernel Name"), header.index("Grid Size")
    duration = header.index("gpu__time_duration.sum")
    scale = NS_PER[units[duration]]
    times = collections.defaultdict(list)
    for row in rows[2:]:
        times[(plain(row[name]), row[grid].strip("()").replace(" ", ""))].append(
            float(row[duration].replace(",", "")) * scale
        )
    return times


def plain(name):
    """A kernel name without the parts that demanglers print differently: return type, namespaces, parameters and
    spaces."""
    name = name.removeprefix("void ").replace("(anonymous namespace)", "anonymous").replace("<unnamed>", "anonymous")
    return name.split("(")[0].split("<")[0].split("::")[-1].replace(" ", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("--sizes", default="small,large")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--kernels", type=int, default=10)
    arguments = parser.parse_args()
    worst = 0.0
    print("size,kernel,grid,calls,traced_us,ncu_us,ratio", flush=True)
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        for size in arguments.sizes.split(","):
            ours = collections.defaultdict(list)
            for (name, grid), (calls, mean) in traced(arguments.kymo, size, folder).items():
                ours[(plain(name), grid)].append((calls, mean))
            theirs = profiled(arguments.kymo, size, folder, arguments.ncu)
            for (name, grid), parts in list(ours.items())[: arguments.kernels]:
                calls = sum(part[0] for part in parts)
                mean = sum(part[0] * part[1] for part in parts) / calls
                found = theirs.get((name, grid))
                if not found:
                    print(f"{size},{name[:60]},{grid},{calls},{mean / 1e3:.2f},not found,", flush=True)
                    continue
                reference = sum(found) / len(found)
                worst = max(worst, abs(mean / reference - 1))
                print(
                    f'{size},{name[:60]},"{grid}",{calls},{mean / 1e3:.2f},{reference / 1e3:.2f},'
                    f"{mean / reference:.4f}",
                    flush=True,
                )
    print(f"largest difference {100 * worst:.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
