#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What kymo adds to a step and to the way to the first one, against the loop that a user would write by hand.

  step_cost.py BUILD [--torch FOLDER] [--device cpu|cuda] [--rounds 9] [--steps 40] [--workload W] [--set p=v ...]

Runs `kymo run` and the bare loop (tests/bench/bare_loop.cpp) in turn, so that a drift of the machine meets both alike, and compares
medians of the rounds' medians. Then compares the time from the worker's start to its first step with that of loading the plugin's libraries alone.
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

MEDIAN_STEP = """SELECT s.host_ns FROM sample s WHERE s.phase = 'step' AND s.warmup = 0 AND s.pass = 'time'"""


def library_path(torch):
    site = torch.parent
    folders = [torch / "lib", site / "nvidia" / "cu13" / "lib", site / "nvidia" / "nccl" / "lib", site / "nvidia" / "cudnn" / "lib"]
    return ":".join(str(f) for f in folders if f.is_dir())


def bare(arguments, environment):
    command = [str(arguments.build / "tests" / "bare_loop"), str(arguments.build / "lib/kymo/plugins" / f"{arguments.workload}.so"), arguments.workload,
               arguments.device, str(arguments.warmup), str(arguments.steps), *arguments.set]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout)


def with_kymo(arguments, environment):
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        database = os.path.join(folder, "k.db")
        words = [w for p in arguments.set for w in ("--set", p)]
        command = [str(arguments.build / "bin" / "kymo"), "run", arguments.workload, *words, "--device", arguments.device, "--warmup", str(arguments.warmup),
                   "--steps", str(arguments.steps), "--no-verify", "--db", database]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        with sqlite3.connect(database) as db:
            return [row[0] for row in db.execute(MEDIAN_STEP)]


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
    environment = dict(os.environ, LD_LIBRARY_PATH=library_path(torch), KYMO_TORCH=str(torch))

    ours, theirs = [], []
    for _ in range(arguments.rounds):
        theirs.append(statistics.median(bare(arguments, environment)["steps_ns"]))
        ours.append(statistics.median(with_kymo(arguments, environment)))
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    print(f"step: kymo {statistics.median(ours) / 1e6:.3f} ms, bare loop {statistics.median(theirs) / 1e6:.3f} ms, "
          f"ratio {ratio:.4f} (median of {arguments.rounds} rounds; bound 1.01 for steps of 5 ms and more)")
    return 0 if ratio <= 1.01 else 1


if __name__ == "__main__":
    sys.exit(main())
