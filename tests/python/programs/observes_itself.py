# SPDX-License-Identifier: Apache-2.0
"""A training program that observes parts of itself: observes_itself.py MODE."""

import os
import sys

import kymo
import light_torch  # noqa: F401
import torch
from torch import nn

MODE = sys.argv[1]
DEVICE = os.environ.get("DEVICE", "cpu")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 1)

    def forward(self, x):
        return self.down(self.up(x).relu())


torch.manual_seed(0)
model = Model().to(DEVICE)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5) if MODE == "scheduler" else None


def train(steps):
    for _ in range(steps):
        loss = model(torch.ones(4, 8, device=DEVICE)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if scheduler:
            scheduler.step()
        print(loss.item().hex())


train(2)
if MODE in ("once", "scheduler"):
    with kymo.observe("4:8", label="mine") as observation:
        train(12)
elif MODE == "twice":
    for passes in ("ops", "time"):
        with kymo.observe("4:8", passes=passes):
            train(12)
elif MODE == "last":
    with kymo.observe("3:6") as observation:
        train(6)
elif MODE == "raises":
    try:
        with kymo.observe("3:9"):
            train(6)
            raise ValueError("mine")
    except ValueError as error:
        print(error)
elif MODE == "nested":
    with kymo.observe("4:8"):
        try:
            kymo.observe().__enter__()
        except kymo.Error as error:
            print(error)
        train(10)
elif MODE == "wrong":
    for arguments in ({"steps": "5:3"}, {"passes": "memory"}):
        try:
            kymo.observe(**arguments).__enter__()
        except kymo.Error as error:
            print(error)
train(2)
