#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures whether runs that other processes disturb carry the warning `interference`, and undisturbed runs do not.

  interference.py KYMO [--rounds 20] [--threads 0] [--step-us 100] [--work FOLDER]

Runs a step of about 100 us (fork_join.cpp) in pairs: without other processes, and with one CPU-burning process per
processor. Every run whose median differs from that of the quiet runs by more than 20 % must carry the warning, and at
most one quiet run in twenty may. The result counts only if a quarter of the loaded runs were shifted by 20 %, and if
the machine was idle during the quiet runs: their load is printed, as a quiet run on a busy machine is not quiet.
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
import time

SHIFT = 0.2
BURN = "while True: pass"
QUESTION = """
SELECT l.step_median_ms * 1e3, l.count, w.wait_share, w.switches_per_s, w.pressure_share,
  (SELECT group_concat(kind) FROM run_warning x WHERE x.run_id = l.run_id)
FROM run_list l JOIN processor_wait w ON w.run_id = l.run_id WHERE l.label = ? ORDER BY l.run_id DESC LIMIT 1"""


class Bench:
    def __init__(self, kymo, folder, threads):
        self.kymo, self.folder, self.threads = kymo.resolve(), pathlib.Path(folder), threads
        source = pathlib.Path(__file__).with_name("fork_join.cpp")
        (self.folder / source.name).write_bytes(source.read_bytes())
        self.call("build", source.name)
        self.database = self.folder / "interference.db"

    def call(self, *words):
        done = subprocess.run([self.kymo, *words], cwd=self.folder, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"kymo {' '.join(words)} failed:\n{done.stdout}{done.stderr}")

    def run(self, label, additions):
        settings = ["--set", f"additions={additions}", "--set", f"threads={self.threads}"]
        words = ["--no-verify", "--fresh", "--label", label, "--db", str(self.database)]
        self.call("run", "./fork_join.so", *settings, *words)
        with sqlite3.connect(self.database) as db:
            median_us, steps, wait, switches, pressure, kinds = db.execute(QUESTION, (label,)).fetchone()
        return {
            "label": label,
            "median_us": median_us,
            "steps": steps,
            "wait_share": wait,
            "switches_per_s": switches,
            "pressure_share": pressure,
            "warned": "interference" in (kinds or "").split(","),
        }

    def loaded_run(self, additions):
        count = os.cpu_count()
        burners = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(count)]
        try:
            time.sleep(0.3)
            return self.run("loaded", additions)
        finally:
            for burner in burners:
                burner.kill()
            for burner in burners:
                burner.wait()


def additions_for(bench, step_us):
    """The number of additions for a step of this length."""
    additions = 100_000
    medians = [bench.run("calibration", additions)["median_us"] for _ in range(3)]
    return max(1, round(additions * step_us / min(medians)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=0, help="threads of the step; 0: one per processor")
    parser.add_argument("--step-us", type=float, default=100)
    parser.add_argument("--json", type=pathlib.Path, help="also write the runs to this file")
    arguments = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory(prefix="kymo-bench") as folder:
        bench = Bench(arguments.kymo, folder, arguments.threads)
        additions = additions_for(bench, arguments.step_us)
        for _ in range(arguments.rounds):
            runs.append(bench.run("quiet", additions))
            runs.append(bench.loaded_run(additions))
            for run in runs[-2:]:
                print(json.dumps(run), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(runs, indent=1), encoding="utf-8")

    quiet = [run for run in runs if run["label"] == "quiet"]
    usual_us = statistics.median(run["median_us"] for run in quiet)
    shifted = [run for run in runs if abs(run["median_us"] / usual_us - 1) > SHIFT]
    loaded_shifted = sum(run["label"] == "loaded" for run in shifted)
    missed = [run for run in shifted if not run["warned"]]
    false = [run for run in quiet if run["warned"] and run not in shifted]
    busy = statistics.median(run["pressure_share"] or 0 for run in quiet)
    print(f"quiet runs: median {usual_us:.1f} us; a thread of the machine waited for {busy:.0%} of the time (median)")
    print(
        f"shifted by more than {SHIFT:.0%}: {loaded_shifted} of {arguments.rounds} loaded runs, "
        f"{len(shifted) - loaded_shifted} quiet runs; without the warning: {len(missed)}"
    )
    print(f"quiet runs with the warning: {sum(run['warned'] for run in quiet)}, of which not shifted: {len(false)}")
    if loaded_shifted < arguments.rounds / 4:
        print("too few loaded runs were shifted: the result does not count")
        return 2
    return 0 if not missed and sum(run["warned"] for run in quiet) <= arguments.rounds / 20 else 1


if __name__ == "__main__":
    sys.exit(main())
