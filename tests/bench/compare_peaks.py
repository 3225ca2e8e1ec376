#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the CPU rates of the workload peaks with independent programs: a STREAM-like C program (peers/stream.c) for
copy, read and cache, and torch.mm for matrix products.

  compare_peaks.py KYMO [--rounds 5] [--kinds copy,read,cache,fp32,bf16,fp16] [--csv FILE]

Each round measures the other program, kymo, and the other program again, each for a fraction of a second, so that
changing load affects both. A slice's rate is that of its fastest repetition. Prints for each kind the highest rate of
both sides, their ratio, the median of the rounds' ratios, and the load average.
"""

import argparse
import csv
import os
import pathlib
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile

MATRIX_SIZE = 2048
PRODUCTS = ("fp32", "bf16", "fp16")
TORCH_PEER = """
import sys, time, torch
types = dict(fp32=torch.float32, bf16=torch.bfloat16, fp16=torch.float16)
n = int(sys.argv[1])
for line in sys.stdin:
    a, b, out = (torch.randn(n, n).to(types[line.strip()]) for _ in range(3))
    best = float("inf")
    for _ in range(6):
        begin = time.perf_counter()
        torch.mm(a, b, out=out)
        best = min(best, time.perf_counter() - begin)
    print(2 * n**3 / best, flush=True)
"""
RATE = """SELECT coalesce(nullif(w.flops, 0), w.bytes) / (min(s.host_ns) / 1e9) FROM sample s JOIN work w
ON w.run_id = s.run_id WHERE s.pass = 'time' AND s.phase = 'step' AND s.warmup = 0"""


class Peer:
    """A program that measures what it reads from its standard input."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def rate(self, kind):
        self.process.stdin.write(kind + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def kymo_rate(kymo, kind, folder):
    database = os.path.join(folder, "k.db")
    pathlib.Path(database).unlink(missing_ok=True)
    words = ["kind=matmul", f"dtype={kind}", f"n={MATRIX_SIZE}"] if kind in PRODUCTS else [f"kind={kind}"]
    command = [kymo, "run", "peaks", "--device", "cpu", "--no-verify", "--warmup", "1", "--steps", "6"]
    for word in [*words, "warm_up_ms=100"]:
        command += ["--set", word]
    subprocess.run([*command, "--db", database], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with sqlite3.connect(database) as db:
        (buffer,) = db.execute("SELECT max(value) FROM metric WHERE name = 'buffer_bytes'").fetchone()
        (threads,) = db.execute("SELECT max(value) FROM metric WHERE name = 'threads'").fetchone()
        return db.execute(RATE).fetchone()[0], buffer, threads


def start_peers(kymo, kinds, folder):
    """One peer per kind, with the sizes of kymo's buffers."""
    peers = {}
    if any(kind in PRODUCTS for kind in kinds):
        peers |= dict.fromkeys(PRODUCTS, Peer([sys.executable, "-W", "ignore", "-c", TORCH_PEER, str(MATRIX_SIZE)]))
    if any(kind not in PRODUCTS for kind in kinds):
        source = pathlib.Path(__file__).parent / "peers" / "stream.c"
        program = os.path.join(folder, "stream")
        widest = ["-mprefer-vector-width=512"] if platform.machine() == "x86_64" else []
        subprocess.run(["cc", "-O3", "-fopenmp", "-march=native", *widest, source, "-o", program], check=True)
        _, memory, _ = kymo_rate(kymo, "read", folder)
        _, cache, threads = kymo_rate(kymo, "cache", folder)
        stream = Peer([program, str(int(memory)), str(int(cache / threads))])
        peers |= dict.fromkeys(("copy", "read", "cache"), stream)
    return peers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kinds", default="copy,read,cache,fp32,bf16,fp16")
    parser.add_argument("--csv", type=pathlib.Path)
    arguments = parser.parse_args()
    kinds = arguments.kinds.split(",")

    rows, worst = [], 0.0
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        peers = start_peers(arguments.kymo, kinds, folder)
        for i in range(arguments.rounds):
            for kind in kinds:
                before = peers[kind].rate(kind)
                ours, _, _ = kymo_rate(arguments.kymo, kind, folder)
                after = peers[kind].rate(kind)
                rows.append([kind, i, ours, before, after, os.getloadavg()[0]])
    print("kind,kymo,peer,ratio,median_ratio,load")
    for kind in kinds:
        mine = [row for row in rows if row[0] == kind]
        ours = max(row[2] for row in mine)
        theirs = max(max(row[3:5]) for row in mine)
        median = statistics.median(row[2] / max(row[3:5]) for row in mine)
        worst = max(worst, abs(ours / theirs - 1))
        load = statistics.mean(row[5] for row in mine)
        print(f"{kind},{ours:.4g},{theirs:.4g},{ours / theirs:.3f},{median:.3f},{load:.1f}")
    if arguments.csv:
        with arguments.csv.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["kind", "round", "kymo", "peer_before", "peer_after", "load"])
            writer.writerows(rows)
    print(f"largest difference of the highest rates {worst:.1%}")
    return 0 if worst <= 0.1 else 1


if __name__ == "__main__":
    sys.exit(main())
