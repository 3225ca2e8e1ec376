#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a workload in Python costs: its step against a bare loop over the same function in the same
interpreter, phases and scopes in the time pass, and the same LibTorch call made from C++.

  python_cost.py BUILD [--rounds 9] [--python PROGRAM]

Runs are interleaved, so that drift of the machine affects all alike; values are medians of the rounds' medians."""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WORKLOADS = HERE / "python" / "costs.py"
STEPS = {"empty": 20000, "short": 20000, "matmul": 200, "long": 40}
# The allocator settings of a worker (docs/decisions/0012).
BARE = """
import sys, time, statistics, types, json
sys.modules["kymo"] = types.SimpleNamespace(
    Workload=object, Choice=lambda *a, **k: None, Int=lambda *a, **k: None)
sys.path.insert(0, {folder!r})
import torch
torch.set_num_threads(1)
import costs
function, clock, times = costs.function_of({name!r}), time.perf_counter_ns, []
for i in range({steps} + 5):
    begin = clock()
    function()
    end = clock()
    times.append(end - begin)
print(statistics.median(times[5:]))
"""


def bare(arguments, name):
    code = BARE.format(folder=str(WORKLOADS.parent), name=name, steps=STEPS[name])
    environment = {"MALLOC_TRIM_THRESHOLD_": str(2**31 - 1), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
    command = ["env", *[f"{key}={value}" for key, value in environment.items()], arguments.python, "-c", code]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def with_kymo(arguments, workload, *settings, steps):
    """The median step in ns."""
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        command = [str(arguments.build / "bin" / "kymo"), "run", str(workload), "--python", arguments.python]
        command += ["--steps", str(steps), "--no-verify", "--device", "cpu", "--db", f"{folder}/k.db", "--json"]
        for setting in settings:
            command += ["--set", setting]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        run = json.loads(done.stdout)["runs"][0]
        query = "SELECT median(host_ns) AS ns FROM sample WHERE phase = 'step' AND warmup = 0"
        command = [command[0], "sql", query, "--db", f"{folder}/k.db", "--json"]
        assert run["status"] == "ok", run
        rows = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        return float(rows[0]["ns"])


def interleaved(rounds, sides):
    """{side: median} and the spread (half the interquartile range) of functions that each measure one run."""
    values = {side: [] for side in sides}
    for _ in range(rounds):
        for side, measure in sides.items():
            values[side].append(measure())
    spread = {side: (lambda q: (q[2] - q[0]) / 2)(statistics.quantiles(found, n=4)) for side, found in values.items()}
    return {side: statistics.median(found) for side, found in values.items()}, spread


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--python", default="python3")
    arguments = parser.parse_args()
    print("| function | bare loop [ns] | kymo [ns] | difference [ns] | ratio |\n|---|---|---|---|---|")
    for name, steps in STEPS.items():
        found, _ = interleaved(
            arguments.rounds,
            {
                "bare": lambda name=name: bare(arguments, name),
                "kymo": lambda name=name, steps=steps: with_kymo(
                    arguments, f"{WORKLOADS}:python_cost", f"function={name}", steps=steps
                ),
            },
        )
        difference = found["kymo"] - found["bare"]
        print(
            f"| {name} | {found['bare']:.0f} | {found['kymo']:.0f} | {difference:+.0f} | "
            f"{found['kymo'] / found['bare']:.4f} |"
        )
    count = 1000
    found, _ = interleaved(
        arguments.rounds,
        {
            region: lambda region=region: with_kymo(
                arguments, f"{WORKLOADS}:python_regions", f"region={region}", f"count={count}", steps=200
            )
            for region in ("none", "phase", "scope")
        },
    )
    for region in ("phase", "scope"):
        print(f"{region}, begin and end: {(found[region] - found['none']) / count:.0f} ns")
    python = HERE / "python" / "attention.py"
    found, spread = interleaved(
        arguments.rounds,
        {
            "C++": lambda: with_kymo(arguments, "attention_sdpa", steps=200),
            "Python": lambda: with_kymo(arguments, python, steps=200),
        },
    )
    print(
        f"scaled_dot_product_attention from C++: {found['C++'] / 1e3:.1f} ± {spread['C++'] / 1e3:.1f} µs, from Python: "
        f"{found['Python'] / 1e3:.1f} ± {spread['Python'] / 1e3:.1f} µs"
    )


if __name__ == "__main__":
    main()
