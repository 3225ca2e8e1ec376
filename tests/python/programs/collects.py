# SPDX-License-Identifier: Apache-2.0
"""A training program whose model collects garbage once per step: the youngest generation with the argument `young`."""

import gc
import sys

import light_torch  # noqa: F401
import torch
from torch import nn


class Model(nn.Linear):
    def forward(self, x):
        gc.collect(0 if "young" in sys.argv else 2)
        return super().forward(x)


gc.disable()
model = Model(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(8):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
