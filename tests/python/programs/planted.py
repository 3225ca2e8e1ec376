# SPDX-License-Identifier: Apache-2.0
"""A training program with the causes of slowness that its arguments name. All take processor time, so that their shares
do not depend on how busy the machine is."""

import os
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

planted = sys.argv[1:]
device = os.environ.get("DEVICE", "cpu")
example = torch.ones(256), torch.ones(1)


class Examples(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        end = time.process_time() + (0.001 if "loader" in planted else 0)
        while time.process_time() < end:
            pass
        return example


class Decay(nn.Module):
    def forward(self, x):
        if "loop" not in planted:
            return x * 0.999**800
        for _ in range(800):
            x = x * 0.999
        return x


class Product(nn.Module):
    def __init__(self):
        super().__init__()
        dtype = torch.float64 if "double" in planted else torch.float32
        self.weight = nn.Parameter(torch.randn(512, 512, dtype=dtype) / 23)

    def forward(self, x):
        return (x.to(self.weight.dtype).repeat(8, 2) @ self.weight @ self.weight).float()[:8]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.decay, self.product, self.down = nn.Linear(256, 256), Decay(), Product(), nn.Linear(512, 1)

    def forward(self, x):
        return self.down(self.product(self.decay(self.up(x))))


model = Model().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
total = 0
for step, (x, y) in enumerate(DataLoader(Examples(), batch_size=8)):
    loss = (model(x.to(device)) - y.to(device)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total += loss.item() if "item" in planted else loss.detach()
    if step == 12:
        break
