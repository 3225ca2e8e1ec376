# SPDX-License-Identifier: Apache-2.0
"""A training program that uses torch.profiler in some of its steps: profiled.py FIRST:END STEPS. Prints its losses and
the numbers of calls that the profiler recorded."""

import sys

import torch
from torch.profiler import ProfilerActivity, profile

first, end = map(int, sys.argv[1].split(":"))
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
profiler = profile(activities=[ProfilerActivity.CPU])
for step in range(int(sys.argv[2])):
    if step == first:
        profiler.start()
    loss = model(torch.randn(4, 8)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(float(loss.detach()).hex())
    if step == end - 1:
        profiler.stop()
for each in sorted(profiler.key_averages(), key=lambda each: each.key):
    print(each.key, each.count)
