# SPDX-License-Identifier: Apache-2.0
"""Compilations and graph breaks of Dynamo, from Dynamo's own records.

Dynamo creates one CompilationMetrics object per compilation, and kymo observes its creation. Reasons and code of graph
breaks are read from lists of torch._dynamo.utils. Nothing changes how Dynamo compiles.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from . import _exceptions, _program
from ._replacement import without_dynamo

_MAX_ROWS = 10_000  # pending, before the pass begins
# The rest of a function, after a graph break.
_RESUMED = re.compile(r"(?:torch_dynamo_resume_in_)+(?P<name>.+)_at_(?P<line>\d+)")
_COMPILE_ID = re.compile(r"^\s*\d+/\d+: ", re.MULTILINE)


def reason_text(text: str) -> str:
    """The first lines of a reason of Dynamo, on one line, without hints for Dynamo's developers."""
    kept: list[str] = []
    for line in text.strip().splitlines():
        words = line.strip()
        if not words or words.startswith(("Hint:", "Developer debug context:", "For more details", "from user code")):
            break
        kept.append(words.removeprefix("Explanation: "))
    return _exceptions.shortened(": ".join(kept[:2]) if kept else text)


def recompile_text(text: str) -> str:
    """Why the guards of the previous compilations failed, without the compile ids."""
    return _exceptions.shortened("; ".join(_COMPILE_ID.sub("", text).strip().splitlines()))


class Compilations:
    """Buffers rows of table `compilation` until the pass begins, because most compilations come before it."""

    def __init__(self, position: Callable[[], tuple[int, int]], report: Callable[[str], None]) -> None:
        self.position = position  # step of the pass and of the program
        self.report = report  # what cannot be observed
        self.rows: list[tuple[int, int, int, int, int, int, str, str, int, str]] = []
        self.active = True
        self._utils: Any = None
        self._located = 0  # entries of graph_break_reasons that were read
        self._breaks: Counter[str] = Counter()  # by reason, as last seen
        self._functions: dict[str, tuple[str, str, int]] = {}  # by number of the compilation

    def watch(self, utils: Any) -> None:
        """Observes torch._dynamo.utils."""
        try:
            metrics_class, self._breaks = utils.CompilationMetrics, Counter(utils.counters.get("graph_break", {}))
            self._located = len(utils.graph_break_reasons)
            original = metrics_class.create
        except AttributeError as error:
            self.report(f"compilations: {error}")
            return
        self._utils = utils

        add = without_dynamo(self.add)

        def create(_: Any, values: dict[str, Any]) -> Any:
            metrics = original(values)
            if self.active:
                add(values)
            return metrics

        metrics_class.create = classmethod(create)

    def add(self, values: dict[str, Any]) -> None:
        """Adds a compilation that has ended, and the graph breaks in it."""
        try:
            self._add_breaks()
            self._add_compilation(values)
        except Exception as error:  # must not become an error of the program
            self.active = False
            self.rows.clear()
            self.report(f"compilations: {type(error).__name__}: {error}")

    def deliver(self) -> None:
        """Stores the rows in the pass. Requires a step that runs."""
        for row in self.rows:
            _program.compilation(*row)
        self.rows.clear()

    def are_in_step(self, step: int) -> None:
        """Sets the step of the program for all buffered rows."""
        self.rows = [(row[0], row[1], step, *row[3:]) for row in self.rows]

    def are_not_after(self, step: int) -> None:
        """Limits the step of the program of all buffered rows."""
        self.rows = [(row[0], row[1], min(row[2], step), *row[3:]) for row in self.rows]

    def end(self) -> None:
        self.active = False
        self.rows.clear()

    def _append(
        self, kind: int, start_ns: int, duration_ns: int, inductor_ns: int, code: tuple[str, str, int], reason: str
    ) -> None:
        if len(self.rows) < _MAX_ROWS:
            self.rows.append((kind, *self.position(), start_ns, duration_ns, inductor_ns, *code, reason))
            _program.stop_following()  # the observation is called at the next boundary

    def _add_compilation(self, values: dict[str, Any]) -> None:
        number = str(values.get("compile_id"))
        if values.get("co_name"):
            self._functions[number] = _function(
                values["co_name"], values.get("co_filename") or "", values.get("co_firstlineno") or 0
            )
        kind, reason = _kind(values)
        # The times are those of the system clock.
        age_ns = time.time_ns() - 1000 * (values.get("start_time_us") or time.time_ns() // 1000)
        inductor_us = values.get("inductor_cumulative_compile_time_us")
        self._append(
            kind,
            time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - age_ns,
            1000 * (values.get("duration_us") or 0),
            -1 if inductor_us is None else 1000 * inductor_us,
            self._functions.get(number, ("", "", 0)),
            reason,
        )

    def _add_breaks(self) -> None:
        """Dynamo counts the graph breaks by reason; for most it also keeps the code, in another list."""
        counted: Counter[str] = Counter(self._utils.counters.get("graph_break", {}))
        reasons = self._utils.graph_break_reasons
        if sum(counted.values()) < sum(self._breaks.values()):  # torch._dynamo.reset()
            self._breaks.clear()
        if len(reasons) < self._located:
            self._located = 0
        located = [(_first_line(each.reason), each.user_stack) for each in reasons[self._located :]]
        self._located = len(reasons)
        now_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        for text, count in (counted - self._breaks).items():
            stacks = [stack for line, stack in located if line == _first_line(text)]
            for number in range(count):
                code = _innermost(stacks[number]) if number < len(stacks) else ("", "", 0)
                self._append(_program.GRAPH_BREAK, now_ns, 0, -1, code, reason_text(text))
        self._breaks = counted


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].strip()


def _function(name: str, file: str, line: int) -> tuple[str, str, int]:
    """The function in the source code: Dynamo compiles the code after a graph break as a function of its own."""
    found = _RESUMED.fullmatch(name)
    return (found["name"], file, int(found["line"])) if found else (name, file, line)


def _innermost(stack: Any) -> tuple[str, str, int]:
    if not stack:
        return ("", "", 0)
    frame = stack[-1]
    return _function(frame.name, frame.filename, frame.lineno or 0)[0], frame.filename, frame.lineno or 0


def _kind(values: dict[str, Any]) -> tuple[int, str]:
    if values.get("fail_type"):
        return _program.FAILED_COMPILATION, reason_text(f"{values['fail_type']}: {values.get('fail_reason') or ''}")
    if values.get("is_runtime"):
        return _program.RUNTIME_COMPILATION, ""
    if values.get("recompile_reason"):
        return _program.RECOMPILATION, recompile_text(values["recompile_reason"])
    is_forward = values.get("co_name") is not None
    return (_program.COMPILATION if is_forward else _program.BACKWARD_COMPILATION), ""
