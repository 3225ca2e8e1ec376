# SPDX-License-Identifier: Apache-2.0
"""A training program that calls its model twice in a step of the pass ops of kymo."""

import os

import light_torch  # noqa: F401
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
in_ops = os.environ.get("KYMO_PASS") == "ops"
for step in range(16):
    for _ in range(2 if in_ops and step == 7 else 1):
        loss = model(torch.ones(2, 4)).mean()
    loss.backward()
    optimizer.step()
