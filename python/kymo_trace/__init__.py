# SPDX-License-Identifier: Apache-2.0
"""Observes an unmodified PyTorch program from within, for `kymo trace`. Imported by lib/kymo/inject/sitecustomize.py.

The package does as little as possible until the program imports torch, because every Python process that the program
starts imports it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

#: The process that loaded this package, which differs from os.getpid() in a fork.
LOADED_IN = os.getpid()
#: The script or module that Python runs, without its arguments, among which the program may change sys.argv.
PROGRAM = sys.orig_argv[-len(sys.argv)] if 0 < len(sys.argv) <= len(sys.orig_argv) else ""
_installed = False


def append_to_log(file: str, line: str) -> None:
    """Appends to the program's log file, which the supervisor reads when the program has ended."""
    try:
        with open(file, "a", encoding="utf-8") as opened:
            opened.write(line + "\n")
    except OSError:
        pass


class _Finder:
    """Calls a function when a module is imported for the first time."""

    def __init__(self, name: str, function: Callable[[ModuleType], None]) -> None:
        self.name = name
        self.function = function

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        import importlib.util

        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_observe(module: ModuleType) -> None:
            vars(spec.loader).pop("exec_module", None)  # another finder of the same module may have done so
            execute(module)
            self.function(module)

        spec.loader.exec_module = execute_and_observe  # type: ignore[method-assign]
        return spec


def after_import(name: str, function: Callable[[ModuleType], None]) -> None:
    """Calls a function with a module as soon as it is imported; immediately if it already is."""
    module = sys.modules.get(name)
    if module is not None:
        function(module)
    else:
        sys.meta_path.insert(0, _Finder(name, function))  # type: ignore[arg-type]


def _observe_torch(setting: dict[str, Any], start_ns: int) -> None:
    file = setting["log"]
    try:
        from ._supported import check_interpreter

        check_interpreter()  # before an extension is loaded
        from . import _start

        append_to_log(file, "torch")
        _start.start(setting, start_ns)
    except Exception as error:  # must not become an error of the program
        append_to_log(file, f"error {' '.join(str(error).split())}")


def from_site() -> None:
    """Called by the kymo_trace.pth of an environment with kymo's wheel, for interpreters that ignore PYTHONPATH. Does
    nothing if the program is observed by another installation of kymo, which may be of another version."""
    start_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    try:
        package = json.loads(os.environ["KYMO_TRACE"])["package"]
        if os.path.realpath(package) == os.path.realpath(os.path.dirname(os.path.dirname(__file__))):
            install(start_ns)
            return
    except Exception as error:  # must not become an error of the program
        print(f"kymo: the program cannot be observed: {type(error).__name__}: {error}", file=sys.stderr)
    sys.modules.pop(__name__, None)


def install(start_ns: int) -> None:
    """Waits for the import of torch. `start_ns` is when the process began, on CLOCK_MONOTONIC_RAW."""
    global _installed
    if _installed:
        return
    _installed = True
    setting = json.loads(os.environ["KYMO_TRACE"])
    append_to_log(setting["log"], "python")
    after_import("torch", lambda _: _observe_torch(setting, start_ns))
