# SPDX-License-Identifier: Apache-2.0
"""Training with fully_shard (FSDP2) over Gloo, or over NCCL with DEVICE=cuda, for torchrun: sharded.py STEPS. Each rank
prints its loss of each step, exactly."""

import os
import sys

import ranks
import torch
from torch import distributed, nn
from torch.distributed.fsdp import fully_shard

rank = ranks.join()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
fully_shard(model[0])
fully_shard(model[2])
fully_shard(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(rank)
losses = []
for _ in range(int(sys.argv[1])):
    loss = model(torch.randn(4, 8)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    shown = loss.detach().clone()
    distributed.all_reduce(shown)
    losses.append(float(shown).hex())
ranks.show(losses)
os._exit(0)  # references of FSDP keep threads of Gloo, whose end at exit can abort the process
