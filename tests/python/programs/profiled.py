# SPDX-License-Identifier: Apache-2.0
"""A training program that uses torch.profiler in some of its steps: profiled.py FIRST:END STEPS [DEVICE]. Prints its
losses, and on a CPU the numbers of calls that the profiler recorded."""

import os
import sys

if os.environ.get("KYMO_TEST_LIGHT_TORCH"):
    import light_torch  # noqa: F401
import torch
from torch.profiler import ProfilerActivity, profile

device = sys.argv[3] if len(sys.argv) > 3 else "cpu"
torch.set_default_device(device)
first, end = map(int, sys.argv[1].split(":"))
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
profiler = profile(activities=[ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device == "cuda"))
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
# On a GPU, the calls depend on whether the profiler records kernels, and only one profiler of a process does.
for each in sorted(profiler.key_averages(), key=lambda each: each.key) if device == "cpu" else []:
    print(each.key, each.count)
