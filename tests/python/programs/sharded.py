# SPDX-License-Identifier: Apache-2.0
"""Training with fully_shard (FSDP2) over Gloo, or over NCCL with DEVICE=cuda, for torchrun: sharded.py STEPS. Each rank
prints its loss of each step, exactly. With DELAY_MS, the last rank gathers the last layer that much later."""

import os
import sys
import time

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
if rank == distributed.get_world_size() - 1 and (delay_ms := float(os.environ.get("DELAY_MS", "0"))):
    model[2].register_forward_pre_hook(lambda *_: time.sleep(delay_ms / 1e3), prepend=True)
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
