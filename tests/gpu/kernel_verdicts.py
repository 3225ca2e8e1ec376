# SPDX-License-Identifier: Apache-2.0
"""Measures kernels that are constructed to have one reason each for their time, and compares the verdicts.

Usage: kernel_verdicts.py KYMO [DATABASE]. Prints the expected and the actual verdict of the longest kernel of each
phase. Ends with 1 if one differs, with 77 without a GPU. Collectives are measured with two GPUs or more.
"""

import ast
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from gpu_tool import count_gpus

WORKLOADS = Path(__file__).resolve().parents[1] / "python" / "workloads" / "verdicts.py"
QUERY = """
SELECT phase, verdict, short_name, reason, next_step FROM (
  SELECT *, row_number() OVER (PARTITION BY phase ORDER BY time_ms DESC) AS position
  FROM kernel_verdict WHERE run_id = (SELECT max(run_id) FROM run WHERE workload = '{}') AND rank = 0
) WHERE position = 1
"""


def expectations():
    """The assignments of the workloads' file, which cannot be imported without torch."""
    tree = ast.parse(WORKLOADS.read_text(encoding="utf-8"))
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id.startswith("EXPECTED")
    }


def main(kymo, database):
    def run(*words):
        return subprocess.run([kymo, *words, "--db", database], check=False, stdout=subprocess.PIPE, text=True)

    def compare(workload, expected, *words):
        observed = ("--device", "cuda", "--passes", "time,trace,ops", "--trace-detail", "shapes")
        done = run("run", f"{WORKLOADS}:{workload}", *observed, "--warmup", "2", "--steps", "5", *words)
        if done.returncode != 0:
            print(done.stdout)
            return False
        found = {row["phase"]: row for row in json.loads(run("sql", QUERY.format(workload), "--json").stdout)}
        equal = True
        for phase, verdict in expected.items():
            row = found.get(phase)
            is_equal = row is not None and row["verdict"] == verdict
            equal = equal and is_equal
            print(f"{'ok   ' if is_equal else 'WRONG'} {phase}: expected {verdict}; ", end="")
            print("no kernel" if row is None else f"{row['verdict']}: {row['short_name']}: {row['reason']}")
        return equal

    count = count_gpus(kymo)
    if count == 0:
        print("no GPU")
        return 77
    expected = expectations()
    if (peaks := run("peaks")).returncode != 0:
        print(peaks.stdout)
        return 1
    equal = compare("verdicts", expected["EXPECTED"])
    if count > 1:
        equal = compare("collectives", expected["EXPECTED_OF_RANKS"], "--ranks", "2") and equal
    print(run("show", "--roofline").stdout)
    return 0 if equal else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else f"{folder}/kymo.db"))
