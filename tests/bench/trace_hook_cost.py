#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the functions cost that kymo puts in place of those of torch, before the steps to observe and in the
pass time, in one process: slices of a few steps with them and with torch's own functions, in turn.

  trace_hook_cost.py KYMO [--device cuda] [--clock] [--python PROGRAM] [--steps 3000] [--slice 3] [--starts 1] [--mean]
                     [--same] [SIZE...]

Values are in processor time of the thread or, on a GPU or with --clock, in time on the clock. The time of a slice is
that of its shortest step but the first, which pays for the change. The difference is the median, over pairs of slices,
of the difference of their times, with an interval that contains it with a probability of 95 %. With several starts, the
modes are started in turn, and the pairs of all starts count. Where addresses fall differs between starts, more than the
interval of a few starts says: six measurements of the pass time, of two starts each, were between 21 and 46 µs. With
--same, both slices have torch's own functions, so that the interval should contain 0.

In the pass time, the engine runs after a step every 50 ms only. The shortest step of a slice does not contain its work;
with --mean, the time of a slice is the mean of its steps but the first, which does, and varies more.

Slices are short because the speed of a shared machine changes within slices: in 7,200 steps, the intervals were 17 and
18 µs wide with slices of 3 steps, and 25 and 32 µs with 10, around the same difference (34.5 and 32.7 µs of pass time).
After a change, the first step took 120 µs longer than the others, and the second one as long as they."""

import argparse
import json
import os
import statistics
import subprocess
import tempfile

from trace_program_cost import PROGRAM, interval

MODES = {"before": ["--steps", "1000000:1000010"], "time": ["--passes", "time", "--steps", "5:"]}


def measure(arguments, size, mode):
    """([difference in µs], step without in µs)"""
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        file = f"{folder}/times.json"
        steps = arguments.steps - arguments.steps % (4 * arguments.slice)
        trace = [arguments.kymo, "trace", "--no-stop", "--db", f"{folder}/kymo.db", "--device", arguments.device]
        program = [arguments.python, str(PROGRAM), size, str(steps), file, arguments.device]
        program += ["--toggle", str(arguments.slice)] + ["--clock"] * arguments.clock + ["--same"] * arguments.same
        done = subprocess.run([*trace, *MODES[mode], "--", *program], check=False, capture_output=True, text=True)
        if not os.path.exists(file):
            raise SystemExit(f"{size}, {mode}: the program ended without times: {done.stderr[-2000:]}")
        with open(file, encoding="utf-8") as opened:
            ours, own = json.load(opened)
    value = statistics.mean if arguments.mean else min
    ours, own = ([1e6 * value(each[1:]) for each in slices] for slices in (ours, own))
    return [with_us - without_us for with_us, without_us in zip(ours, own, strict=True)], statistics.median(own)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("sizes", nargs="*", metavar="SIZE", help="small, medium, large [small]")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--clock", action="store_true", help="time on the clock also on a CPU")
    parser.add_argument("--python", default="python3")
    parser.add_argument("--steps", type=int, default=3000, help="of each start")
    parser.add_argument("--slice", type=int, default=3, help="steps of a slice, at least 2")
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("--mean", action="store_true", help="of the steps of a slice, not their shortest")
    parser.add_argument("--same", action="store_true", help="compare torch's own functions with themselves")
    arguments = parser.parse_intermixed_args()
    if arguments.slice < 2 or arguments.steps < 4 * arguments.slice:
        parser.error("--slice is at least 2, and --steps at least four times as many")
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
