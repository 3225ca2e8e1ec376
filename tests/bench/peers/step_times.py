# SPDX-License-Identifier: Apache-2.0
"""A training loop that writes the time of each of its steps, in seconds, as JSON: on a CPU the processor time of the
thread, on a GPU the time from the end of one step to that of the next, each of which waits for its loss.

step_times.py SIZE STEPS FILE DEVICE [profile | toggle]: with `profile`, torch.profiler records all steps but the first
ones. With `toggle`, in a program that kymo observes, slices of steps run with the functions that kymo put in place of
those of torch, and with torch's own, in turn; the file contains the two lists of times, with kymo's first."""

import json
import os
import sys
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy

WIDTH, LAYERS, LENGTH, BATCH = {"small": (16, 2, 8, 4), "medium": (128, 4, 64, 8), "large": (1024, 4, 512, 8)}[
    sys.argv[1]
]
WORDS, FIRST = 200, 10
steps, file, device, profiled = int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:] == ["profile"]
toggled, SLICE = sys.argv[5:] == ["toggle"], 10


class Replaced:
    """What kymo replaced."""

    def __init__(self):
        optimizers = sys.modules["torch.optim.optimizer"]
        self.hooks = [optimizers._global_optimizer_pre_hooks, optimizers._global_optimizer_post_hooks]
        self.kept = [dict(each) for each in self.hooks]
        self.functions = [(nn.Module, "__call__"), (torch.autograd, "backward")]
        self.ours = [getattr(*each) for each in self.functions]

    def use(self, ours):
        for (place, name), function in zip(self.functions, self.ours, strict=True):
            setattr(place, name, function if ours else function.__wrapped__)
        for hooks, kept in zip(self.hooks, self.kept, strict=True):
            hooks.clear()
            hooks.update(kept if ours else {})


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        y = self.norm(x)
        query, key, value = (f(y).unflatten(-1, (2, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        y = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.output(y.transpose(1, 2).flatten(2))
        return x + self.feed_forward(x)


torch.set_num_threads(1)
torch.set_default_device(device)
torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *[Block() for _ in range(LAYERS)], nn.Linear(WIDTH, WORDS))
optimizer = torch.optim.AdamW(model.parameters())
words, targets = torch.randint(WORDS, (BATCH, LENGTH)), torch.randint(WORDS, (BATCH * LENGTH,))
with open(f"{file}.pid", "w", encoding="utf-8") as opened:
    opened.write(str(os.getpid()))
times, profiler = [], None
replaced = Replaced() if toggled else None
clock = time.thread_time if device == "cpu" else time.perf_counter
Activity = torch.profiler.ProfilerActivity
last = clock()
for step in range(steps + FIRST):
    if profiled and step == FIRST - 2:
        profiler = torch.profiler.profile(activities=[Activity.CPU] + [Activity.CUDA] * (device == "cuda"))
        profiler.__enter__()
    if replaced and (step - FIRST) % SLICE == 0:
        # with, without, without, with: a load that grows or shrinks affects both alike
        replaced.use((step - FIRST) // SLICE % 4 in (0, 3))
        last = clock()
    loss = cross_entropy(model(words).flatten(0, 1), targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if device != "cpu":
        loss.item()
    now = clock()
    times.append(now - last)
    last = now
with open(file, "w", encoding="utf-8") as opened:
    slices = [times[first : first + SLICE] for first in range(FIRST, len(times), SLICE)]
    json.dump([slices[0::4] + slices[3::4], slices[1::4] + slices[2::4]] if toggled else times[FIRST:], opened)
os._exit(0)  # what the profiler does with its records is not measured
