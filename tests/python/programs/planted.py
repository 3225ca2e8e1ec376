# SPDX-License-Identifier: Apache-2.0
"""A training program with the causes of slowness that its arguments name. All take processor time, so that their shares
do not depend on how busy the machine is. loader=3 takes 3 ms per example instead of 1, item=900 reads 900 values per
step. With STEP_TIMES, it appends the times of its steps in seconds to this file, a line of JSON for each start."""

import itertools
import json
import os
import sys
import time

if os.environ.get("KYMO_TEST_LIGHT_TORCH"):
    import light_torch  # noqa: F401
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

planted = {cause: float(size or 1) for cause, _, size in (word.partition("=") for word in sys.argv[1:])}
device = os.environ.get("DEVICE", "cpu")
example = torch.ones(256), torch.ones(1)


class Examples(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        end = time.process_time() + planted.get("loader", 0) / 1000
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
ends = [time.perf_counter()]
for step, (x, y) in enumerate(DataLoader(Examples(), batch_size=8)):
    loss = (model(x.to(device)) - y.to(device)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total += sum(loss.item() for _ in range(int(planted["item"]))) if "item" in planted else loss.detach()
    ends.append(time.perf_counter())
    if step == 12:
        break
if "STEP_TIMES" in os.environ:
    with open(os.environ["STEP_TIMES"], "a", encoding="utf-8") as file:
        print(json.dumps([end - begin for begin, end in itertools.pairwise(ends)]), file=file)
