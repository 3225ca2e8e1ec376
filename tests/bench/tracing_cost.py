#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What observing a training step costs, beside torch.profiler on the same model in Python (peers/profiler.py), on one
GPU.

  tracing_cost.py KYMO [--rounds 3] [--steps 200] [--cases "small bf16,large bf16"] [--floor tests/kernel_records.so]
    [--rows trace,ops] [--turn SECONDS] [--no-peer]

Each case runs once a round in a process for each row: a time pass, the passes trace and ops, and a time pass with
another pass in the same call ("time beside trace"). The processes take turns (turns.py), so that whatever else the
machine does meets all alike. A ratio is the median step of a turn over that of the plain time pass in the same lap;
printed are the median of the laps, their quartiles, the lowest and highest median of a round, and the ratio of the
fastest tenths of all steps, which a busy machine disturbs least. --floor adds what LibTorch and CUPTI take before kymo
does anything, in time passes (kernel_records.cpp): CUPTI's records of kernels alone, with an empty call at each launch,
ready for graphs, and with an empty callback at each operator; and with kymo's own log of launches, which is the pass
trace without scopes and nodes. Kept to a few processors (taskset -c 8-11 tracing_cost.py ...) the steps of a machine
that others share are shorter and vary less. --rows leaves out all rows but these and the plain one. The first case is
bound by launches (small, bf16 autocast), large by the GPU, the last replays a CUDA graph.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import turns

# Parameters, and how long a turn is in seconds: many steps, yet short beside what the machine's load does.
CASES = {
    "small bf16": (["size=small", "autocast=true"], 0.3),
    "large bf16": (["size=large", "autocast=true"], 1.5),
    "large fp32": (["size=large", "autocast=false"], 2.5),
    "small bf16 graph": (["size=small", "autocast=true", "execution=graph"], 0.3),
}
PLAIN = "time"
PASSES = {PLAIN: "time", "trace": "trace", "ops": "ops", "time beside trace": "time,trace"}
FLOOR = {f"records: {level}": level for level in ("kernels", "calls", "graphs", "operators", "log")}


def command(arguments, words, passes, steps, database):
    line = [
        arguments.kymo,
        "run",
        "transformer_lm",
        "--device",
        arguments.device,
        "--no-verify",
        "--passes",
        passes,
        "--warmup",
        "10",
        "--steps",
        str(steps),
        "--observed-steps",
        str(1 if "," in passes else steps),
        "--db",
        database,
    ]
    for word in words + ["context=256", "batch=4", "mode=train"]:
        line += ["--set", word]
    return line


def rows(arguments):
    """Names of what is compared with the plain time pass."""
    names = [name for name in [*PASSES, *(FLOOR if arguments.floor else [])] if name != PLAIN]
    return [name for name in names if not arguments.rows or name in arguments.rows.split(",")]


def member(arguments, words, name, folder):
    database = os.path.join(folder, name + ".db")
    passes = PASSES.get(name, "time")
    # The others take longer over a step, and their last laps need something to be compared with.
    steps = arguments.steps * 3 // 2 if name == PLAIN else arguments.steps
    environment = dict(os.environ)
    if name in FLOOR:
        environment |= {"CUDA_INJECTION64_PATH": arguments.floor, "KYMO_RECORDS": FLOOR[name]}
    return turns.Member(
        name, command(arguments, words, passes, steps, database), environment, database, passes.split(",")[0]
    )


def measure(arguments, case):
    """A list of laps for each round."""
    words, turn_s = CASES[case]
    turn_s = arguments.turn or turn_s
    rounds = []
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
            rounds.append(
                turns.take([member(arguments, words, name, folder) for name in [PLAIN, *rows(arguments)]], turn_s)
            )
        print_round(case, rounds, rows(arguments))
    return rounds


def ratios_of(laps, name):
    return [
        statistics.median(lap[name]) / statistics.median(lap[PLAIN]) for lap in laps if name in lap and PLAIN in lap
    ]


def print_round(case, rounds, names):
    """What is known after each round, on stderr: who is interrupted does not lose it."""
    for name in names:
        ratios = [ratio for laps in rounds for ratio in ratios_of(laps, name)]
        known = f"{statistics.median(ratios):.4f} of {len(ratios)} laps" if ratios else "no laps"
        print(f"{case}, round {len(rounds)}: {name} {known}", file=sys.stderr, flush=True)


def fastest_tenth(rounds, name):
    """What disturbs a step only ever lengthens it."""
    steps = sorted(step for laps in rounds for lap in laps if name in lap and PLAIN in lap for step in lap[name])
    return statistics.mean(steps[: -(-len(steps) // 10)])


def print_case(case, rounds, names):
    plain_ms = [step for laps in rounds for lap in laps for step in lap.get(PLAIN, [])]
    for name in names:
        by_round = [ratios_of(laps, name) for laps in rounds]
        ratios = [ratio for each in by_round for ratio in each]
        if len(ratios) < 2:
            raise SystemExit(
                f"{case}, {name}: {len(ratios)} laps of at least {turns.LEAST_STEPS} steps each to compare; "
                "ask for more --steps"
            )
        low, middle, high = statistics.quantiles(ratios, n=4)
        medians = [statistics.median(each) for each in by_round if each]
        fast = fastest_tenth(rounds, name) / fastest_tenth(rounds, PLAIN)
        print(
            f"{case},{name},{statistics.median(plain_ms):.3f},{middle:.4f},{low:.4f},{high:.4f},"
            f"{min(medians):.4f},{max(medians):.4f},{fast:.4f},{len(ratios)}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--floor", type=lambda path: str(pathlib.Path(path).resolve(strict=True)))
    parser.add_argument("--rows", default="")
    parser.add_argument("--turn", type=float, help="how long a turn is in seconds, for every case")
    parser.add_argument("--no-peer", action="store_true")
    arguments = parser.parse_args()
    if not rows(arguments):
        parser.error(
            f"--rows {arguments.rows}: there are {', '.join(list(PASSES)[1:] + list(FLOOR))} (the latter with --floor)"
        )

    print(
        "case,row,time_ms,ratio,lower_quartile,upper_quartile,lowest_round,highest_round,fastest_tenth,laps", flush=True
    )
    for case in arguments.cases.split(","):
        print_case(case, measure(arguments, case), rows(arguments))
    if not arguments.no_peer:
        print("torch.profiler: size,activities,plain_ms,profiled_ms,ratio,events", flush=True)
        subprocess.run([sys.executable, str(pathlib.Path(__file__).parent / "peers" / "profiler.py")], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
