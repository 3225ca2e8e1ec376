#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the functions cost that kymo puts in place of those of torch, before the steps to observe and in the
pass time, in one process: slices of 10 steps with them and with torch's own functions, in turn.

  trace_hook_cost.py KYMO [--device cuda] [--python PROGRAM] [--slices 200] [--starts 1] [SIZE...]

Values are in processor time of the thread or, on a GPU, in time on the clock. The time of a slice is that of its
shortest step, which other load of the machine disturbs least. The difference is the median, over pairs of slices, of
the difference of their times, with an interval that contains it with a probability of 95 %. With several starts, the
modes are started in turn, and the pairs of all starts count; where addresses fall differs between starts. The engine's
work at the end of a step of pass time is contained."""

import argparse
import json
import os
import statistics
import subprocess
import tempfile

from trace_program_cost import PROGRAM, interval

SLICE = 10  # of step_times.py
MODES = {"before": ["--steps", "1000000:1000010"], "time": ["--passes", "time", "--steps", "5:"]}


def measure(arguments, size, mode):
    """([difference in µs], step without in µs)"""
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        file = f"{folder}/times.json"
        steps = arguments.slices * SLICE
        trace = [arguments.kymo, "trace", "--no-stop", "--db", f"{folder}/kymo.db", "--device", arguments.device]
        program = [arguments.python, str(PROGRAM), size, str(steps), file, arguments.device, "toggle"]
        subprocess.run([*trace, *MODES[mode], "--", *program], check=False, capture_output=True)
        with open(file, encoding="utf-8") as opened:
            ours, own = json.load(opened)
    # The first step of a slice pays for the change.
    ours, own = ([1e6 * min(each[1:]) for each in slices] for slices in (ours, own))
    return [with_us - without_us for with_us, without_us in zip(ours, own, strict=False)], statistics.median(own)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("sizes", nargs="*", metavar="SIZE", help="small, medium, large [small]")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--python", default="python3")
    parser.add_argument("--slices", type=int, default=200)
    parser.add_argument("--starts", type=int, default=1)
    arguments = parser.parse_intermixed_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    print("| model | observed | step [µs] | difference [µs] | 95 % interval | share |\n|---|---|---|---|---|---|")
    for size in arguments.sizes or ["small"]:
        starts = [{mode: measure(arguments, size, mode) for mode in MODES} for _ in range(arguments.starts)]
        for mode in MODES:
            differences = [each for start in starts for each in start[mode][0]]
            step = statistics.median(start[mode][1] for start in starts)
            low, high = interval(differences)
            middle = statistics.median(differences)
            share = f"{100 * middle / step:.2f} %"
            print(f"| {size} | {mode} | {step:.0f} | {middle:.1f} | {low:.1f} to {high:.1f} | {share} |", flush=True)


if __name__ == "__main__":
    main()
