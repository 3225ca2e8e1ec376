# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training over Gloo, or over NCCL with DEVICE=cuda, for torchrun. Each rank prints its loss of each
step, exactly."""

import os
import sys

import torch
from torch import distributed, nn

on_gpu = os.environ.get("DEVICE") == "cuda"
distributed.init_process_group("nccl" if on_gpu else "gloo")
rank = distributed.get_rank()
if on_gpu:
    torch.cuda.set_device(rank)
    torch.set_default_device("cuda")
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
for each in range(distributed.get_world_size()):
    if each == rank:
        print(rank, *losses, flush=True)
    distributed.barrier()
distributed.destroy_process_group()
