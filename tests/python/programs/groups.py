# SPDX-License-Identifier: Apache-2.0
"""Training of four ranks in groups of two over Gloo, or over NCCL with DEVICE=cuda, for torchrun: groups.py KIND STEPS.
Each rank prints its loss of each step, exactly.

Kinds: mesh (fully_shard on a mesh of 2 x 2 ranks: sharded within pairs, replicated between them); replicated (a model
for each pair, with DistributedDataParallel); pipeline (two pairs of ranks, of which the first one sends activations,
and the second one gradients); exchange (the ranks of each pair exchange tensors with batch_isend_irecv).
"""

import os
import sys

import ranks
import torch
from torch import distributed, nn

kind, steps = sys.argv[1], int(sys.argv[2])
rank = ranks.join()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
if kind != "mesh":
    import no_dynamo  # noqa: F401
if kind == "mesh":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cuda" if ranks.ON_GPU else "cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
    fully_shard(model, mesh=mesh)
elif kind == "replicated":
    groups = [distributed.new_group(pair) for pair in ([0, 1], [2, 3])]
    model = nn.parallel.DistributedDataParallel(model, process_group=groups[rank // 2])
elif kind == "pipeline":
    model = model[:1] if rank % 2 == 0 else model[1:]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(rank)


def exchange(x):
    """The other tensor of the pair."""
    y, peer = torch.empty_like(x), rank ^ 1
    calls = [distributed.P2POp(distributed.isend, x, peer), distributed.P2POp(distributed.irecv, y, peer)]
    for work in distributed.batch_isend_irecv(calls):
        work.wait()
    return y


def pipelined():
    if rank % 2 == 0:
        y = model(torch.randn(4, 8))
        distributed.send(y.detach(), rank + 1)
        gradient = torch.empty_like(y)
        distributed.recv(gradient, rank + 1)
        y.backward(gradient)
        return y.detach().square().mean()
    x = torch.empty(4, 16).requires_grad_()
    distributed.recv(x.detach(), rank - 1)
    loss = model(x).square().mean()
    loss.backward()
    distributed.send(x.grad, rank - 1)
    return loss


losses = []
for _ in range(steps):
    if kind == "pipeline":
        loss = pipelined()
    else:
        x = torch.randn(4, 8)
        loss = model(exchange(x) if kind == "exchange" else x).square().mean()
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(float(loss.detach()).hex())
ranks.show(losses)
os._exit(0)  # references of FSDP keep threads of Gloo, whose end at exit can abort the process
