#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the tracing overhead of a training step, compared with torch.profiler on the same model in Python
(peers/profiler.py), on one GPU.

  tracing_cost.py KYMO [--rounds 3] [--steps 200] [--cases "small bf16,large bf16"] [--floor tests/kernel_records.so]
    [--rows trace,ops] [--slice SECONDS] [--no-peer]

Each round runs every case in one process per row: a time pass, the passes trace and ops, and a time pass with another
pass in the same invocation ("time with trace"). The processes run in interleaved slices (interleave.py), so that other
load of the machine affects all alike. A ratio is the median step of a slice divided by that of the plain time pass in
the same cycle of slices. Printed are the median over the cycles, their quartiles, the lowest and highest median
of a round, and the ratio of the fastest tenths of all steps, which is least sensitive to other load. --floor adds the
overhead of LibTorch and CUPTI without kymo, in time passes (kernel_records.cpp): CUPTI's kernel records alone, with an
empty callback at each launch, prepared for graphs, and with an empty callback at each operator; and with kymo's own
launch log, which is the trace pass without scopes and nodes. On a shared machine, restricting the processes to a few
processors (taskset -c 8-11 tracing_cost.py ...) gives shorter and less variable steps. --rows selects rows in addition
to the plain one. The first case is launch-bound (small, bf16 autocast), large is GPU-bound, and the last one replays a
CUDA graph.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import interleave

# Parameters and slice length in seconds: many steps, but short compared with changes of the machine's load.
CASES = {
    "small bf16": (["size=small", "autocast=true"], 0.3),
    "large bf16": (["size=large", "autocast=true"], 1.5),
    "large fp32": (["size=large", "autocast=false"], 2.5),
    "small bf16 graph": (["size=small", "autocast=true", "execution=graph"], 0.3),
}
PLAIN = "time"
PASSES = {PLAIN: "time", "trace": "trace", "ops": "ops", "time with trace": "time,trace"}
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
    """Names of the rows compared with the plain time pass."""
    names = [name for name in [*PASSES, *(FLOOR if arguments.floor else [])] if name != PLAIN]
    return [name for name in names if not arguments.rows or name in arguments.rows.split(",")]


def member(arguments, words, name, folder):
    database = os.path.join(folder, name + ".db")
    passes = PASSES.get(name, "time")
    # The other rows take longer per step, and their last cycles need a plain slice to compare with.
    steps = arguments.steps * 3 // 2 if name == PLAIN else arguments.steps
    environment = dict(os.environ)
    if name in FLOOR:
        environment |= {"CUDA_INJECTION64_PATH": arguments.floor, "KYMO_RECORDS": FLOOR[name]}
    return interleave.Member(
        name, command(arguments, words, passes, steps, database), environment, database, passes.split(",")[0]
    )


def measure(arguments, case):
    """A list of cycles for each round."""
    words, slice_s = CASES[case]
    slice_s = arguments.slice or slice_s
    rounds = []
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
            rounds.append(
                interleave.run([member(arguments, words, name, folder) for name in [PLAIN, *rows(arguments)]], slice_s)
            )
        print_round(case, rounds, rows(arguments))
    return rounds


def ratios_of(cycles, name):
    return [
        statistics.median(cycle[name]) / statistics.median(cycle[PLAIN])
        for cycle in cycles
        if name in cycle and PLAIN in cycle
    ]


def print_round(case, rounds, names):
    """Prints intermediate results after each round to stderr, so that they are not lost if the benchmark is
    interrupted."""
    for name in names:
        ratios = [ratio for cycles in rounds for ratio in ratios_of(cycles, name)]
        known = f"{statistics.median(ratios):.4f} of {len(ratios)} cycles" if ratios else "no cycles"
        print(f"{case}, round {len(rounds)}: {name} {known}", file=sys.stderr, flush=True)


def fastest_tenth(rounds, name):
    """Mean of the fastest tenth, because disturbances only increase the time of a step."""
    steps = sorted(
        step for cycles in rounds for cycle in cycles if name in cycle and PLAIN in cycle for step in cycle[name]
    )
    return statistics.mean(steps[: -(-len(steps) // 10)])


def print_case(case, rounds, names):
    plain_ms = [step for cycles in rounds for cycle in cycles for step in cycle.get(PLAIN, [])]
    for name in names:
        by_round = [ratios_of(cycles, name) for cycles in rounds]
        ratios = [ratio for each in by_round for ratio in each]
        if len(ratios) < 2:
            raise SystemExit(
                f"{case}, {name}: {len(ratios)} cycles with at least {interleave.LEAST_STEPS} steps each, "
                "at least 2 are needed; increase --steps"
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
    parser.add_argument("--slice", type=float, help="slice length in seconds, for every case")
    parser.add_argument("--no-peer", action="store_true")
    arguments = parser.parse_args()
    if not rows(arguments):
        parser.error(
            f"--rows {arguments.rows}: known rows are {', '.join(list(PASSES)[1:] + list(FLOOR))} "
            "(the latter with --floor)"
        )

    print(
        "case,row,time_ms,ratio,lower_quartile,upper_quartile,lowest_round,highest_round,fastest_tenth,cycles",
        flush=True,
    )
    for case in arguments.cases.split(","):
        print_case(case, measure(arguments, case), rows(arguments))
    if not arguments.no_peer:
        print("torch.profiler: size,activities,plain_ms,profiled_ms,ratio,events", flush=True)
        subprocess.run([sys.executable, str(pathlib.Path(__file__).parent / "peers" / "profiler.py")], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
