# SPDX-License-Identifier: Apache-2.0
"""Runs Python programs in forks of one process that has imported torch and Inductor, or torch by light_torch: that
takes longer than everything else that the programs of these tests do. As a script, this file is that process."""

import atexit
import functools
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "python" / "programs"


@functools.cache
def _server(python, module, settings):
    # LibTorch reads the number of threads only once, when it is loaded, and Inductor its settings when it is imported.
    environment = {**os.environ, **dict(settings), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PROGRAMS)}
    process = subprocess.Popen(
        [python, __file__, module], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(_end, process)
    return process


def _end(process):
    process.stdin.close()
    process.stdout.close()
    process.wait()


def run_forked(python, words, folder, environments):
    """Runs a program, a path with arguments, in `folder` once for each of the environments, at the same time. Returns
    the exit codes, and the output and error output of all."""
    is_light = "KYMO_TEST_LIGHT_TORCH" in environments[0]
    # Inductor, which imports Dynamo, takes four times as long to import as torch.
    settings = tuple(item for item in environments[0].items() if item[0].startswith("TORCHINDUCTOR_"))
    server = _server(python, "light_torch" if is_light else "torch._inductor.compile_fx", settings)
    with tempfile.TemporaryDirectory() as texts:
        files = [Path(texts) / name for name in ("output", "errors")]
        request = {
            "words": [*map(str, words)],
            "folder": str(folder),
            "environments": environments,
            "files": [*map(str, files)],
        }
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        codes = json.loads(server.stdout.readline())
        return codes, *(file.read_text(encoding="utf-8") for file in files)


def _become(request, environment):
    """In a fork: everything is as if the program had been started on its own."""
    for number, name in enumerate([os.devnull, *request["files"]]):
        opened = os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(request["folder"])
    sys.argv = request["words"]
    sys.path[0] = os.path.dirname(sys.argv[0])


def _serve():
    """Returns in a fork, with the path of its program; in the process itself, when the test has ended."""
    for line in sys.stdin:
        request = json.loads(line)
        children = []
        for environment in request["environments"]:
            child = os.fork()
            if child == 0:
                _become(request, environment)
                return sys.argv[0]
            children.append(child)
        print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]), flush=True)
    return None


if __name__ == "__main__":
    importlib.import_module(sys.argv[1])
    sys.path.remove(str(PROGRAMS))
    program = _serve()
    if program:
        runpy.run_path(program, run_name="__main__")
        sys.stdout.flush()
        os._exit(0)  # freeing what was imported would take longer than most programs
