# SPDX-License-Identifier: Apache-2.0
"""Programs with compiled models, which know nothing of kymo: prints the loss of each step, exactly, and what Dynamo
counted.

compiled.py KIND STEPS [BACKEND]
"""

import sys

import torch
from torch import nn

WIDTH = 32


class Block(nn.Module):
    def __init__(self, breaks):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))
        self.breaks = breaks

    def forward(self, x):
        y = self.norm(x)
        if self.breaks:
            torch._dynamo.graph_break()  # the line that the test expects
        return x + self.feed_forward(y)


class Model(nn.Module):
    def __init__(self, breaks=False):
        super().__init__()
        self.layers = nn.ModuleList(Block(breaks) for _ in range(2))
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def train(steps, model, called, batch=lambda step: 4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        loss = called(torch.randn(batch(step), WIDTH)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(float(loss.detach()).hex(), flush=True)


def breaks(steps, backend):
    """The number of rows changes in step 8."""
    model = Model(breaks=True)
    train(steps, model, torch.compile(model, backend=backend), lambda step: 4 if step < 8 else 5)


def whole(steps, backend):
    model = Model()
    train(steps, model, torch.compile(model, backend=backend))


@torch.no_grad()
def infer(steps, called):
    for _ in range(steps):
        print(float(called(torch.randn(4, WIDTH)).sum()).hex(), flush=True)


def parts(steps, backend):
    """Each layer is compiled for itself, without a backward pass; they share the code."""
    model = Model()
    for layer in model.layers:
        layer.compile(backend=backend)
    infer(steps, model)


def function(steps, backend):
    """A function that calls the model is compiled, without a backward pass."""
    model = Model()

    def double(x):
        return model(x) * 2

    called = torch.compile(double, backend=backend)
    outer = nn.Identity()  # the steps of the program are those of a module
    infer(steps, lambda x: called(outer(x)))


def loss_of_model(steps, backend):
    """The compiled function calls the model and computes the loss. It is also called without gradients."""
    model = Model()

    def training_loss(x):
        return model(x).square().mean()

    called = torch.compile(training_loss, backend=backend)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        loss = called(torch.randn(4, WIDTH))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        with torch.no_grad():
            print(float(loss.detach()).hex(), float(called(torch.ones(4, WIDTH))).hex(), flush=True)


def loss_of_tensors(steps, backend):
    """Compiled functions compute the loss and update the weights."""
    weights = [torch.randn(WIDTH, WIDTH, requires_grad=True) for _ in range(2)]

    @torch.compile(backend=backend)
    def training_loss(x):
        return (torch.tanh(x @ weights[0]) @ weights[1]).square().mean()

    @torch.compile(backend=backend)
    def update(weights, gradients):
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients, strict=True):
                weight -= 0.01 * gradient

    for _ in range(steps):
        loss = training_loss(torch.randn(4, WIDTH))
        gradients = torch.autograd.grad(loss, weights)
        update(weights, gradients)
        print(float(loss.detach()).hex(), flush=True)


def optimizer_step(steps, backend):
    """A compiled function calls the optimizer, whose step has graph breaks of its own."""
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    @torch.compile(backend=backend)
    def update():
        optimizer.step()

    for _ in range(steps):
        loss = model(torch.randn(4, WIDTH)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        update()
        print(float(loss.detach()).hex(), flush=True)


def whole_step(steps, backend):
    """A compiled function calls the model, its backward pass, and the optimizer with a closure."""
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    @torch.compile(backend=backend)
    def step(x):
        def closure():
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            return loss

        return optimizer.step(closure)

    for _ in range(steps):
        print(float(step(torch.randn(4, WIDTH)).detach()).hex(), flush=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    kinds = {"breaks": breaks, "whole": whole, "parts": parts, "function": function}
    kinds |= {"loss_of_model": loss_of_model, "loss_of_tensors": loss_of_tensors}
    kinds |= {"optimizer_step": optimizer_step, "whole_step": whole_step}
    kinds[sys.argv[1]](int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "aot_eager")
    counters = torch._dynamo.utils.counters
    print({name: dict(counters[name]) for name in ("frames", "stats", "graph_break", "recompiles")})
    print(sum(counters["graph_break"].values()), flush=True)
