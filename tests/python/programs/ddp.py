# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training over Gloo, or over NCCL with DEVICE=cuda, for torchrun. Each rank prints its loss of each
step, exactly."""

import os
import sys

if os.environ.get("KYMO_TEST_LIGHT_TORCH"):
    import light_torch  # noqa: F401
import ranks
import torch
from torch import nn

rank = ranks.join()
torch.manual_seed(0)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(rank)
losses = []
for _ in range(int(sys.argv[1])):
    loss = model(torch.randn(4, 8)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(float(loss.detach()).hex())
if len(sys.argv) > 2 and rank == 1:
    sys.exit(int(sys.argv[2]))
ranks.show(losses)
