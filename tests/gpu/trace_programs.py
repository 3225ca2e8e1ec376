# SPDX-License-Identifier: Apache-2.0
"""Observes the programs of tests/python/programs on a GPU: output, steps, phases, attribution of kernels.

Usage: trace_programs.py KYMO [FOLDER [KIND...]]. The databases are written to FOLDER. Ends with 1 if a program fails a
check, with 77 without a GPU.

Checks, for each program: its output is the same as without kymo, if two executions without kymo agree, where losses of
programs compiled by Inductor may differ by LOSS_TOLERANCE; the measured steps have the expected phases; no record was
dropped and everything was observed; and at least 99.5 % of the time of the kernels in forward and backward belongs to a
module, where those of the loss, which is not part of one, are not counted. KIND `memory` checks the categories of the
memory of one of them, KIND `killed` that the kernels and the memory of the steps before a `kill -9` are kept, and KIND
`planted` that the findings name causes of idle time that a program has on purpose. KIND `own` is a program that
observes a part of itself, and KIND `lines` checks which lines of Python code launch how many kernels and copies.

Two more programs are, or use, another profiler: OTHER_PROFILERS. Their output must be the same, all steps must be
measured, and the run must name the profiler. The client of CUPTI is tests/gpu/other_cupti_client.cpp in the build tree
of KYMO.
"""

import concurrent.futures
import json
import math
import signal
import sys
import tempfile
from pathlib import Path

from gpu_tool import command, count_gpus, dropped_faults, rows, show, warnings

FOLDER = Path(__file__).resolve().parents[1] / "python" / "programs"
TRAIN = FOLDER / "train.py"
STEPS = 16
STEP = {"forward": 1, "backward": 1, "optimizer": 1}
# Entries of each phase per step.
PROGRAMS = {
    "transformer": STEP,
    "autocast": STEP,
    "checkpointed": STEP,
    "accumulated": {"forward": 3, "backward": 3, "optimizer": 1},
    "gan": {"forward": 5, "backward": 2, "optimizer": 2},
    "by_hand": {"forward": 1, "backward": 1},
    "inference": {"forward": 1},
    "graph": STEP,
    "inductor": STEP,
    "reduce_overhead": STEP,
}
# Two executions without kymo that load the same kernels from Inductor's cache differ in the last bits on an H200,
# probably because of atomic additions in the gradient of the embedding.
INDUCTOR = {"inductor", "reduce_overhead"}
LOSS_TOLERANCE = 1e-4  # relative
CLIENT = Path("tests", "modules", "other_cupti_client.so")
# Arguments, and the kind of the warning that contains a name.
OTHER_PROFILERS = {
    "other_client": ([FOLDER / "other_client.py", CLIENT, STEPS], "dropped records", CLIENT.name),
    "profiled": ([FOLDER / "profiled.py", "6:8", STEPS, "cuda"], "other profiler", "torch.profiler"),
}
MIN_MODULE_SHARE = 0.995
# Kernels of the loss, a cross-entropy, in the backward pass.
LOSS = {"elementwise fill", "nll_loss_backward_reduce_cuda_kernel_2d", "softmax_warp_backward"}
# Their losses, casts of losses and sums of gradients run kernels that modules run, too.
UNCHECKED_SHARES = {"accumulated", "autocast", "by_hand", "gan"}
# Of `transformer`, in fp32.
PARAMETER_BYTES = 4 * (50 * 16 + 16 * 50 + 50 + 2 * (32 + 4 * (16 * 16 + 16) + 2 * 16 * 64 + 64 + 16))
NOT_OBSERVED = "SELECT DISTINCT value FROM metric WHERE name = 'not_observed'"
KERNELS = """
SELECT phase, short_name, scope IS NOT NULL AS has_scope, count(*) AS kernels, sum(duration_us) AS us
FROM kernel_call WHERE step >= 3 GROUP BY 1, 2, 3
"""


def phase_faults(found, expected, name):
    entries = {row["phase"]: row["calls"] / row["steps"] for row in found}
    return [] if entries == {"step": 1, "other": 1, **expected} else [f"phases of pass {name}: {entries}"]


def is_same(line, expected, tolerance):
    """Whether two lines of output are the same, or losses, in hexadecimal, that differ by `tolerance` at most."""
    if line == expected or not tolerance:
        return line == expected
    try:
        return math.isclose(float.fromhex(line), float.fromhex(expected), rel_tol=tolerance)
    except ValueError:
        return False


def is_same_output(text, expected, tolerance):
    lines, expected_lines = text.splitlines(), expected.splitlines()
    return len(lines) == len(expected_lines) and all(
        is_same(*pair, tolerance) for pair in zip(lines, expected_lines, strict=True)
    )


def share_of_modules(kernels):
    """(what to print, share of the time of kernels other than those of the loss)"""
    within = sum(row["us"] for row in kernels if row["has_scope"])
    outside = [row for row in kernels if not row["has_scope"]]
    unexpected = sum(row["us"] for row in outside if row["short_name"] not in LOSS)
    share = within / (within + unexpected) if within + unexpected else 1
    count, time = sum(row["kernels"] for row in kernels), sum(row["us"] for row in kernels)
    names = ", ".join(row["short_name"] for row in outside)
    return f"{count} kernels, {time:.0f} µs, {share:.4f} in modules; without: {names or 'none'}", share


def check(kymo, database, kind, phases):
    """(what to print, faults)"""
    program = [sys.executable, TRAIN, kind, STEPS, "cuda"]
    expected = [command(*program) for _ in range(2)]
    if any(done.returncode for done in expected):
        return [], [f"fails without kymo: {expected[0].stderr[-1000:]}"]
    # Of kernels that Inductor takes from its cache, and that were compiled without kymo, the modules are unknown.
    cache = f"TORCHINDUCTOR_CACHE_DIR={Path(database).resolve()}.inductor"
    done = command("env", cache, kymo, "trace", "--db", database, "--passes", "trace,time", "--no-stop", "--", *program)
    if done.returncode:
        return [], [f"exit code {done.returncode}: {done.stderr[-2000:]}"]
    lines = []
    faults = [f"not observed: {row['value']}" for row in rows(kymo, database, NOT_OBSERVED)]
    tolerance = LOSS_TOLERANCE if kind in INDUCTOR else 0
    if not is_same_output(expected[1].stdout, expected[0].stdout, tolerance):
        lines.append("two executions without kymo differ")
    elif not is_same_output(done.stdout, 2 * expected[0].stdout, tolerance):
        faults.append("its output differs")
    status = rows(kymo, database, "SELECT status, detail FROM run")
    if status != [{"status": "ok", "detail": ""}]:
        faults.append(f"status {status}")
    entries = (
        "SELECT phase, count(*) AS steps, sum(calls) AS calls FROM sample WHERE pass = '{}' AND warmup = 0 GROUP BY 1"
    )
    for name in ("time", "trace"):
        faults += phase_faults(rows(kymo, database, entries.format(name)), phases, name)
    faults += dropped_faults(kymo, database)
    kernels = rows(kymo, database, KERNELS)
    for phase in {*phases} - {"optimizer"} - {row["phase"] for row in kernels}:
        faults.append(f"no kernels in {phase}")
    for phase in sorted({row["phase"] for row in kernels}):
        line, share = share_of_modules([row for row in kernels if row["phase"] == phase])
        lines.append(f"{phase}: {line}")
        is_checked = phase == "forward" or (phase == "backward" and kind not in UNCHECKED_SHARES)
        if is_checked and share < MIN_MODULE_SHARE:
            faults.append(f"only {share:.4f} of {phase} in modules")
    return lines + warnings(kymo, database), faults


def check_memory(kymo, database):
    """The largest sizes of the categories of the memory of `transformer`: (what to print, faults)."""
    program = [sys.executable, TRAIN, "transformer", STEPS, "cuda"]
    done = command(kymo, "trace", "--db", database, "--passes", "memory", "--no-stop", "--", *program)
    if done.returncode:
        return [], [f"exit code {done.returncode}: {done.stderr[-2000:]}"]
    # The gradients are complete at the peak of the optimizer, and not at that of the step.
    largest = "SELECT category, max(bytes) AS bytes FROM memory_by_category WHERE device = 'cuda' GROUP BY category"
    found = {row["category"]: row["bytes"] for row in rows(kymo, database, largest)}
    if not found:
        return [], ["no memory on the device"]
    faults = []
    # Blocks of the allocator are multiples of 512 bytes.
    for name, least in (("parameter", PARAMETER_BYTES), ("gradient", PARAMETER_BYTES)):
        if not least <= found[name] <= 2 * least:
            faults.append(f"{found[name]} bytes of category {name}, not {least} or a little more")
    if not 2 * PARAMETER_BYTES <= found["optimizer_state"] <= 4 * PARAMETER_BYTES:
        faults.append(f"{found['optimizer_state']} bytes of optimizer state, not twice those of the parameters")
    return [json.dumps(found)], faults


def check_planted(kymo, folder):
    """Whether planted causes of idle time are named, each once, and not without them: (what to print, faults)."""
    lines, faults = [], []
    subjects = {
        "loader": "data loading",
        "loop": "many short kernels in Model/decay",
        "item": "copies to the host",
    }
    for planted in (list(subjects), []):
        database = f"{folder}/planted_{len(planted)}.db"
        program = [sys.executable, FOLDER / "planted.py", *planted]
        traced = ["trace", "--db", database, "--passes", "trace", "--steps", "4:10", "--no-stop"]
        done = command("env", "DEVICE=cuda", kymo, *traced, "--", *program)
        if done.returncode:
            return lines, [f"exit code {done.returncode}: {done.stderr[-2000:]}"]
        findings = rows(kymo, database, "SELECT subject, share, evidence FROM step_finding ORDER BY share DESC")
        lines += [f"{row['subject']}, {row['share']}: {row['evidence']}" for row in findings]
        found = [row["subject"] for row in findings]
        for cause, subject in subjects.items():
            if found.count(subject) != int(cause in planted):
                faults.append(f"'{subject}' is named {found.count(subject)} times; planted: {planted}")
        idle = "SELECT sum(idle_ms) AS idle_ms, max(step_ms) AS step_ms FROM idle_time WHERE phase = 'data_loading'"
        loaded = "SELECT avg(host_ns) / 1e6 AS ms FROM sample WHERE phase = 'data_loading' AND warmup = 0"
        (row,), (loading,) = rows(kymo, database, idle), rows(kymo, database, loaded)
        lines.append(f"loading {loading['ms']} ms, idle in it {row['idle_ms']} ms, step {row['step_ms']} ms")
        if planted and not 0.8 * loading["ms"] < row["idle_ms"] <= 1.001 * loading["ms"]:
            faults.append("the GPU is not idle while the host loads")
    return lines, faults


def check_own(kymo, folder):
    """Whether kymo.observe records the kernels of each step with their modules: (what to print, faults)."""
    package = Path(kymo).resolve().parents[1] / "lib" / "kymo" / "python"
    place = [f"PYTHONPATH={package}", f"KYMO_PROGRAM={Path(kymo).resolve()}", "DEVICE=cuda"]
    done = command("env", "-C", folder, *place, sys.executable, FOLDER / "observes_itself.py", "once")
    if done.returncode:
        return [], [f"exit code {done.returncode}: {done.stderr[-2000:]}"]
    query = """SELECT step, count(*) AS kernels, sum(scope IS NOT NULL) AS in_modules FROM kernel_call
               WHERE step >= 3 AND phase IN ('forward', 'backward') GROUP BY step"""
    steps = rows(kymo, f"{folder}/kymo.db", query)
    faults = [] if len(steps) == 4 and len({row["kernels"] for row in steps}) == 1 else ["not 4 equal steps"]
    if any(row["in_modules"] < 0.5 * row["kernels"] for row in steps):
        faults.append("kernels without modules")
    return [json.dumps(steps)], faults


def check_lines(kymo, folder):
    """Whether the kernels of the pass trace belong to the lines that launch them: (what to print, faults)."""
    database, source = f"{folder}/lines.db", FOLDER / "lines.py"
    traced = ["trace", "--db", database, "--passes", "trace", "--steps", "4:8", "--stacks", "python"]
    done = command("env", "DEVICE=cuda", kymo, *traced, "--", sys.executable, source)
    faults = [] if done.returncode == 0 else [f"exit code {done.returncode}: {done.stderr[-2000:]}"]
    text = source.read_text(encoding="utf-8").splitlines()
    line = {comment: number for number, code in enumerate(text, 1) for _, _, comment in [code.partition("  # ")]}
    query = "SELECT line, of_forward, kernels, host_copies FROM line_time WHERE file LIKE '%/lines.py'"
    found = {(row["line"], row["of_forward"]): row for row in rows(kymo, database, query)}
    lines = [str(row) for row in found.values()]
    # The derivative of a sine is a cosine and a product; the update may be one kernel for all parameters.
    expected = {("three times", 0): (3, 0), ("three times", 1): (6, 0), ("once", 0): (1, 0), ("read", 0): (0, 1)}
    for (comment, of_forward), counts in expected.items():
        row = found.get((line[comment], of_forward), {"kernels": 0, "host_copies": 0})
        if (row["kernels"], row["host_copies"]) != counts:
            faults.append(f"{comment}, of_forward = {of_forward}: {row}, expected {counts}")
    if not found.get((line["update"], 0), {"kernels": 0})["kernels"]:
        faults.append("no kernels of the update")
    return lines, faults + dropped_faults(kymo, database)


def check_killed(kymo, folder):
    """Whether all steps of a killed program have their kernels and memory: (what to print, faults)."""
    lines, faults = [], []
    queries = {
        "trace": "SELECT step, count(*) AS count FROM kernel WHERE step BETWEEN 2 AND 9 GROUP BY step",
        "memory": "SELECT step, count(*) AS count FROM allocation WHERE step BETWEEN 2 AND 9 AND device = 'cuda' "
        "GROUP BY step",
    }
    for name, query in queries.items():
        database = f"{folder}/killed_{name}.db"
        program = [sys.executable, TRAIN, "killed", STEPS, "cuda"]
        done = command(kymo, "trace", "--db", database, "--passes", name, "--steps", "3:100", "--", *program)
        if done.returncode != 128 + signal.SIGKILL:
            faults.append(f"{name}: exit code {done.returncode}: {done.stderr[-2000:]}")
        counts = [row["count"] for row in rows(kymo, database, query)]
        lines.append(f"{name}, rows of each step: {counts}")
        if len(counts) != 8 or min(counts) != max(counts):
            faults.append(f"{name}: not the same number in each of 8 steps")
        lines += warnings(kymo, database)
    scopes = "SELECT count(*) AS count FROM kernel WHERE step >= 3 AND scope_id IS NOT NULL"
    if rows(kymo, f"{folder}/killed_trace.db", scopes)[0]["count"] == 0:
        faults.append("no kernel belongs to a module")
    return lines, faults


def check_other(kymo, database, kind):
    """The same for a program with another profiler."""
    words, warning, name = OTHER_PROFILERS[kind]
    client = Path(kymo).resolve().parents[1] / CLIENT
    program = [sys.executable, *(client if word is CLIENT else word for word in words)]
    expected = command(*program)
    if expected.returncode:
        return [], [f"fails without kymo: {expected.stderr[-1000:]}"]
    done = command(kymo, "trace", "--db", database, "--passes", "time,trace", "--no-stop", "--", *program)
    faults = [] if done.returncode == 0 else [f"exit code {done.returncode}: {done.stderr[-2000:]}"]
    if done.stdout != 2 * expected.stdout:
        faults.append("its output differs")
    query = "SELECT pass, count(*) AS steps FROM sample WHERE phase = 'step' AND warmup = 0 GROUP BY pass"
    steps = {row["pass"]: row["steps"] for row in rows(kymo, database, query)}
    if steps != {"time": STEPS - 6, "trace": 10}:
        faults.append(f"measured {steps}")
    lines = warnings(kymo, database)
    if not any(line.startswith(f"{warning}: ") and name in line.removeprefix(f"{warning}: ") for line in lines):
        faults.append(f"no warning '{warning}' names {name}")
    return lines, faults


def main(kymo, folder, kinds):
    if count_gpus(kymo) == 0:
        print("no GPU")
        return 77
    Path(folder).mkdir(parents=True, exist_ok=True)
    failed = False
    with concurrent.futures.ThreadPoolExecutor(5) as pool:  # nothing is timed
        checks = {
            pool.submit(check, kymo, f"{folder}/{kind}.db", kind, phases): kind
            for kind, phases in PROGRAMS.items()
            if not kinds or kind in kinds
        }
        if not kinds or "memory" in kinds:
            checks[pool.submit(check_memory, kymo, f"{folder}/memory.db")] = "memory"
        if not kinds or "own" in kinds:
            checks[pool.submit(check_own, kymo, folder)] = "own"
        if not kinds or "planted" in kinds:
            checks[pool.submit(check_planted, kymo, folder)] = "planted"
        if not kinds or "lines" in kinds:
            checks[pool.submit(check_lines, kymo, folder)] = "lines"
        if not kinds or "killed" in kinds:
            checks[pool.submit(check_killed, kymo, folder)] = "killed"
        checks |= {
            pool.submit(check_other, kymo, f"{folder}/{kind}.db", kind): kind
            for kind in OTHER_PROFILERS
            if not kinds or kind in kinds
        }
        for done in concurrent.futures.as_completed(checks):
            lines, faults = done.result()
            failed = failed or bool(faults)
            show(checks[done], lines, faults)
    return int(failed)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="kymo-programs") as scratch:
        sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else scratch, sys.argv[3:]))
