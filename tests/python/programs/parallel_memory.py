# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training whose memory is known: each rank prints the bytes of its parameters, gradients and optimizer
state, after `mode` fully_shard, fsdp1, ddp, or ddp_views with gradients that are views of DDP's buckets."""

import os
import sys

import ranks
import torch
from torch import nn

mode = sys.argv[1]
ranks.join()
device = os.environ.get("DEVICE", "cpu")
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(128), nn.Linear(128, 512), nn.Linear(512, 128)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


model = nn.Sequential(*[Block() for _ in range(20)], nn.Linear(128, 64)).to(device)
if mode == "fully_shard":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(device, (torch.distributed.get_world_size(),))
    for block in [*model[:-1], model]:
        fully_shard(block, mesh=mesh)
elif mode == "fsdp1":
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    model = FullyShardedDataParallel(
        model, auto_wrap_policy=ModuleWrapPolicy({Block}), device_id=torch.device(device), use_orig_params=True
    )
else:
    model = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=mode == "ddp_views")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def size(tensors):
    shards = [getattr(tensor, "_local_tensor", tensor) for tensor in tensors if isinstance(tensor, torch.Tensor)]
    return sum(shard.numel() * shard.element_size() for shard in shards)


sizes = None
for _ in range(int(sys.argv[2])):
    model(torch.randn(16, 128, device=device)).square().mean().backward()
    optimizer.step()
    states = [value for state in optimizer.state.values() for value in state.values()]
    sizes = size(model.parameters()), size(p.grad for p in model.parameters()), size(states)
    optimizer.zero_grad()
ranks.show(sizes)
