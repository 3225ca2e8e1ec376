# SPDX-License-Identifier: Apache-2.0
"""Workloads for the tests of the whole program: a small model with modules as scopes, and a collective."""

import sys
from pathlib import Path

import kymo
import torch


class Block(torch.nn.Module):
    def __init__(self, run, width):
        super().__init__()
        self.linear_scope, self.norm_scope = run.scope("linear"), run.scope("norm")
        self.linear, self.norm = torch.nn.Linear(width, width), torch.nn.LayerNorm(width)

    def forward(self, x):
        with self.linear_scope:
            x = self.linear(x)
        with self.norm_scope:
            return self.norm(x)


class Model(kymo.Workload):
    """A training step of two blocks"""

    width = kymo.Int(32, minimum=1, axis=(16, 32), unit="columns", doc="width of the blocks", title="{} columns")
    phases = ("forward", "backward", "optimizer")

    def prepare(self, run):
        sys.path.append(str(Path(__file__).resolve().parents[1] / "programs"))
        import no_dynamo  # noqa: F401

        torch.manual_seed(run.seed)
        self.blocks = torch.nn.Sequential(Block(run, self.width), Block(run, self.width)).to(run.device)
        self.optimizer = torch.optim.SGD(self.blocks.parameters(), lr=0.1, momentum=0.9)
        self.x = torch.randn(8, self.width, device=run.device)
        run.tag(self.x, "input")
        run.tag_module(self.blocks, self.optimizer)
        self.forward, self.backward, self.update = (run.phase(each) for each in self.phases)
        run.work("forward", flops=2 * 2 * 8 * self.width**2)
        run.metric("parameters", sum(each.numel() for each in self.blocks.parameters()), "elements")
        print("prepared", self.width)

    def step(self, run):
        with self.forward:
            loss = self.blocks(self.x).square().mean()
        with self.backward:
            loss.backward()
        with self.update:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def verify(self, run):
        self.step(run)
        return kymo.Verification().compare("shape", "input", list(self.blocks(self.x).shape), [8, self.width], 0)


@kymo.workload(ranks=(1, 4), phases=("reduce",))
def mean(run, n: kymo.Int(minimum=1) = 1024):
    """Averages a vector over ranks"""
    import torch.distributed as dist

    run.init_process_group()
    x = torch.full((n,), float(run.rank), device=run.device)
    reduce, call = run.phase("reduce"), run.collective("all_reduce", x)

    def step():
        with reduce, call:
            dist.all_reduce(x)
        x.div_(run.world_size)

    def verify():
        step()
        ranks = run.all_gather(x[0].item())
        expected = (run.world_size - 1) / 2
        return kymo.Verification().compare("mean", "closed form", ranks, [expected] * run.world_size, 1e-6)

    return step, verify


@kymo.workload(phases=("forward",), asynchronous=True)
def asynchronous(run, n: int = 256):
    """A step that may be timed hot and cold"""
    x = torch.randn(n, device=run.device)
    forward = run.phase("forward")

    def step():
        with forward:
            torch.exp(x)

    return {"step": step, "before_step": lambda: None}


class CheckpointedModel(kymo.Workload):
    """Operators of its own, with declared work and without, and a product that is computed again"""

    phases = ("forward", "backward")

    def prepare(self, run):
        self.scale = torch.library.custom_op(
            "kymo_test::scale", lambda x: 2 * x, mutates_args=(), schema="(Tensor x) -> Tensor"
        )
        self.shift = torch.library.custom_op(
            "kymo_test::shift", lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor"
        )
        run.operator_work("kymo_test::scale", flops=1, bytes=2)
        run.operator_work("kymo_test::scale", flops=48, bytes=384, arguments="f32[6, 8]")
        self.x, self.weight = torch.randn(6, 8), torch.randn(8, 4, requires_grad=True)

    def step(self, run):
        with run.phase("forward"):
            x = self.shift(self.scale(self.x))
            y = torch.utils.checkpoint.checkpoint(lambda: (x @ self.weight).exp(), use_reentrant=False)
        with run.phase("backward"):
            y.sum().backward()
