#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what observing a program costs its steps: before the steps to observe, in the pass time and in ops (on a
GPU: trace), and with torch.profiler, each against the program alone.

  trace_program_cost.py KYMO [--device cuda] [--python PROGRAM] [--rounds 20] [--steps 60] [--slice-ms 60]
                        [--observed before,time] [SIZE...]

All programs of a round exist at the same time, and one runs while the others are stopped, so that other load of the
machine affects all of them alike. Values are medians over the steps of a round, in processor time of the thread or, on
a GPU, in time on the clock. The ratio is the median of the rounds' ratios, with an interval that contains it with a
probability of 95 % (order statistics of the binomial distribution); many short rounds with short slices make it
narrow. A line is printed after each round, so that an interrupted measurement loses nothing.

trace_hook_cost.py measures small costs more precisely, but only those of functions that kymo replaces."""

import argparse
import contextlib
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile
import time

PROGRAM = pathlib.Path(__file__).resolve().parent / "peers" / "step_times.py"
ALONE = "alone"


def commands(arguments, folder, size):
    """{side: (command, file with the step times)}"""
    found = {}
    detailed = "ops" if arguments.device == "cpu" else "trace"
    for side, options, more in (
        (ALONE, None, []),
        ("before", ["--steps", "1000000:1000010"], []),
        ("time", ["--passes", "time", "--steps", "5:"], []),
        (detailed, ["--passes", detailed, "--steps", f"5:{arguments.steps + 5}"], []),
        ("torch.profiler", None, ["--profile"]),
    ):
        if arguments.observed and side not in {ALONE, *arguments.observed.split(",")}:
            continue
        file = f"{folder}/{side}.json"
        command = [arguments.python, str(PROGRAM), size, str(arguments.steps), file, arguments.device, *more]
        if options is not None:
            trace = [arguments.kymo, "trace", "--no-stop", "--db", f"{folder}/{side}.db"]
            command = [*trace, "--device", arguments.device, *options, "--", *command]
        found[side] = (command, file)
    return found


def pid_in(file):
    """None until the program has written it."""
    with contextlib.suppress(OSError, ValueError), open(f"{file}.pid", encoding="utf-8") as opened:
        return int(opened.read())
    return None


def send(pid, number):
    """False if the process has ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def start(sides):
    """Starts all programs at once and stops each as soon as its steps begin. ([process], {side: pid})"""
    running = {
        side: subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for side, (command, _) in sides.items()
    }
    pids = {}
    while len(pids) < len(sides):
        for side, (_, file) in sides.items():
            pid = None if side in pids else pid_in(file)
            if pid is not None:
                pids[side] = pid
                send(pid, signal.SIGSTOP)
            elif side not in pids and running[side].poll() is not None:
                raise SystemExit(f"{side} ended with {running[side].returncode} before its steps began")
        time.sleep(0.002)
    return list(running.values()), pids


def one_round(arguments, size):
    """{side: median step in µs}"""
    # Most steps must fit into a slice whole: a step that is stopped has the time of the other programs in it.
    slice_ms = arguments.slice_ms or (500 if size == "large" else 60)
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        sides = commands(arguments, folder, size)
        running, pids = start(sides)
        left = list(sides)
        while left:
            for side in list(left):
                send(pids[side], signal.SIGCONT)
                deadline = time.monotonic() + slice_ms / 1000
                while time.monotonic() < deadline and not os.path.exists(sides[side][1]):
                    time.sleep(0.005)
                if os.path.exists(sides[side][1]):
                    left.remove(side)
                else:
                    send(pids[side], signal.SIGSTOP)
            left.reverse()  # ABBA: a load that grows or shrinks affects all alike
        for process in running:
            process.wait()
        medians = {}
        for side, (_, file) in sides.items():
            with open(file, encoding="utf-8") as opened:
                medians[side] = 1e6 * statistics.median(json.load(opened))
        return medians


def interval(values):
    """Lowest and highest value between which the median of their distribution is with a probability of 95 %; the whole
    range if there are too few values."""
    ordered = sorted(values)
    below, index = 0.0, 0
    while True:
        below += math.comb(len(ordered), index) / 2 ** len(ordered)
        if below > 0.025 or index >= len(ordered) // 2:
            break
        index += 1
    return ordered[max(index - 1, 0)], ordered[len(ordered) - max(index, 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("sizes", nargs="*", metavar="SIZE", help="small, medium, large [a small one and a larger one]")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--python", default="python3")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--slice-ms", type=float, help="[60; 500 for large, whose steps are long]")
    parser.add_argument("--observed", default="", help="before, time, ops or trace, torch.profiler [all]")
    arguments = parser.parse_intermixed_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["PYTHONHASHSEED"] = "0"  # the layout of dicts differs from process to process otherwise
    for size in arguments.sizes or ["small", "medium" if arguments.device == "cpu" else "large"]:
        rounds = []
        for number in range(arguments.rounds):
            steps = one_round(arguments, size)
            rounds.append(steps)
            ratios = ", ".join(f"{side} {us / steps[ALONE]:.3f}" for side, us in steps.items() if side != ALONE)
            print(f"{size}, round {number + 1}: alone {steps[ALONE]:.0f} µs, {ratios}", flush=True)
        print("\n| model | observed | step [µs] | ratio | 95 % interval | range |\n|---|---|---|---|---|---|")
        for side in rounds[0]:
            ratios = [each[side] / each[ALONE] for each in rounds]
            step = statistics.median(each[side] for each in rounds)
            low, high = interval(ratios)
            ratio = f"{statistics.median(ratios):.4f} | {low:.4f} to {high:.4f}"
            print(f"| {size} | {side} | {step:.0f} | {ratio} | {min(ratios):.3f} to {max(ratios):.3f} |", flush=True)


if __name__ == "__main__":
    main()
