# SPDX-License-Identifier: Apache-2.0
"""A worker whose workload is the function that a test passes to the fixture kymo_benchmark.

The worker runs pytest for this one test. The fixture then serves the engine from within the test, so that the steps run
where the test called it: in its thread, with its fixtures and its context.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

#: The variable with the arguments of pytest, as JSON; only a worker of the fixture has it.
VARIABLE = "KYMO_BENCHMARK_TEST"

#: The function that is measured.
function: Callable[[], Any] | None = None

_serve: Callable[[], int] | None = None


def is_worker() -> bool:
    """True in a worker that runs a test."""
    return _serve is not None


def run_test(arguments: list[str], serve: Callable[[], int]) -> int:
    """Runs pytest with these arguments until the fixture calls serve_steps(), which ends the process. Returns an exit
    code if the test does not come that far."""
    global _serve
    _serve = serve
    import pytest

    code = pytest.main(arguments)
    print(f"kymo: the test ended without calling kymo_benchmark (pytest: exit code {code})", file=sys.stderr)
    return 1


def serve_steps(step: Callable[[], Any]) -> NoReturn:
    """Measures the function as the supervisor asks, and ends the process."""
    global function
    assert _serve is not None
    function = step
    code = _serve()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)
