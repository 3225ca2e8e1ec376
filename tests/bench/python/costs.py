# SPDX-License-Identifier: Apache-2.0
"""Workloads of tests/bench/python_cost.py. The functions they measure are also called by a bare loop."""

import kymo

WIDTH = {"empty": 0, "short": 8, "matmul": 512, "long": 1400}


def function_of(name):
    """A function without arguments; empty takes tens of ns, short about a µs, long more than 5 ms."""
    import torch

    torch.manual_seed(0)
    width = WIDTH[name]
    if not width:
        return lambda: None
    left, right, out = torch.randn(width, width), torch.randn(width, width), torch.empty(width, width)
    return lambda: torch.mm(left, right, out=out)


class Function(kymo.Workload):
    """Calls one function in each step"""

    name = "python_cost"
    framework = "torch"
    function = kymo.Choice("short", tuple(WIDTH))
    threads = kymo.Int(1, minimum=1)

    def prepare(self, run):
        import torch

        torch.set_num_threads(self.threads)
        self.call = function_of(self.function)

    def step(self, run):
        self.call()


class Regions(kymo.Workload):
    """Enters one region many times in each step"""

    name = "python_regions"
    phases = ("forward",)
    region = kymo.Choice("none", ("none", "phase", "scope"))
    count = kymo.Int(1000, minimum=1)

    def prepare(self, run):
        self.entered = {"phase": run.phase("forward"), "scope": run.scope("block")}.get(self.region)
        self.forward = run.phase("forward")

    def step(self, run):
        region = self.entered
        if region is None:
            for _ in range(self.count):
                pass
        else:
            for _ in range(self.count):
                with region:
                    pass
