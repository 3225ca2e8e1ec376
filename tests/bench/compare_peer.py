#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares transformer_lm with the PyTorch program a user would otherwise write (peers/transformer.py), on one GPU,
interleaved.

  compare_peer.py KYMO [--sizes small,medium] [--contexts 128,256] [--rounds 3] [--autocast] [--csv FILE]

Both synchronize with the device after each phase (kymo with --sync phase), so both values are host times of completed
work. The mean of the best round of each side is reported, because disturbances only increase the time; all rounds are
written to --csv. Prints one row per size, context and phase.
"""

import argparse
import csv
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

PHASES = ("forward", "backward", "optimizer")
MEANS = """SELECT phase, avg(host_ns) / 1e6 FROM sample WHERE warmup = 0 AND pass = 'time' GROUP BY phase"""


def peer_times(size, context, autocast):
    script = pathlib.Path(__file__).parent / "peers" / "transformer.py"
    command = [
        sys.executable,
        str(script),
        "--sizes",
        size,
        "--ctx",
        str(context),
        "--dtype",
        "bf16" if autocast else "fp32",
    ]
    cells = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip().split(",")
    if "OOM" in cells:
        return None
    return dict(zip(PHASES, (float(cells[i]) for i in (5, 7, 9)), strict=True))


def kymo_times(kymo, size, context, autocast):
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        database = os.path.join(folder, "k.db")
        words = [f"size={size}", f"context={context}", "mode=train", "batch=4", f"autocast={str(autocast).lower()}"]
        command = [
            kymo,
            "run",
            "transformer_lm",
            "--device",
            "cuda",
            "--sync",
            "phase",
            "--no-verify",
            "--steps",
            "10",
            "--db",
            database,
        ]
        for word in words:
            command += ["--set", word]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with sqlite3.connect(database) as db:
            means = dict(db.execute(MEANS))
    return {phase: means[phase] for phase in PHASES} if "forward" in means else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("--sizes", default="small,medium,large,xl,2.7B")
    parser.add_argument("--contexts", default="128,256")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--autocast", action="store_true")
    parser.add_argument("--csv", type=pathlib.Path)
    arguments = parser.parse_args()

    rows, worst = [], 0.0
    print("size,context,phase,kymo_ms,peer_ms,ratio", flush=True)
    for size in arguments.sizes.split(","):
        for context in map(int, arguments.contexts.split(",")):
            rounds = []
            for _ in range(arguments.rounds):
                rounds.append(
                    (
                        kymo_times(arguments.kymo, size, context, arguments.autocast),
                        peer_times(size, context, arguments.autocast),
                    )
                )
            for phase in PHASES:
                ours = [r[0][phase] for r in rounds if r[0]]
                theirs = [r[1][phase] for r in rounds if r[1]]
                rows += [
                    [size, context, phase, i, r[0] and r[0][phase], r[1] and r[1][phase]] for i, r in enumerate(rounds)
                ]
                if not ours or not theirs:
                    print(
                        f"{size},{context},{phase},{'OOM' if not ours else min(ours)},"
                        f"{'OOM' if not theirs else min(theirs)},",
                        flush=True,
                    )
                    continue
                ratio = min(ours) / min(theirs)
                worst = max(worst, ratio)
                print(f"{size},{context},{phase},{min(ours):.3f},{min(theirs):.3f},{ratio:.3f}", flush=True)
    print(f"worst ratio {worst:.3f}")
    if arguments.csv:
        with arguments.csv.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["size", "context", "phase", "round", "kymo_ms", "peer_ms"])
            writer.writerows(rows)
    return 0 if worst <= 1.02 else 1


if __name__ == "__main__":
    sys.exit(main())
