#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares kymo's all_reduce with NCCL in a bare loop (nccl_loop), on the GPUs of this machine, interleaved.

  compare_collectives.py KYMO NCCL_LOOP [--ranks 2] [--sizes 1024,1048576] [--rounds 3] [--own-stream] [--csv FILE]

Both sides issue the same number of calls back to back between two synchronizations; the time of a call is that of its
slowest rank. The minimum over the rounds is reported (for kymo, the minimum of the rounds' median steps), because
disturbances only increase the time.
"""

import argparse
import csv
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile

SLOWEST = "SELECT max(host_ns) / 1e6 FROM sample WHERE warmup = 0 AND pass = 'time' AND phase = 'step' GROUP BY step"


def calls_for(size):
    """The same number of calls as nccl_loop."""
    return 2000 if size <= 1 << 20 else 50 if size <= 64 << 20 else 10


def loop_times(loop, ranks, sizes):
    """Maps sizes in bytes to ms per call."""
    text = subprocess.run([loop, str(ranks), *map(str, sizes)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {int(row["bytes"]): float(row["ms"]) for row in csv.DictReader(text.splitlines())}


def kymo_time(kymo, ranks, size, own_stream):
    """Median step divided by its number of calls, in ms."""
    calls = calls_for(size)
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        database = os.path.join(folder, "k.db")
        command = [
            kymo,
            "run",
            "all_reduce",
            "--ranks",
            str(ranks),
            "--device",
            "cuda",
            "--no-verify",
            "--steps",
            "20",
            "--warmup",
            "3",
            "--db",
            database,
        ]
        for setting in (f"bytes={size}", f"calls={calls}", f"own_stream={str(own_stream).lower()}"):
            command += ["--set", setting]
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if run.returncode != 0:
            sys.exit(f"kymo failed for {size} bytes: {run.stderr.strip()}")
        with sqlite3.connect(database) as db:
            rows = db.execute(SLOWEST).fetchall()
    if not rows:
        sys.exit(f"kymo stored no samples for {size} bytes")
    return statistics.median(row[0] for row in rows) / calls


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("nccl_loop")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default=",".join(str(1024 * 4**i) for i in range(11)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--own-stream", action="store_true")
    parser.add_argument("--csv", type=pathlib.Path)
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]

    rounds = []
    for _ in range(arguments.rounds):
        loop = loop_times(arguments.nccl_loop, arguments.ranks, sizes)
        rounds.append(
            {
                size: (loop[size], kymo_time(arguments.kymo, arguments.ranks, size, arguments.own_stream))
                for size in sizes
            }
        )

    header = ["bytes", "loop_ms", "kymo_ms", "ratio", "loop_busbw", "kymo_busbw"]
    rows = []
    for size in sizes:
        loop, kymo = (min(one[size][column] for one in rounds) for column in range(2))
        share = 2 * (arguments.ranks - 1) / arguments.ranks * size / 1e6
        rows.append(
            [size, f"{loop:.4f}", f"{kymo:.4f}", f"{kymo / loop:.3f}", f"{share / loop:.1f}", f"{share / kymo:.1f}"]
        )
    for row in [header, *rows]:
        print(",".join(map(str, row)))
    if arguments.csv:
        with arguments.csv.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])


if __name__ == "__main__":
    main()
