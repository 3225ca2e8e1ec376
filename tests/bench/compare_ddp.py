#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares kymo's data-parallel strategies with the PyTorch program a user would otherwise write (peers/ddp.py), on the
GPUs of one machine.

  compare_ddp.py KYMO [--size xl] [--context 128] [--batch 2] [--bf16] [--ranks 2]
    [--buckets 1,10,25,100,1000] [--rounds 2]

The mean step of the best round of each side is reported, because disturbances only increase the time. Prints one CSV
row per strategy and bucket (MiB), then the bound, max(step without communication, forward + all-reduce + optimizer),
and the ratio of the best bucketed step to the bound and to the best of ddp_torch. The terms of the bound are measured
with --sync phase: the forward and optimizer phases of ddp_flat, and its phase communication, which is one all-reduce of
all gradients. Exits with 1 if the best bucketed step exceeds the bound by more than 3 % or is slower than ddp_torch.
"""

import argparse
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

# With several ranks, the time of a step is that of its slowest rank. In the communication phase the other ranks wait
# for it, so the shortest time is that of the communication itself.
SLOWEST = """SELECT run_id, phase, avg(ns) / 1e6 FROM (
  SELECT run_id, phase, step, CASE phase WHEN 'communication' THEN min(host_ns) ELSE max(host_ns) END AS ns
  FROM sample WHERE warmup = 0 AND pass = 'time' GROUP BY run_id, phase, step)
GROUP BY run_id, phase"""


def kymo_times(arguments, workload, settings, axis=None, sync="step"):
    """Mean times in ms by phase, for each run in the order of the axis; None for a failed run."""
    words = {
        "model": arguments.size,
        "context": arguments.context,
        "batch": arguments.batch,
        "autocast": str(arguments.bf16).lower(),
    }
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        database = os.path.join(folder, "k.db")
        command = [
            arguments.kymo,
            "run",
            workload,
            "--device",
            "cuda",
            "--ranks",
            str(arguments.ranks),
            "--no-verify",
            "--steps",
            "10",
            "--sync",
            sync,
            "--db",
            database,
        ]
        for name, value in {**words, **settings}.items():
            command += ["--set", f"{name}={value}"]
        if axis:
            command += ["--axis", axis]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        with sqlite3.connect(database) as db:
            runs = {
                run: {} if status == "ok" else None
                for run, status in db.execute("SELECT run_id, status FROM run ORDER BY run_id")
            }
            for run, phase, mean in db.execute(SLOWEST):
                if runs[run] is not None:
                    runs[run][phase] = mean
    return list(runs.values())


BUCKETED = {
    "bucketed_views": {"gradients": "views"},
    "bucketed_separate": {"gradients": "separate"},
    "bucketed_tapered": {"gradients": "separate", "taper": "true"},
}


def kymo_strategies(arguments, buckets):
    """Step times in ms by strategy and bucket; a bucketed strategy has one row for each gradient layout and for
    tapered buckets."""
    axis = "bucket_mb=" + ",".join(buckets)
    found = {}

    def note(strategy, runs, labels):
        for label, run in zip(labels, runs, strict=False):  # a failed invocation may have executed fewer runs
            if run:
                found[strategy, label] = run["step"]

    note("none", kymo_times(arguments, "ddp_naive", {"communicate": "false"}), [""])
    note("naive", kymo_times(arguments, "ddp_naive", {}), [""])
    note("flat", kymo_times(arguments, "ddp_flat", {}), [""])
    note("flat_copy", kymo_times(arguments, "ddp_flat", {"copy": "true"}), [""])
    note("overlap", kymo_times(arguments, "ddp_overlap", {}), [""])
    for strategy, settings in BUCKETED.items():
        note(strategy, kymo_times(arguments, "ddp_bucketed", settings, axis), buckets)
    note("torch", kymo_times(arguments, "ddp_torch", {}, axis), buckets)
    return found


def peer_strategies(arguments, buckets):
    script = pathlib.Path(__file__).parent / "peers" / "ddp.py"
    strategies = ["none", "naive", "flat", "overlap"] + [f"torch:{bucket}" for bucket in buckets]
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        str(arguments.ranks),
        str(script),
        "--size",
        arguments.size,
        "--context",
        str(arguments.context),
        "--batch",
        str(arguments.batch),
        "--strategies",
        ",".join(strategies),
    ]
    done = subprocess.run(
        command + (["--bf16"] if arguments.bf16 else []), check=True, stdout=subprocess.PIPE, text=True
    )
    rows = [line.split(",") for line in done.stdout.splitlines() if line.startswith("python,")]
    return {(row[1], row[2]): float(row[3]) for row in rows}


def best_of(rounds):
    return {key: min(r[key] for r in rounds if key in r) for r in rounds for key in r}


def peer_key(strategy, bucket):
    """The peer to compare a strategy of kymo with: PyTorch's own for buckets, the textbook flat version for both of
    kymo's."""
    if strategy.startswith("bucketed"):
        return "torch", bucket
    return ("flat", "") if strategy == "flat_copy" else (strategy, bucket)


def best_bucket(times, *strategies):
    return min((time, key) for key, time in times.items() if key[0] in strategies)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("--size", default="xl")
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--buckets", default="1,10,25,100,1000")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    buckets = arguments.buckets.split(",")

    ours, theirs, phases = [], [], []
    for _ in range(arguments.rounds):
        ours.append(kymo_strategies(arguments, buckets))
        theirs.append(peer_strategies(arguments, buckets))
        phases += [run for run in kymo_times(arguments, "ddp_flat", {}, sync="phase") if run]
    ours, theirs, phases = best_of(ours), best_of(theirs), best_of(phases)

    print("strategy,bucket,kymo_ms,peer_ms,ratio")
    for (strategy, bucket), time in ours.items():
        peer = theirs.get(peer_key(strategy, bucket))
        print(
            f"{strategy},{bucket},{time:.3f},{peer:.3f},{time / peer:.3f}"
            if peer
            else f"{strategy},{bucket},{time:.3f},,"
        )
    parts = phases["forward"] + phases["communication"] + phases["optimizer"]
    bound = max(ours["none", ""], parts)
    time, (strategy, bucket) = best_bucket(ours, *BUCKETED)
    torch_time, (_, torch_bucket) = best_bucket(ours, "torch")
    print(
        f"without communication {ours['none', '']:.3f} ms, forward + all-reduce + optimizer {parts:.3f} ms, "
        f"bound {bound:.3f} ms"
    )
    print(
        f"best {strategy} ({bucket} MiB) {time:.3f} ms: {time / bound:.3f} of the bound, "
        f"{time / torch_time:.3f} of ddp_torch ({torch_bucket} MiB)"
    )
    return 0 if time <= 1.03 * bound and time < torch_time else 1


if __name__ == "__main__":
    sys.exit(main())
