# SPDX-License-Identifier: Apache-2.0
"""A training program that does something else in each pass of kymo: differs.py calls|steps|same."""

import os
import sys

import no_dynamo  # noqa: F401
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
in_ops = os.environ.get("KYMO_PASS") == "ops"
for step in range(9 if sys.argv[1] == "steps" and in_ops else 16):
    for _ in range(2 if sys.argv[1] == "calls" and in_ops and step == 7 else 1):
        loss = model(torch.ones(2, 4)).mean()
    loss.backward()
    optimizer.step()
