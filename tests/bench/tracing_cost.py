#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What observing a training step costs, beside torch.profiler on the same model in Python (peers/profiler.py), on one GPU.

  tracing_cost.py KYMO [--repeat 5] [--steps 20] [--cases "small bf16,large bf16"] [--no-peer]

Each case is run --repeat times in new processes: a time pass, then the passes trace and ops. The ratio is the one that kymo stores (table
overhead: median observed step over median step of the time pass); of the runs the median counts. The last column compares the fastest
tenth of all steps. The first case is bound by launches (small,
bf16 autocast), the second by the GPU (large), the third replays a CUDA graph. The last line compares time passes with and without other
passes in the same call.
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
RATIOS = "SELECT pass, observed_ns / 1e6, time_ns / 1e6, ratio FROM overhead WHERE phase = 'step'"
# What disturbs a step only ever lengthens it: the fastest tenth of all steps says what observing costs on a busy host.
FAST = """SELECT pass, avg(host_ns) FROM (SELECT pass, host_ns, percent_rank() OVER (PARTITION BY pass ORDER BY host_ns) AS place
  FROM sample WHERE phase = 'step' AND warmup = 0) WHERE place <= 0.1 GROUP BY pass"""
MEDIANS = "SELECT median_ns / 1e6 FROM statistic WHERE phase = 'step' AND clock = 'host'"


def run(kymo, words, passes, repeat, steps, database):
    command = [kymo, "run", "transformer_lm", "--device", "cuda", "--no-verify", "--fresh", "--passes", passes, "--repeat", str(repeat),
               "--warmup", "10", "--steps", str(steps), "--observed-steps", str(steps), "--db", database]
    for word in words + ["context=256", "batch=4", "mode=train"]:
        command += ["--set", word]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def query(database, sql):
    with sqlite3.connect(database) as db:
        return db.execute(sql).fetchall()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--no-peer", action="store_true")
    arguments = parser.parse_args()

    print("case,pass,time_ms,observed_ms,ratio,lowest,highest,ratio_of_fastest_tenth", flush=True)
    alone, beside = [], []
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        for number, name in enumerate(arguments.cases.split(",")):
            words = CASES[name]
            database = os.path.join(folder, f"{number}.db")
            run(arguments.kymo, words, "time,trace,ops", arguments.repeat, arguments.steps, database)
            rows = query(database, RATIOS)
            fast = dict(query(database, FAST))
            for observed in ("trace", "ops"):
                of_pass = [row for row in rows if row[0] == observed]
                ratios = [row[3] for row in of_pass]
                print(f"{name},{observed},{statistics.median(r[2] for r in of_pass):.3f},{statistics.median(r[1] for r in of_pass):.3f},"
                      f"{statistics.median(ratios):.4f},{min(ratios):.4f},{max(ratios):.4f},{fast[observed] / fast['time']:.4f}", flush=True)
            if number == 0:
                beside = [row[0] for row in query(database, MEDIANS)]
                plain = os.path.join(folder, "plain.db")
                run(arguments.kymo, words, "time", arguments.repeat, arguments.steps, plain)
                alone = [row[0] for row in query(plain, MEDIANS)]
    print(f"time pass beside others {statistics.median(beside):.4f} ms, alone {statistics.median(alone):.4f} ms, "
          f"ratio {statistics.median(beside) / statistics.median(alone):.4f}", flush=True)
    if not arguments.no_peer:
        print("torch.profiler: size,activities,plain_ms,profiled_ms,ratio,events", flush=True)
        subprocess.run([sys.executable, str(pathlib.Path(__file__).parent / "peers" / "profiler.py")], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
