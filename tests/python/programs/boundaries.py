# SPDX-License-Identifier: Apache-2.0
"""Programs whose steps are not those of an optimizer that steps after calls of a module: prints the loss of each step.

boundaries.py KIND STEPS
"""

import sys

import light_torch  # noqa: F401
import torch
from torch import nn
from torch.nn.functional import cross_entropy


def show(loss):
    print(float(loss.detach()).hex(), flush=True)


def classifier():
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))


def batch():
    return torch.randn(6, 8), torch.randint(0, 4, (6,))


def unused(steps, zeroed="before"):
    """A benchmark of forward and backward passes, with an optimizer that never steps."""
    model = classifier()
    torch.optim.AdamW(model.parameters())
    optimizer = torch.optim.SGD(model.parameters())
    for _ in range(steps):
        x, y = batch()
        if zeroed == "before":
            optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        if zeroed == "after":
            model.zero_grad()
        loss.backward()
        show(loss)


def unused_with_grad(steps):
    """Gradients are returned, not accumulated."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters())
    for _ in range(steps):
        x, y = batch()
        loss = cross_entropy(model(x), y)
        torch.autograd.grad(loss, optimizer.param_groups[0]["params"])
        show(loss)


def unused_forward(steps):
    """More calls than an episode of reinforcement learning is expected to have."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters())
    for _ in range(steps + 65):
        show(model(batch()[0]).sum())
    del optimizer


def accumulated(steps):
    """More backward passes than the steps to observe, before the first optimizer step."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        for _ in range(20):
            x, y = batch()
            loss = cross_entropy(model(x), y)
            loss.backward()
        show(loss)
        optimizer.step()
        optimizer.zero_grad()


KINDS = {
    "unused": unused,
    "unused_zeroed_after": lambda steps: unused(steps, "after"),
    "unused_with_grad": unused_with_grad,
    "unused_forward": unused_forward,
    "accumulated": accumulated,
}

if __name__ == "__main__":
    torch.manual_seed(0)
    KINDS[sys.argv[1]](int(sys.argv[2]))
