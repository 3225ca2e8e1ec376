# SPDX-License-Identifier: Apache-2.0
"""Runs programs and workloads with the wheel that is installed in an environment, and says what was recorded."""

import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PROGRAMS = TESTS / "python" / "programs"
MODEL = TESTS / "python" / "workloads" / "model.py"
STEPS = 16
# Limit of every wait, in seconds. It ends a program that hangs; none takes a tenth of it on two idle processors.
HANG_S = 1800
# By name: passes, and the program with its arguments.
TRACED = {
    "by_hand": ("time,ops,trace", ["train.py", "by_hand", STEPS]),
    "transformer": ("ops,memory", ["train.py", "transformer", STEPS]),
    "autocast": ("ops", ["train.py", "autocast", STEPS]),
    "checkpointed": ("ops", ["train.py", "checkpointed", STEPS]),
    "loader": ("ops", ["train.py", "loader", STEPS]),
    "compiled": ("ops", ["compiled.py", "whole", STEPS, "inductor"]),
}
PHASES = """SELECT pass, phase, count(*), sum(calls) FROM sample WHERE warmup = 0 GROUP BY pass, phase
            ORDER BY pass, phase"""
OPERATORS = """SELECT DISTINCT n.text, o.backward, p.text, q.text FROM op o
               JOIN string n ON n.string_id = o.name_id LEFT JOIN string p ON p.string_id = o.phase_id
               LEFT JOIN string q ON q.string_id = o.scope_id WHERE o.pass = 'ops' AND o.step >= 3"""
FAULTS = """SELECT 'warning', kind || ': ' || detail FROM run_warning
            WHERE kind NOT IN ('unstable', 'interference', 'clock drift', 'not reproducible', 'not verified',
                               'unlike steps', 'assumed steps')
            UNION ALL SELECT 'dropped by ' || source, detail FROM dropped_record
            UNION ALL SELECT status, detail FROM run WHERE status <> 'ok'"""
MEMORY = """SELECT category, iif(category = 'activation', max(bytes) > 0, max(bytes)) FROM memory_by_category
            WHERE category IN ('parameter', 'gradient', 'optimizer_state', 'activation') GROUP BY category"""

# Loads modules with all their symbols, and prints where the libraries are that they share with torch.
LOAD = """
import ctypes, os, re, sys, torch
for module in sys.argv[1:]:
    ctypes.CDLL(module, mode=os.RTLD_NOW | os.RTLD_LOCAL)
shared = r"/.*/lib(?:torch|torch_cpu|torch_cuda|c10|c10_cuda|cudart|cupti)[.]so.*"
print(*sorted(set(re.findall(shared, open("/proc/self/maps").read()))), sep="\\n")
"""

# Computes attention and a normalisation with kymo's operators, also compiled, and prints the largest deviations from
# torch's of the results and of the gradients.
OPERATORS_OF_KYMO = """
import kymo.operators, torch
from torch.nn.functional import rms_norm, scaled_dot_product_attention
kymo.operators.load()
kymo.operators.load()
torch.manual_seed(1)
ops, weight = torch.ops.kymo, torch.rand(16)
def both(attend, normalise):
    q = torch.arange(2 * 3 * 40 * 16.0).sin().reshape(2, 3, 40, 16).requires_grad_()
    out = normalise(attend(q, q.flip(1), q.flip(2)), weight)
    out.square().sum().backward()
    return out.detach(), q.grad
def own(attend_as):
    return both(lambda q, k, v: ops.attention(q, k, v, causal=True, implementation=attend_as),
                lambda x, w: ops.rms_norm(x, w, 1e-5))
expected = both(lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True),
                lambda x, w: rms_norm(x, (16,), w, 1e-5))
for found in own("tiled"), own("naive"), torch.compile(own, backend="aot_eager")("tiled"):
    print(*(float((a - b).abs().max()) for a, b in zip(found, expected)))
"""

# Operators outside of the checkpointed modules by program, module and phase: checkpoint() of torch 2.11 alone makes an
# empty tensor there and passes it to the autograd function _NoopSaveInputs.
ONLY_IN_SOME = {"checkpointed": {(0, "forward", "Transformer")}}


class Environment:
    """A virtual environment with torch and kymo, and a folder for what is recorded."""

    def __init__(self, folder, results):
        self.folder, self.results = Path(folder).resolve(), Path(results)
        self.python = self.folder / "bin" / "python"
        self.variables = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "VIRTUAL_ENV": str(self.folder),
            "XDG_CACHE_HOME": str(self.results / "cache"),
            "TORCHINDUCTOR_CACHE_DIR": str(self.results / "inductor"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "TORCHINDUCTOR_VEC_ISA_OK": "0",  # less code to compile
            "OMP_NUM_THREADS": "1",
            "NO_COLOR": "1",
        }
        for name in ("KYMO_PLUGIN_PATH", "KYMO_PROGRAM", "KYMO_TORCH", "PYTHONPATH"):
            self.variables.pop(name, None)

    def run(self, *words, code=0):
        """What a program of the environment prints. Raises AssertionError if it ends with another exit code."""
        done = subprocess.run(
            list(map(str, words)),
            cwd=self.results,
            env=self.variables,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=HANG_S,
            check=False,
        )
        assert done.returncode == code, f"{words}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def rows(self, database, query):
        with closing(sqlite3.connect(self.results / database)) as connection:
            return connection.execute(query).fetchall()


def traced(environment, name):
    """What the passes of a program recorded. Names are apart: they may differ between versions of torch."""
    passes, (script, *arguments) = TRACED[name]
    program = (environment.python, PROGRAMS / script, *arguments)
    environment.run("kymo", "trace", "--device", "cpu", "--passes", passes, "--db", f"{name}.db", "--", *program)
    operators = environment.rows(f"{name}.db", OPERATORS)
    return {
        "faults": environment.rows(f"{name}.db", FAULTS),
        "phases": environment.rows(f"{name}.db", PHASES),
        "modules": {row[1:] for row in operators} - ONLY_IN_SOME.get(name, set()),
        "names": {row[0] for row in operators},
    }


def memory(environment):
    """The largest sizes of the categories of the memory of the transformer."""
    return environment.rows("transformer.db", MEMORY)


def workload(environment):
    """A workload in Python in all passes."""
    passes = "predict,verify,time,memory,trace,ops"
    environment.run(
        *("kymo", "run", f"{MODEL}:model", "--device", "cpu", "--warmup", "1", "--steps", "4", "--passes", passes),
        *("--db", "workload.db"),
    )
    operators = environment.rows("workload.db", OPERATORS.replace(">= 3", ">= 1"))
    return {
        "faults": environment.rows("workload.db", FAULTS),
        "outcome": environment.rows("workload.db", "SELECT DISTINCT outcome FROM verification"),
        "version": environment.rows("workload.db", "SELECT framework_version FROM plugin"),
        "phases": environment.rows("workload.db", PHASES),
        "modules": {row[1:] for row in operators},
        "names": {row[0] for row in operators},
        "peaks": environment.rows("workload.db", "SELECT predicted_bytes, measured_bytes FROM memory_prediction"),
    }


def compared(environment):
    """The statuses of the runs of `kymo ab`."""
    train = PROGRAMS / "train.py"
    programs = [f"{environment.python} {train} {kind} 12" for kind in ("by_hand", "transformer")]
    environment.run("kymo", "ab", "--device", "cpu", "--max-time", "1", "--db", "ab.db", "--", *programs)
    return environment.rows("ab.db", "SELECT DISTINCT label LIKE '%by_hand%', status FROM run ORDER BY 1")


def report(environment):
    """The text of the report on the transformer."""
    environment.run("kymo", "report", "program", "--format", "markdown", "--db", "transformer.db", "--out", "report")
    return "".join(file.read_text(encoding="utf-8") for file in sorted((environment.results / "report").rglob("*.md")))


def modules_for(root, version):
    """The collector modules of an installation for a version of torch."""
    folder = Path(root) / "lib" / "kymo" / "modules"
    own = folder / f"torch-{'.'.join(version.split('.')[:2])}"
    return [*own.glob("*.so"), *(each for each in folder.glob("*.so") if not (own / each.name).exists())]


def loaded(environment, version):
    """The modules for a version, and the libraries that they share with its torch."""
    modules = modules_for(environment.folder, version)
    libraries = environment.run(environment.python, "-c", LOAD, *modules).splitlines()
    return {"modules": [each.name for each in modules], "libraries": [Path(each) for each in libraries]}


def operators_of_kymo(environment):
    """Deviations of the results of kymo's operators from those of torch's, for each way to compute them."""
    lines = environment.run(environment.python, "-c", OPERATORS_OF_KYMO).splitlines()
    return [[float(word) for word in line.split()] for line in lines]


def doctor(environment):
    """What `kymo doctor` found, by subject."""
    return {found["subject"]: found for found in json.loads(environment.run("kymo", "doctor", "--json"))}


def observe(folder, results):
    """All of the above in one environment."""
    environment = Environment(folder, results)
    version = environment.run(environment.python, "-c", "import torch; print(torch.__version__)").strip()
    found = {"version": version, "doctor": doctor(environment)}
    found["loaded"] = loaded(environment, version)
    found["traced"] = {name: traced(environment, name) for name in TRACED}
    found["operators_of_kymo"] = operators_of_kymo(environment)
    found["memory"] = memory(environment)
    found["workload"] = workload(environment)
    found["compared"] = compared(environment)
    found["report"] = report(environment)
    shutil.rmtree(environment.results / "inductor", ignore_errors=True)
    return found
