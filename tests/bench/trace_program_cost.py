#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what observing a program costs its steps: before the steps to observe, in the pass time and in ops (on a
GPU: trace), and with torch.profiler, each against the program alone.

  trace_program_cost.py KYMO [--device cuda] [--python PROGRAM] [--rounds 5] [--steps 300] [SIZE...]

All programs of a round exist at the same time, and one runs while the others are stopped, so that other load of the
machine affects all of them alike. Values are medians over the steps of a round, in processor time of the thread or, on
a GPU, in time on the clock; ratios are medians of the rounds' ratios, with their range."""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile
import time

PROGRAM = pathlib.Path(__file__).resolve().parent / "peers" / "step_times.py"
SLICE_S = 0.3


def commands(arguments, folder, size):
    """{side: (command, file with the step times)}"""
    found = {}
    detailed = "ops" if arguments.device == "cpu" else "trace"
    for side, options, more in (
        ("alone", None, []),
        ("before", ["--steps", "1000000:1000010"], []),
        ("time", ["--passes", "time", "--steps", "5:"], []),
        (detailed, ["--passes", detailed, "--steps", f"5:{arguments.steps + 5}"], []),
        ("torch.profiler", None, ["profile"]),
    ):
        file = f"{folder}/{side}.json"
        command = [arguments.python, str(PROGRAM), size, str(arguments.steps), file, arguments.device, *more]
        if options is not None:
            device = ["--device", arguments.device]
            command = [
                arguments.kymo,
                "trace",
                "--no-stop",
                "--db",
                f"{folder}/{side}.db",
                *device,
                *options,
                "--",
                *command,
            ]
        found[side] = (command, file)
    return found


def pid_of(file):
    while True:
        with contextlib.suppress(OSError, ValueError), open(f"{file}.pid", encoding="utf-8") as opened:
            return int(opened.read())
        time.sleep(0.01)


def send(pid, number):
    """False if the process has ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def one_round(arguments, size):
    """{side: median step in µs}"""
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        sides = commands(arguments, folder, size)
        running, pids = [], {}
        for side, (command, file) in sides.items():
            running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            pids[side] = pid_of(file)
            send(pids[side], signal.SIGSTOP)
        left = set(sides)
        while left:
            for side in sides:
                if side not in left:
                    continue
                send(pids[side], signal.SIGCONT)
                deadline = time.monotonic() + SLICE_S
                while time.monotonic() < deadline and not os.path.exists(sides[side][1]):
                    time.sleep(0.005)
                if os.path.exists(sides[side][1]):
                    left.discard(side)
                else:
                    send(pids[side], signal.SIGSTOP)
        for process in running:
            process.wait()
        medians = {}
        for side, (_, file) in sides.items():
            with open(file, encoding="utf-8") as opened:
                medians[side] = 1e6 * statistics.median(json.load(opened))
        return medians


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("sizes", nargs="*", metavar="SIZE", help="small, medium, large [a small one and a larger one]")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--python", default="python3")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=300)
    arguments = parser.parse_intermixed_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    print("| model | observed | step [µs] | ratio | range |\n|---|---|---|---|---|")
    for size in arguments.sizes or ["small", "medium" if arguments.device == "cpu" else "large"]:
        rounds = [one_round(arguments, size) for _ in range(arguments.rounds)]
        for side in rounds[0]:
            ratios = [each[side] / each["alone"] for each in rounds]
            step = statistics.median(each[side] for each in rounds)
            ratio = f"{statistics.median(ratios):.3f} | {min(ratios):.3f} to {max(ratios):.3f}"
            print(f"| {size} | {side} | {step:.0f} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
