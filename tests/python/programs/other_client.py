# SPDX-License-Identifier: Apache-2.0
"""A training program on a GPU that is a client of CUPTI itself, as if a profiler were injected:
other_client.py LIBRARY STEPS. Prints its losses, and at the end that it still is."""

import ctypes
import sys

import torch

client = ctypes.CDLL(sys.argv[1])  # tests/gpu/other_cupti_client.cpp
client.InitializeInjection()
assert client.kymo_other_client_is_there()
torch.manual_seed(0)
torch.set_default_device("cuda")
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(int(sys.argv[2])):
    loss = model(torch.randn(4, 8)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(float(loss.detach()).hex())
print("client", client.kymo_other_client_is_there())
