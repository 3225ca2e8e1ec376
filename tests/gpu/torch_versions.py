# SPDX-License-Identifier: Apache-2.0
"""Observes programs and a workload on a GPU with kymo's wheel, under the torch of each of several interpreters.

Usage: torch_versions.py WHEEL FOLDER [PYTHON...]

PYTHON is an interpreter with torch, by default the one that runs this script. For each, FOLDER/VERSION contains a
virtual environment with the wheel, which borrows the packages of the interpreter, and the databases. Another CUPTI than
that of torch can be chosen with LD_PRELOAD. Ends with 1 if a check fails, with 77 without a GPU.

Checks: the modules for the version load with all their symbols; `kymo doctor` says that everything can be recorded; the
programs of trace_programs.py, compiled ones and CUDA graphs included, have their steps, phases, modules and memory; and
a workload in Python has kernels in its modules in all passes, and no dropped records.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from gpu_tool import command, dropped_faults, rows, show, warnings

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "versions"))
from observe import LOAD, MODEL, modules_for  # noqa: E402

KINDS = ("transformer", "autocast", "graph", "inductor", "reduce_overhead", "memory", "killed", "profiled")
WHERE = "import sysconfig as s, torch as t; print(t.__version__, t.__path__[0], s.get_path('purelib'), sep='\\n')"
KERNELS = "SELECT count(*) AS kernels, count(scope_id) AS in_modules FROM kernel WHERE step >= 0"


def checked(*words):
    done = command(*words)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def make_environment(folder, python, torch, packages, wheel):
    """The interpreter of an environment with the wheel and the packages of another interpreter."""
    checked(python, "-m", "venv", "--without-pip", folder)
    (site,) = folder.glob("lib/python3*/site-packages")
    (site / "packages.pth").write_text(f"{packages}\n", encoding="utf-8")
    (site / "torch").symlink_to(torch)
    checked(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--no-index", wheel)
    return folder / "bin" / "python"


def check_modules(python, version):
    root = python.parents[1]
    modules = modules_for(root, version)
    done = command(python, "-c", LOAD, *modules)
    return done.stdout.splitlines(), [] if done.returncode == 0 else [done.stderr[-1000:]]


def check_doctor(kymo):
    found = {each["subject"]: each for each in json.loads(command(kymo, "doctor", "--json").stdout)}
    lines = [f"{name}: {found[name]['found']}" for name in ("torch of python", "cupti", "gpu driver") if name in found]
    return lines, [] if "everything can be recorded" in lines[0] else ["not everything can be recorded"]


def check_workload(kymo, python, database):
    passes = "verify,time,memory,trace,ops"
    words = (f"{MODEL}:model", "--python", python, "--device", "cuda", "--warmup", "2", "--steps", "8")
    done = command(kymo, "run", *words, "--passes", passes, "--db", database)
    if done.returncode:
        return [], [f"exit code {done.returncode}: {done.stderr[-2000:]}"]
    (kernels,) = rows(kymo, database, KERNELS)
    faults = dropped_faults(kymo, database)
    if not 0 < kernels["in_modules"] <= kernels["kernels"]:
        faults.append("no kernels in modules")
    return [json.dumps(kernels), *warnings(kymo, database)], faults


def check_version(folder, python, wheel):
    """Number of failed checks."""
    version, torch, packages = checked(python, "-c", WHERE).splitlines()
    folder = folder / version
    folder.mkdir()
    own = make_environment(folder / "environment", python, torch, packages, wheel)
    kymo = own.parent / "kymo"
    # `kymo` describes the environment that it is installed in.
    os.environ["PATH"] = f"{own.parent}:{os.environ['PATH']}"
    os.environ["VIRTUAL_ENV"] = str(own.parents[1])
    failed = 0
    for name, check in (
        ("modules", lambda: check_modules(own, version)),
        ("doctor", lambda: check_doctor(kymo)),
        ("workload", lambda: check_workload(kymo, own, folder / "workload.db")),
    ):
        lines, faults = check()
        show(f"torch {version}, {name}", lines, faults)
        failed += bool(faults)
    programs = subprocess.run([own, TESTS / "gpu" / "trace_programs.py", kymo, folder, *KINDS], check=False)
    return failed + (programs.returncode != 0)


def main(wheel, folder, interpreters):
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for python in interpreters:
        failed += check_version(folder, python, wheel)
    return int(failed > 0)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if command("nvidia-smi").returncode:
        print("no GPU")
        sys.exit(77)
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:] or [sys.executable]))
