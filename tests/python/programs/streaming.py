# SPDX-License-Identifier: Apache-2.0
"""Training steps of one large vector, whose kernels read and write many times the L2 cache of a GPU.

streaming.py [STEPS [ELEMENTS]]
"""

import sys

import torch
from torch import nn
from torch.nn import functional

ROW = 4096
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
ELEMENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 28


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(ELEMENTS, device="cuda"))

    def forward(self, values):
        return functional.rms_norm((values * self.weight).bfloat16().view(-1, ROW), (ROW,))


model = Scale()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
values, other = (torch.randn(ELEMENTS, device="cuda") for _ in range(2))
for _ in range(STEPS):
    other.copy_(values)
    torch.add(values, other, out=other)
    model(values).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
torch.cuda.synchronize()
