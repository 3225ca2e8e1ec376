#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the overhead of kymo per step and until the first step, relative to a hand-written loop.

  step_cost.py BUILD [--torch FOLDER] [--device cpu|cuda] [--rounds 9] [--steps 40] [--workload W] [--set p=v ...]

Interleaves `kymo run` and the bare loop (tests/bench/bare_loop.cpp), so that drift of the machine affects both alike,
and compares the medians of the rounds' medians. Both keep freed memory, as a worker does by default
(docs/decisions/0012). A third value is the time from the start of a new worker process to the start of its step 0,
without warm-up, minus the time in which the bare loop loads the plugin with its libraries; it is broken down into the
stages marked by the worker.
"""

import argparse
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile

ALLOCATOR = {"MALLOC_TRIM_THRESHOLD_": str(2**31 - 1), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
STEP_BOUND = 1.01  # relative to the step of the bare loop, for steps of 5 ms and more
START_BOUND_S = 0.5  # from the worker's start to its first step, excluding the loading of the plugin's libraries

STEPS = """SELECT s.host_ns FROM sample s WHERE s.phase = 'step' AND s.warmup = 0 AND s.pass = 'time'"""
START = "SELECT start_ns FROM sample WHERE phase = 'step' AND step = 0 AND pass = 'time' AND rank = 0"
STAGES = "SELECT stage, duration_ms FROM worker_stage WHERE pass = 'time' AND rank = 0 ORDER BY stage_order"


def library_path(torch):
    site = torch.parent
    folders = [
        torch / "lib",
        site / "nvidia" / "cu13" / "lib",
        site / "nvidia" / "nccl" / "lib",
        site / "nvidia" / "cudnn" / "lib",
    ]
    return ":".join(str(f) for f in folders if f.is_dir())


def bare(arguments, environment, warmup, steps):
    command = [
        str(arguments.build / "tests" / "bare_loop"),
        str(arguments.build / "lib/kymo/plugins" / f"{arguments.workload}.so"),
        arguments.workload,
        arguments.device,
        str(warmup),
        str(steps),
        *arguments.set,
    ]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout)


def with_kymo(arguments, environment, warmup, steps, questions):
    """Executes a run in a separate database and returns the rows of each query."""
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        database = os.path.join(folder, "k.db")
        words = [w for p in arguments.set for w in ("--set", p)]
        command = [
            str(arguments.build / "bin" / "kymo"),
            "run",
            arguments.workload,
            *words,
            "--device",
            arguments.device,
            "--warmup",
            str(warmup),
            "--steps",
            str(steps),
            "--no-verify",
            "--db",
            database,
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        with sqlite3.connect(database) as db:
            return [db.execute(question).fetchall() for question in questions]


def show_steps(arguments, environment):
    ours, theirs = [], []
    for _ in range(arguments.rounds):
        theirs.append(statistics.median(bare(arguments, environment, arguments.warmup, arguments.steps)["steps_ns"]))
        (rows,) = with_kymo(arguments, environment, arguments.warmup, arguments.steps, [STEPS])
        ours.append(statistics.median(row[0] for row in rows))
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    print(
        f"step: kymo {statistics.median(ours) / 1e6:.3f} ms, bare loop {statistics.median(theirs) / 1e6:.3f} ms, "
        f"ratio {ratio:.4f} (median of {arguments.rounds} rounds; bound {STEP_BOUND} for steps of 5 ms and more)"
    )
    return ratio <= STEP_BOUND


def show_start(arguments, environment):
    added, stages = [], {}
    for _ in range(arguments.rounds):
        load_ns = bare(arguments, environment, 0, 1)["load_ns"]
        starts, parts = with_kymo(arguments, environment, 0, 1, [START, STAGES])
        added.append((starts[0][0] - load_ns) / 1e9)
        for name, duration_ms in parts:
            stages.setdefault(name, []).append(duration_ms)
    median = statistics.median(added)
    print(
        f"start: {median:.3f} s from the worker's start to its first step, excluding loading the plugin, "
        f"{min(added):.3f} to {max(added):.3f} s "
        f"(median of {arguments.rounds} rounds; bound {START_BOUND_S} s)"
    )
    print("stages: " + ", ".join(f"{name} {statistics.median(lasted):.1f} ms" for name, lasted in stages.items()))
    return median <= START_BOUND_S


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--torch", type=pathlib.Path, help="folder of the torch package; default: that of this python")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--workload", default="transformer_lm")
    parser.add_argument("--set", action="append", default=None)
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    if arguments.set is None:
        arguments.set = ["size=tiny", "context=64", "batch=4", "mode=train"]
    torch = arguments.torch
    if torch is None:
        import importlib.util

        torch = pathlib.Path(importlib.util.find_spec("torch").submodule_search_locations[0])
    environment = dict(os.environ, LD_LIBRARY_PATH=library_path(torch), KYMO_TORCH=str(torch), **ALLOCATOR)

    kept = show_steps(arguments, environment)
    kept &= show_start(arguments, environment)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
