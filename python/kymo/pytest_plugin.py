# SPDX-License-Identifier: Apache-2.0
"""The pytest fixture kymo_benchmark: measures a function in processes of their own and compares it with earlier runs.

    def test_softmax(kymo_benchmark):
        x = [float(i) for i in range(1000)]
        result = kymo_benchmark(softmax, x)
        assert abs(sum(result) - 1) < 1e-9

The function is called once in the test, which receives its result. Then kymo runs the test again in further processes
and measures the function in each, because the steps of one process are not independent. Each process is a run of the
workload `benchmark` in the database.
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest

from . import _benchmark

T = TypeVar("T")
_WORKLOAD = pathlib.Path(__file__).parents[1] / "kymo_benchmark" / "benchmark.py"
_LAST = "last"
_ROWS: pytest.StashKey[list[tuple[str, ...]]] = pytest.StashKey()
_HEAD = ("test", "time", "change", "verdict")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kymo", "benchmarks with kymo")
    group.addoption("--kymo-db", default="kymo.db", metavar="FILE", help="results database [kymo.db]")
    group.addoption("--kymo-label", default="", metavar="TEXT", help="label to store with the runs")
    group.addoption("--kymo-repeat", type=int, default=5, metavar="N", help="processes per test [5]")
    group.addoption(
        "--kymo-min-time", type=float, metavar="SECONDS", help="time to measure in each process, as in 'kymo run'"
    )
    group.addoption(
        "--kymo-compare",
        nargs="?",
        const=_LAST,
        metavar="LABEL",
        help="compare with the runs of this label, or without one with the last earlier runs of the test",
    )
    group.addoption(
        "--kymo-margin", default="1%", metavar="REL", help="largest relative difference treated as none [1%%]"
    )
    group.addoption("--kymo-fail-on-slower", action="store_true", help="fail tests whose verdict is SLOWER")
    group.addoption("--kymo-skip", action="store_true", help="call the functions once, without measuring them")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_ROWS] = []
    if config.getoption("kymo_fail_on_slower") and not config.getoption("kymo_compare"):
        raise pytest.UsageError("--kymo-fail-on-slower needs --kymo-compare")


class Benchmark:
    """Measures the function of one test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._config, self._node = request.config, request.node
        self.called = False

    def __call__(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Calls the function with these arguments, measures it, and returns the result of the call.

        The function is called many times, always with the same objects. Work on a GPU has to be complete when it
        returns. Raises kymo.Error if a run fails. With --kymo-fail-on-slower, the verdict SLOWER fails the test.
        """
        if self.called:
            pytest.fail("a test calls kymo_benchmark once; use parametrize for several cases", pytrace=False)
        self.called = True
        if _benchmark.is_worker():
            _benchmark.serve_steps(functools.partial(function, *args, **kwargs))
        result = function(*args, **kwargs)
        if not self._config.getoption("kymo_skip"):
            self._measure()
        return result

    def _measure(self) -> None:
        if hasattr(self._config, "workerinput"):
            pytest.fail("tests that run side by side disturb each other: run benchmarks without -n", pytrace=False)
        done = self._run()
        case_key = done["runs"][0]["case_key"]
        found = self._compare(done["invocation_id"], case_key) if self._config.getoption("kymo_compare") else None
        self._config.stash[_ROWS].append((self._node.nodeid, _time_text(done["runs"]), *_comparison_texts(found)))
        if found and found["verdict"] == "SLOWER" and self._config.getoption("kymo_fail_on_slower"):
            pytest.fail(f"{self._node.nodeid} is slower than before: {_change_text(found)}", pytrace=False)

    def _run(self) -> dict[str, Any]:
        from ._results import Error, _option_words, kymo_json

        option = self._config.getoption
        words = ["run", str(_WORKLOAD), "--set", f"test={self._node.nodeid}", "--fresh"]
        words += _option_words(
            {
                "passes": "time",
                "repeat": option("kymo_repeat"),
                "min_time": option("kymo_min_time"),
                "label": option("kymo_label") or None,
                "db": option("kymo_db"),
                "python": sys.executable,
                "project": _project(self._config.rootpath),
            }
        )
        os.environ[_benchmark.VARIABLE] = json.dumps(self._arguments())
        try:
            done: dict[str, Any] = kymo_json(words)
        finally:
            del os.environ[_benchmark.VARIABLE]
        if failed := [run for run in done["runs"] if run["status"] != "ok"]:
            raise Error(
                f"run {failed[0]['run_id']} of {self._node.nodeid} ended as {failed[0]['status']}: "
                f"{failed[0]['detail']}; 'kymo log {failed[0]['run_id']} --db {option('kymo_db')}' shows its output"
            )
        return done

    def _arguments(self) -> list[str]:
        """The arguments with which pytest runs this test alone, with the options that users set in their files."""
        config = self._config
        test = str(self._node.path) + self._node.nodeid[self._node.nodeid.index("::") :]
        words = [test, "--rootdir", str(config.rootpath), "-p", __name__, "-p", "no:cacheprovider", "-q", "-s"]
        if config.inipath:
            words += ["-c", str(config.inipath)]
        for plugin, switch in (("xdist", "-n0"), ("pytest_cov", "--no-cov")):
            if config.pluginmanager.hasplugin(plugin):
                words.append(switch)
        return words

    def _compare(self, invocation: int, case_key: str) -> dict[str, Any] | None:
        from ._results import kymo_json

        database, side = self._config.getoption("kymo_db"), self._config.getoption("kymo_compare")
        if side == _LAST:
            side = _last_invocation(database, case_key, invocation)
            if side is None:
                return None
        words = ["compare", side, str(invocation), "--db", database, "--margin", self._config.getoption("kymo_margin")]
        cases = kymo_json(words)["cases"]
        return next((case for case in cases if case["parameters"].get("test") == self._node.nodeid), None)


def _last_invocation(database: str, case_key: str, before: int) -> str | None:
    """The number of the newest invocation with runs of the case before the given one."""
    from ._database import open as open_database

    _, rows = open_database(database).rows(
        "SELECT max(invocation_id) FROM phase_time WHERE case_key = ? AND status = 'ok' AND invocation_id < ?",
        (case_key, before),
    )
    (last,) = rows[0]
    return None if last is None else str(last)


def _project(folder: pathlib.Path) -> str | None:
    """The folder if it is in a git working tree."""
    return str(folder) if any((each / ".git").exists() for each in (folder, *folder.parents)) else None


def _time_text(runs: list[dict[str, Any]]) -> str:
    middle = statistics.median(run["phases"]["step"]["time_ns"] for run in runs)
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if middle >= size:
            return f"{middle / size:.3g} {unit}"
    return f"{middle:.3g} ns"


def _change_text(case: dict[str, Any]) -> str:
    percent = 100 * (case["ratio"] - 1)
    return f"{abs(percent):.1f} % {'slower' if percent > 0 else 'faster'}"


def _comparison_texts(case: dict[str, Any] | None) -> tuple[str, str]:
    if case is None or case["ratio"] is None:
        return "", ""
    return _change_text(case), case["verdict"]


@pytest.fixture
def kymo_benchmark(request: pytest.FixtureRequest) -> Iterator[Benchmark]:
    """Measures a function: kymo_benchmark(function, *args, **kwargs) returns its result."""
    benchmark = Benchmark(request)
    yield benchmark
    if not benchmark.called:
        pytest.fail("the test uses kymo_benchmark but does not call it", pytrace=False)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    rows = config.stash[_ROWS]
    if not rows:
        return
    terminalreporter.section("kymo benchmarks")
    compared = bool(config.getoption("kymo_compare"))
    table = [_HEAD, *rows] if compared else [row[:2] for row in (_HEAD, *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        terminalreporter.write_line("  ".join(cells).rstrip())
    if compared and any(row[2:] == ("", "") for row in rows):
        terminalreporter.write_line("without a change: no earlier runs to compare with")
    terminalreporter.write_line(f"results: {config.getoption('kymo_db')}")
