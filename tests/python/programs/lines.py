# SPDX-License-Identifier: Apache-2.0
"""A training program whose lines call known numbers of operators, on the device that DEVICE names. Comments name the
lines that tests look for."""

import os

import torch
from halved_lines import halve
from torch import nn

device = os.environ.get("DEVICE", "cpu")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(64))

    def forward(self, x):
        x = self.weight * x
        for _ in range(3):
            x = x.sin()  # three times
        x = x.cos()  # once
        return halve(x)


model = Model().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(10):
    loss = model(torch.ones(64, device=device)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # update
    print(loss.item())  # read
