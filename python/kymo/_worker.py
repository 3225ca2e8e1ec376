# SPDX-License-Identifier: Apache-2.0
"""The processes that kymo starts with the interpreter of a workload: one that describes a file, and workers."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import functools
import importlib
import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from . import _benchmark, _describe, _engine, _errors
from ._forks import serve_in_forks
from ._prediction import Prediction
from ._run import Run
from ._workload import Workload

_TYPES = {
    "int": _engine.INT,
    "real": _engine.REAL,
    "bool": _engine.BOOL,
    "text": _engine.TEXT,
    "choice": _engine.CHOICE,
}
_DEVICES = {"cpu": _engine.CPU, "cuda": _engine.CUDA}
# The functions that torch delegates to MKL (ATen/cpu/vml.h).
_VECTOR_FUNCTIONS = "acos asin atan cos erf erfc erfinv exp log log10 log2 sin sqrt tan tanh trunc"


class Worker:
    """Provides the workloads of one file to the engine."""

    def __init__(self, import_error: Exception | None) -> None:
        self.import_error = import_error  # of torch, whose import cannot be repeated
        self.file = ""
        self.sha256 = ""
        self.uses_torch = False
        self.workloads: dict[str, type[Workload]] | None = None  # None until the file is imported

    def load(self, file: str, description: str) -> tuple[str, tuple[Any, ...]]:
        """Returns the table of the file from its description. The file itself is imported when the first workload is
        created, after the collectors are armed, which need the libraries of torch."""
        plugin = json.loads(description)
        self.file, self.sha256 = file, plugin["sha256"]
        self.uses_torch = plugin["framework"] == "libtorch"
        if self.import_error:
            raise self.import_error
        if self.uses_torch:
            importlib.import_module("torch")
        return plugin["framework"], tuple(self._table_of(workload) for workload in plugin["workloads"])

    def _table_of(self, workload: dict[str, Any]) -> tuple[Any, ...]:
        name = workload["name"]
        flags = _engine.STEP_IS_ASYNCHRONOUS if workload["asynchronous_step"] else 0
        devices = sum(_DEVICES[device] for device in workload["devices"])
        parameters = tuple((each["name"], _TYPES[each["type"]]) for each in workload["parameters"])
        return (name, tuple(workload["phases"]), flags, devices, parameters, lambda run: self.create(name, run))

    def create(self, name: str, engine: _engine.Run) -> tuple[Any, ...]:
        """Creates an instance of a workload. Returns the functions that the extension calls."""
        if self.uses_torch:
            _prepare_torch(engine)
        if self.workloads is None:
            self.workloads = _describe.workloads_of(_describe.import_file(self.file, self.sha256))
        if name not in self.workloads:
            raise _errors.FileRejected(f"{self.file} no longer defines the workload '{name}'; run again")
        workload_class = self.workloads[name]
        values = {each: engine.parameter(each) for each in workload_class._parameters}
        run = Run(engine, dict(values))
        workload = workload_class.__new__(workload_class)
        vars(workload).update(values)
        workload.__init__()  # type: ignore[misc]
        functions = workload._bind(run)
        if engine.on_meta and self.uses_torch:
            functions = Prediction(sys.modules["torch"]).of(functions)
        return (*functions, run._end, workload_class.optional_phases)

    def report(self, exception: BaseException) -> tuple[int, str]:
        """Returns the status and the message of an exception."""
        return _errors.report(exception, self.file)


def _prepare_torch(engine: _engine.Run) -> None:
    torch = sys.modules["torch"]
    if engine.device == "cuda" and not engine.on_meta:
        torch.cuda.set_device(engine.device_index)
    # If several threads make the first call of such a function, one of them may compute with relative errors of 1e-4
    # (github.com/pytorch/pytorch/issues/188792).
    for dtype in (torch.float32, torch.float64):
        number = torch.ones(1, dtype=dtype)
        for name in _VECTOR_FUNCTIONS.split():
            getattr(torch, name)(number)


def _flush() -> None:
    """The workload may have closed or replaced the streams."""
    streams: tuple[Any, ...] = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    for stream in streams:
        with contextlib.suppress(Exception):
            stream.flush()


def _exit(code: int) -> NoReturn:
    """Ends the process: threads, exit handlers and objects of the workload cannot delay it."""
    _flush()
    os._exit(code)


def _exit_with(call: Callable[[], int]) -> NoReturn:
    """Ends the process with the exit code that the call returns, or 1 after an exception."""
    try:
        _exit(call())
    except Exception as error:
        print(f"kymo: {_errors.describe(error, __file__)}", file=sys.stderr)
        _exit(1)


def _describe_file(file: str) -> int:
    answer_fd = os.dup(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # output of the file must not mix with the answer
    os.close(nothing)
    warnings.simplefilter("ignore")  # kymo shows the last line of stderr with an error
    code, answer = 0, b""
    try:
        answer = json.dumps(_describe.describe(file), allow_nan=False).encode()
    except BaseException as error:
        code, answer = 1, json.dumps({"error": _errors.describe(error, file)}).encode()
    answer += b"\n"
    while answer:
        answer = answer[os.write(answer_fd, answer) :]
    return code


def _serve(address: str, rank: int, start_ns: int, import_error: Exception | None) -> int:
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the supervisor ends workers; KeyboardInterrupt would end only a step
    with contextlib.suppress(AttributeError):  # not a file if it is closed
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    library = _describe.LIBRARY
    engine, root = os.path.join(library, "libkymo_engine.so"), os.path.dirname(os.path.dirname(library))
    token = os.environ.pop("KYMO_WORKER_TOKEN", "")
    worker = Worker(import_error)
    return _engine.serve(engine, root, address, rank, token, start_ns, worker.load, worker.report, _flush)


def main(arguments: list[str], start_ns: int) -> NoReturn:
    """Runs `describe FILE` or `worker --connect ADDRESS --rank RANK [--fork-after-import MODULE]` and ends the process.
    `start_ns` is when it began, on CLOCK_MONOTONIC_RAW."""
    parser = argparse.ArgumentParser("kymo_worker.py", description="Started by kymo.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("describe").add_argument("file")
    worker = commands.add_parser("worker")
    worker.add_argument("--connect", required=True)
    worker.add_argument("--rank", type=int, required=True)
    worker.add_argument("--fork-after-import", metavar="MODULE")
    options = parser.parse_args(arguments)

    def serve(begin_ns: int, import_error: Exception | None) -> NoReturn:
        connect = functools.partial(_serve, options.connect, options.rank, begin_ns, import_error)
        if test := os.environ.pop(_benchmark.VARIABLE, ""):
            _exit_with(lambda: _benchmark.run_test(json.loads(test), connect))
        _exit_with(connect)

    if options.command == "describe":
        _exit_with(lambda: _describe_file(os.path.abspath(options.file)))
    if options.fork_after_import is not None:
        serve_in_forks(options.fork_after_import, start_ns, serve)
    serve(start_ns, None)
