#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What observing a training step costs, beside torch.profiler on the same model in Python (peers/profiler.py), on one GPU.

  tracing_cost.py KYMO [--repeat 5] [--steps 20] [--cases "small bf16,large bf16"] [--floor tests/kernel_records.so] [--no-peer]

Each case is run --repeat times in new processes: a time pass, then the passes trace and ops. The ratio is the one that kymo stores (table
overhead: median observed step over median step of the time pass); of the runs the median counts. The last column compares the fastest
tenth of all steps. The first case is bound by launches (small, bf16 autocast), the second by the GPU (large), the third replays a CUDA
graph. The last line compares time passes with and without other passes in the same call. --floor adds what CUPTI's own records take in
the first case, in time passes that alternate with plain ones: the records alone, and with an empty call at each launch
(kernel_records.cpp).
"""
import argparse
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile

CASES = {
    "small bf16": ["size=small", "autocast=true"],
    "large bf16": ["size=large", "autocast=true"],
    "large fp32": ["size=large", "autocast=false"],
    "small bf16 graph": ["size=small", "autocast=true", "execution=graph"],
}
RATIOS = "SELECT pass, time_ns / 1e6, observed_ns / 1e6, ratio FROM overhead WHERE phase = 'step'"
STEPS = "SELECT host_ns FROM sample WHERE pass = '{}' AND phase = 'step' AND warmup = 0"
MEDIANS = "SELECT median_ns / 1e6 FROM statistic WHERE phase = 'step' AND clock = 'host'"


def run(kymo, words, passes, repeat, steps, database, **environment):
    command = [kymo, "run", "transformer_lm", "--device", "cuda", "--no-verify", "--fresh", "--passes", passes, "--repeat", str(repeat),
               "--warmup", "10", "--steps", str(steps), "--observed-steps", str(steps), "--db", database]
    for word in words + ["context=256", "batch=4", "mode=train"]:
        command += ["--set", word]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | environment)


def step_ms(database):
    return [row[0] for row in query(database, MEDIANS)]


def steps_of(database, name):
    return [row[0] for row in query(database, STEPS.format(name))]


def fastest_tenth(steps):
    """What disturbs a step only ever lengthens it: the fastest tenth of all steps says what observing costs on a busy host."""
    return statistics.mean(sorted(steps)[:-(-len(steps) // 10)])


def print_row(case, observed, rows, fast_ratio):
    """rows: (plain ms, observed ms, ratio) of each run."""
    plain_ms, observed_ms, ratios = zip(*rows, strict=True)
    print(f"{case},{observed},{statistics.median(plain_ms):.3f},{statistics.median(observed_ms):.3f},{statistics.median(ratios):.4f},"
          f"{min(ratios):.4f},{max(ratios):.4f},{fast_ratio:.4f}", flush=True)


def measure_floor(arguments, case, folder):
    library = str(pathlib.Path(arguments.floor).resolve(strict=True))
    medians, steps = {}, {}
    for number in range(arguments.repeat):
        for records in ("", "kernels", "calls"):
            environment = {"CUDA_INJECTION64_PATH": library, "KYMO_RECORDS": records} if records else {}
            database = os.path.join(folder, f"floor{number}{records}.db")
            run(arguments.kymo, CASES[case], "time", 1, arguments.steps, database, **environment)
            medians.setdefault(records, []).extend(step_ms(database))
            steps.setdefault(records, []).extend(steps_of(database, "time"))
    for records in ("kernels", "calls"):
        rows = [(plain, observed, observed / plain) for plain, observed in zip(medians[""], medians[records], strict=True)]
        print_row(case, f"records: {records}", rows, fastest_tenth(steps[records]) / fastest_tenth(steps[""]))


def query(database, sql):
    with sqlite3.connect(database) as db:
        return db.execute(sql).fetchall()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--floor")
    parser.add_argument("--no-peer", action="store_true")
    arguments = parser.parse_args()

    print("case,pass,time_ms,observed_ms,ratio,lowest,highest,ratio_of_fastest_tenth", flush=True)
    alone, beside = [], []
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        for number, name in enumerate(arguments.cases.split(",")):
            words = CASES[name]
            database = os.path.join(folder, f"{number}.db")
            run(arguments.kymo, words, "time,trace,ops", arguments.repeat, arguments.steps, database)
            rows, fast = query(database, RATIOS), fastest_tenth(steps_of(database, "time"))
            for observed in ("trace", "ops"):
                print_row(name, observed, [row[1:] for row in rows if row[0] == observed], fastest_tenth(steps_of(database, observed)) / fast)
            if number == 0:
                beside = step_ms(database)
                plain = os.path.join(folder, "plain.db")
                run(arguments.kymo, words, "time", arguments.repeat, arguments.steps, plain)
                alone = step_ms(plain)
                if arguments.floor:
                    measure_floor(arguments, name, folder)
    print(f"time pass beside others {statistics.median(beside):.4f} ms, alone {statistics.median(alone):.4f} ms, "
          f"ratio {statistics.median(beside) / statistics.median(alone):.4f}", flush=True)
    if not arguments.no_peer:
        print("torch.profiler: size,activities,plain_ms,profiled_ms,ratio,events", flush=True)
        subprocess.run([sys.executable, str(pathlib.Path(__file__).parent / "peers" / "profiler.py")], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
