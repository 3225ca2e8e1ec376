# SPDX-License-Identifier: Apache-2.0
"""Observes programs of torch.distributed over NCCL on two GPUs, and on four GPUs those whose ranks form groups of two:
output, and collectives with phase, kernels and bytes; and a gather with a known delay. The ranks are started by
torchrun, and those of one program by torch.multiprocessing.

Usage: trace_collectives.py KYMO [FOLDER]. The databases are written to FOLDER. Ends with 1 if a program fails a check,
with 77 if there are fewer than two GPUs. Programs for which there are too few GPUs are left out.
"""

import json
import os
import sys
import tempfile

from gpu_tool import command, count_gpus, dropped_faults, rows, show, warnings
from trace_programs import TRAIN

STEPS = 16
FIRST, LAST = 4 * (8 * 16 + 16), 4 * (16 * 4 + 4)
WHOLE = 4 * (8 * 16 + 16 + 16 * 4 + 4)
# Collectives of each step: operation, bytes, phase. Programs of groups.py have four ranks in groups of two.
ONE_BUCKET = [("all_reduce", 4 * (8 * 16 + 16 + 16 + 1), "backward")]
PROGRAMS = {
    "ddp.py": ONE_BUCKET,
    "spawned.py ddp": ONE_BUCKET,
    "sharded.py": [
        ("all_gather", FIRST, "forward"),
        ("all_gather", LAST, "forward"),
        ("all_gather", FIRST, "backward"),
        ("reduce_scatter", FIRST, "backward"),
        ("reduce_scatter", LAST, "backward"),
        ("all_reduce", 4, None),
    ],
    "groups.py mesh": [
        ("all_gather", WHOLE, "forward"),
        ("reduce_scatter", WHOLE, "backward"),
        ("all_reduce", WHOLE // 2, "backward"),
    ],
    "groups.py replicated": [("all_reduce", WHOLE, "backward")],
}
CALLS = """
SELECT c.rank, c.step, c.operation, c.bytes, c.on_device, c.kernels, c.end_ns - c.start_ns AS ns, p.text AS phase
FROM collective c LEFT JOIN string p ON p.string_id = c.phase_id WHERE c.step >= 3
"""


def ranks_of(program):
    return 4 if program.startswith("groups.py") else 2


def command_line(program):
    """The command that starts a program."""
    file, *kind = program.split()
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks_of(program)]
    return [sys.executable, *([] if file == "spawned.py" else launcher), TRAIN.parent / file, *kind, STEPS]


def observe(kymo, database, program):
    return command(kymo, "trace", "--db", database, "--passes", "trace", "--no-stop", "--", *command_line(program))


def check(kymo, database, program):
    """(what to print, faults)"""
    expected = command(*command_line(program))
    if expected.returncode:
        return [], [f"fails without kymo: {expected.stderr[-1500:]}"]
    done = observe(kymo, database, program)
    if done.returncode:
        return [], [f"exit code {done.returncode}: {done.stderr[-2000:]}"]
    faults = [] if done.stdout == expected.stdout else ["its output differs"]
    calls = rows(kymo, database, CALLS)
    found = {}
    for call in calls:
        key = (call["operation"], call["bytes"], call["phase"])
        found.setdefault(key, []).append((call["rank"], call["step"]))
    for key in PROGRAMS[program]:
        at = found.get(key, [])
        steps = 10 * ranks_of(program)
        if len(set(at)) != steps:
            faults.append(f"{key}: in {len(set(at))} of {steps} steps of all ranks")
    on_host = [call for call in calls if not call["on_device"]]
    without = [call for call in calls if call["on_device"] and not (call["kernels"] and call["ns"] > 0)]
    if on_host:
        faults.append(f"{len(on_host)} of {len(calls)} collectives are not on the device")
    if without:
        faults.append(f"{len(without)} of {len(calls)} collectives have no kernel")
    faults += dropped_faults(kymo, database)
    summary = rows(kymo, database, "SELECT * FROM collective_summary")
    groups = [row["communicator"] for row in summary if row["ranks"] != 2 or not row["compared_launches"]]
    if groups:
        faults.append(f"communicators without two ranks whose calls were compared: {groups}")
    lines = [f"{key}: {len(at)} calls" for key, at in sorted(found.items(), key=str)]
    lines += [json.dumps({k: row[k] for k in row if row[k] is not None}) for row in summary]
    return lines + warnings(kymo, database), faults


def check_delayed_gather(kymo, database):
    """The last rank gathers the last layer 20 ms late in each forward pass; the other one waits for it."""
    os.environ["DELAY_MS"] = "20"
    try:
        done = observe(kymo, database, "sharded.py")
    finally:
        del os.environ["DELAY_MS"]
    if done.returncode:
        return [], [f"exit code {done.returncode}: {done.stderr[-2000:]}"]
    gathers = rows(kymo, database, "SELECT * FROM gather_lateness ORDER BY phase, layer_order")
    lines = [f"{row['phase']} {row['layer']}: late by {row['late_us']:.0f} us, {row['verdict']}" for row in gathers]
    delayed = [row["late_us"] for row in gathers if (row["phase"], row["layer"]) == ("forward", "2")]
    faults = [] if len(delayed) == 1 and abs(delayed[0] - 20_000) <= 2_000 else [f"the delayed gather: {delayed} us"]
    return lines, faults


def main(kymo, folder):
    gpus = count_gpus(kymo)
    if gpus < 2:
        print("fewer than two GPUs")
        return 77
    os.makedirs(folder, exist_ok=True)
    os.environ["DEVICE"] = "cuda"
    failed = False
    for program in PROGRAMS:
        if gpus < ranks_of(program):
            print(f"{program}: too few GPUs")
            continue
        lines, faults = check(kymo, f"{folder}/{program.replace(' ', '-')}.db", program)
        failed = failed or bool(faults)
        show(program, lines, faults)
    lines, faults = check_delayed_gather(kymo, f"{folder}/delayed_gather.db")
    show("delayed gather", lines, faults)
    return int(failed or bool(faults))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="kymo-collectives") as scratch:
        sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else scratch))
