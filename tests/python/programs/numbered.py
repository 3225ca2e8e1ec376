# SPDX-License-Identifier: Apache-2.0
"""numbered.py KIND STEPS: step N, counted from 0, calls relu N times, so that the operators of a step tell its number.

Kinds: plain; evaluated (the model is also called between steps); scaled (GradScaler skips every third step); other (a
second optimizer from step 8 on); changed (a second optimizer replaces the first one in step 12, after an evaluation,
and a third one in step 20, which is created then); changed+N (the same N steps later); closure (LBFGS calls the model);
critic (the first optimizer makes three steps, then the second one); hooked (the optimizer steps within the backward
pass, which calls the model again); loaded (a data set calls a module); nested (the optimizer calls another one); seldom
(in every third step, the second optimizer steps after a call of the model).
"""

import sys

import light_torch  # noqa: F401
import torch
from relus import Model
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader

kind, _, later = sys.argv[1].partition("+")
steps, later = int(sys.argv[2]), int(later or 0)
torch.manual_seed(0)


model, transform = Model(), nn.Tanh()


class Outer(torch.optim.Optimizer):
    def __init__(self, inner):
        super().__init__(inner.param_groups, {})
        self.inner = inner

    def step(self, closure=None):
        self.inner.step(closure)


first = torch.optim.SGD(model.parameters(), lr=0.001)
if kind == "nested":
    first = Outer(first)
if kind in ("changed", "critic", "other", "seldom"):
    second = torch.optim.SGD(model.parameters(), lr=0.001)
scaler = torch.amp.GradScaler("cpu", enabled=kind == "scaled")
lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=1) if kind == "closure" else None


class Inputs(torch.utils.data.Dataset):
    def __len__(self):
        return steps

    def __getitem__(self, index):
        x = torch.randn(4)
        return transform(x) if kind == "loaded" else x


def closure():
    loss = model(x, number)
    loss.backward()
    return loss


def update(optimizer, times):
    scaler.scale(model(x, times)).backward()
    if kind == "scaled" and number % 3 == 0:
        model.linear.weight.grad.fill_(float("inf"))
    scaler.step(optimizer)
    scaler.update()


def evaluate():
    with torch.no_grad():
        for each in DataLoader(torch.randn(3, 4), batch_size=1):
            model(each, 0)


if kind == "hooked":
    model.linear.weight.register_post_accumulate_grad_hook(lambda _: first.step())
for number, x in enumerate(DataLoader(Inputs(), batch_size=1)):
    if kind == "closure":
        lbfgs.step(closure)
        continue
    if kind == "hooked":
        checkpoint(model, x.requires_grad_(), number, use_reentrant=False).backward()
        continue
    if kind == "changed" and number == 12 + later:
        evaluate()
        first = second
    if kind == "changed" and number == 20 + later:
        first = torch.optim.Adam(model.parameters(), lr=0.001)
    update(first, number)
    if kind == "critic":
        update(first, 0), update(first, 0), update(second, 0)
    if kind == "seldom" and number % 3 == 2:
        update(second, 0)
    if kind == "other" and number >= 8:
        second.step()
    if kind == "evaluated":
        with torch.no_grad():
            model(x, 0), model(x, 0)
    model.zero_grad()
print(model.linear.weight.sum().item())
