# SPDX-License-Identifier: Apache-2.0
"""Workloads in Python for kymo, and access to its results.

A workload is a class with a repeatable step, or a function that returns one:

    class Saxpy(kymo.Workload):
        n = kymo.Int(1 << 20, minimum=1, unit="elements", doc="vector length")
        phases = ("forward",)

        def prepare(self, run):
            self.x, self.y = torch.rand(self.n, device=run.device), torch.rand(self.n, device=run.device)
            self.forward = run.phase("forward")

        def step(self, run):
            with self.forward:
                self.y.add_(self.x, alpha=2)

`kymo run ./saxpy.py` runs the workloads of a file.
"""

from typing import Any

from ._build import VERSION as __version__
from ._errors import Skip
from ._parameters import Bool, Choice, Int, Parameter, Real, Text
from ._run import Rendezvous, Run
from ._verification import Check, Verification
from ._workload import Workload, workload

_RESULTS = ("Database", "Error", "Results", "compare", "observe", "open", "run")

__all__ = [
    "Bool",
    "Check",
    "Choice",
    "Int",
    "Parameter",
    "Real",
    "Rendezvous",
    "Run",
    "Skip",
    "Text",
    "Verification",
    "Workload",
    "__version__",
    "workload",
]


def __getattr__(name: str) -> Any:
    """Imports the results API on first use: workers do not need it."""
    if name == "observe":
        from ._observation import observe

        return observe
    if name in _RESULTS:
        from . import _results

        return getattr(_results, name)
    raise AttributeError(f"module 'kymo' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_RESULTS})
