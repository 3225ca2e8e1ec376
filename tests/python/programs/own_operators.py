# SPDX-License-Identifier: Apache-2.0
"""A training program with an operator of a library: own_operators.py LIBRARY HOW."""

import os
import signal
import sys

import light_torch  # noqa: F401
import torch

torch.ops.load_library(sys.argv[1])
model = torch.nn.Linear(4, 16)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kill = sys.argv[2] == "kill_early"
for _ in range(8 if kill else 30):
    torch.ops.kymo.swiglu(model(torch.ones(2, 4))).mean().backward()
    optimizer.step()
if kill:
    os.kill(os.getpid(), signal.SIGKILL)
