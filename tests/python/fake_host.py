# SPDX-License-Identifier: Apache-2.0
"""Runs Python workloads with the fake engine, in this process or in a worker process, and describes files."""

import functools
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

BUILD = Path(os.environ["KYMO_BUILD"]).resolve()
PACKAGE = BUILD / "lib/kymo/python"
FAKE_ENGINE = BUILD / "tests/fake_engine.so"

sys.dont_write_bytecode = True
sys.path.insert(0, str(PACKAGE))

from kymo import _engine, _errors  # noqa: E402
from kymo._build import TORCH_VERSION  # noqa: E402

HAS_TORCH = bool(TORCH_VERSION) and importlib.util.find_spec("torch") is not None
needs_torch = unittest.skipUnless(HAS_TORCH, "this build or its interpreter has no torch")


def script_of(keys):
    lines = []
    for key, value in keys.items():
        for each in value if isinstance(value, list) else [value]:
            lines.append(f"{key} {each}\n")
    return "".join(lines)


def read_events(log):
    return [tuple(line.split("\t")) for line in log.read_text(encoding="utf-8").split("\n")[:-1]]


def serve(load, report=None, flush=lambda: None, rank=0, **script):
    """Runs an assignment in this process. Returns the engine's exit code and its events."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "events"
        code = _engine.serve(
            str(FAKE_ENGINE),
            "/root/of/kymo",
            str(log),
            rank,
            script_of(script),
            1,
            load,
            report or (lambda error: _errors.report(error, os.path.abspath(sys.argv[0]))),
            flush,
        )
        return code, read_events(log)


def serve_step(step, **script):
    """Runs a workload of one function, step(run), in this process. Returns the events after create."""

    def factory(run):
        return None, None, functools.partial(step, run), None, None, False

    parameters = tuple((each.split()[0], 1) for each in script.get("parameter", []))
    _, events = serve(lambda *_: ("", (("w", ("forward", "backward"), 0, 1, parameters, factory),)), **script)
    return [event for event in events if event[0] not in ("serve", "plugin", "workload", "phase", "parameter")]


def write_file(folder, source, name="my_kernel.py"):
    file = Path(folder).resolve() / name
    file.write_text(textwrap.dedent(source), encoding="utf-8")
    return file


def start(folder, arguments, timeout=900, python=sys.executable, options=(), **environment):
    """Runs kymo_worker.py in an installation whose engine is the fake one."""
    library = Path(folder) / "root/lib/kymo"
    if not (library / "python").exists():
        library.mkdir(parents=True, exist_ok=True)
        (library / "python").symlink_to(PACKAGE)
        (library / "libkymo_engine.so").symlink_to(FAKE_ENGINE)
    command = [python, *options, str(library / "python/kymo_worker.py"), *arguments]
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=variables, check=False)


def describe(source, name="my_kernel.py", **options):
    """Describes a file. Returns the exit code, the answer and the process."""
    with tempfile.TemporaryDirectory() as folder:
        file = write_file(folder, source, name)
        done = start(folder, ["describe", str(file)], **options)
        return done.returncode, json.loads(done.stdout), done


class Worker:
    """The result of a worker process."""

    def __init__(self, done, events):
        self.code, self.output, self.errors, self.events = done.returncode, done.stdout, done.stderr, events

    def of(self, *kinds):
        return [event for event in self.events if event[0] in kinds]


@functools.cache
def description_of(source, name):
    code, plugin, done = describe(source, name)
    assert code == 0, done.stdout + done.stderr
    return json.dumps(plugin)


def run_file(source, name="my_kernel.py", edit=None, rank=0, **script):
    """Describes a file and runs one of its workloads in a worker process. edit(file) is called in between."""
    plugin = json.loads(description_of(source, name))
    with tempfile.TemporaryDirectory() as folder:
        file = write_file(folder, source, name)
        plugin["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
        if edit:
            edit(file)
        log = Path(folder) / "events"
        parameters = [
            f"{each['name']} {each['type']} {json.dumps(each['default'])}".replace('"', "")
            for each in plugin["workloads"][script.get("workload", 0)]["parameters"]
        ]
        token = script_of({"file": file, "description": json.dumps(plugin), "parameter": parameters, **script})
        done = start(folder, ["worker", "--connect", str(log), "--rank", str(rank)], KYMO_WORKER_TOKEN=token)
        left = sorted(path.name for path in Path(folder).iterdir() if path.name not in ("root", "events", name))
        assert not left, f"the worker left {left}"
        return Worker(done, read_events(log) if log.exists() else [])
