#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the verdicts of `kymo ab` on a planted difference and on no difference.

  ab_trials.py BUILD [--trials 20] [--max-time 60] [--work 1000] [--commands] [--busy 0]

The candidates are the workload `burns` (tests/plugins) with `work` and 1.05 times `work`, and twice with the same
`work`; with --commands, the commands `sleep 0.1` and `sleep 0.11`, and twice `sleep 0.1`. --busy starts this number of
busy loops first. Both kinds of trial alternate. Prints one line per trial and a summary with the load of the machine.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def trial(kymo, candidates, max_time, folder):
    words = ["ab", *candidates, "--max-time", str(max_time), "--json"]
    start = time.monotonic()
    done = subprocess.run(
        [kymo, *words, "--db", str(folder / "ab.db")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    )
    return json.loads(done.stdout)["pairs"][0], time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--max-time", type=float, default=60)
    parser.add_argument("--work", type=int, default=1000)
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--busy", type=int, default=0)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    kymo, plugin = str(build / "bin" / "kymo"), build / "tests" / "plugins" / "burns.so"
    burns, work = f"{plugin}:burns:work=", arguments.work
    kinds = {
        "more": (f"{burns}{work}", f"{burns}{work * 105 // 100}"),
        "the same": (f"{burns}{work},spare=0", f"{burns}{work},spare=1"),
    }
    if arguments.commands:
        kinds = {"more": ("sleep 0.1", "sleep 0.11"), "the same": ("sleep 0.1", "sleep 0.1")}
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(arguments.busy)]
    try:
        return count_verdicts(kymo, kinds, arguments)
    finally:
        for loop in busy:
            loop.kill()


def count_verdicts(kymo, kinds, arguments):
    verdicts = {kind: collections.Counter() for kind in kinds}
    longest_s = 0
    with tempfile.TemporaryDirectory(prefix="kymo-ab-") as folder:
        for number in range(arguments.trials):
            for kind, candidates in kinds.items():
                pair, seconds = trial(kymo, candidates, arguments.max_time, pathlib.Path(folder))
                verdicts[kind][pair["verdict"]] += 1
                longest_s = max(longest_s, seconds)
                processor = (pair.get("processor") or {}).get("verdict", "-")
                measured = f"{pair['sentence']}, {seconds:.1f} s, processor time {processor}"
                print(f"{number + 1} {kind}: {measured}, load {os.getloadavg()[0]:.1f}", flush=True)
    for kind, counts in verdicts.items():
        print(f"{kind}: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    print(f"longest trial: {longest_s:.1f} s")
    wrong = verdicts["more"].total() - verdicts["more"]["SLOWER"]
    false = verdicts["the same"]["FASTER"] + verdicts["the same"]["SLOWER"]
    return 0 if wrong <= arguments.trials / 20 and false <= arguments.trials / 20 else 1


if __name__ == "__main__":
    sys.exit(main())
