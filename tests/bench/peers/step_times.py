# SPDX-License-Identifier: Apache-2.0
"""A training loop that writes the time of each of its steps, in seconds, as JSON: on a CPU the processor time of the
thread, on a GPU the time from the end of one step to that of the next, each of which waits for its loss.

step_times.py SIZE STEPS FILE DEVICE [--clock] [--profile | --toggle STEPS [--same]]: with `--clock`, times on a CPU are
on the clock, too. With `--profile`, torch.profiler records all steps but the first ones. With `--toggle`, in a program
that kymo observes, slices of so many steps run with the functions that kymo put in place of those of torch, and with
torch's own, in turn; the file contains the slices of both, with kymo's first, in pairs of neighbors. With `--same`,
both have torch's own."""

import argparse
import json
import os
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy

SIZES = {"small": (16, 2, 8, 4), "medium": (128, 4, 64, 8), "large": (1024, 4, 512, 8)}
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("size", choices=SIZES)
parser.add_argument("steps", type=int)
parser.add_argument("file")
parser.add_argument("device", choices=["cpu", "cuda"])
parser.add_argument("--clock", action="store_true")
parser.add_argument("--profile", action="store_true")
parser.add_argument("--toggle", type=int, metavar="STEPS")
parser.add_argument("--same", action="store_true")
arguments = parser.parse_args()
WIDTH, LAYERS, LENGTH, BATCH = SIZES[arguments.size]
WORDS, FIRST = 200, 10
steps, file, device, slice_steps = arguments.steps, arguments.file, arguments.device, arguments.toggle


class Replaced:
    """What kymo replaced."""

    def __init__(self):
        self.functions = [(nn.Module, "__call__"), (torch.autograd, "backward"), (type(optimizer), "step")]
        self.ours = [getattr(*each) for each in self.functions]

    def use(self, ours):
        for (place, name), function in zip(self.functions, self.ours, strict=True):
            setattr(place, name, function if ours else function.__wrapped__)


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
replaced = Replaced() if slice_steps else None
clock = time.thread_time if device == "cpu" and not arguments.clock else time.perf_counter
Activity = torch.profiler.ProfilerActivity
last = clock()
for step in range(steps + FIRST):
    if arguments.profile and step == FIRST - 2:
        profiler = torch.profiler.profile(activities=[Activity.CPU] + [Activity.CUDA] * (device == "cuda"))
        profiler.__enter__()
    if replaced and (step - FIRST) % slice_steps == 0:
        # with, without, without, with: a load that grows or shrinks affects both alike
        replaced.use((step - FIRST) // slice_steps % 4 in (0, 3) and not arguments.same)
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
    if slice_steps:
        slices = [times[first : first + slice_steps] for first in range(FIRST, len(times), slice_steps)]
        json.dump([slices[0::4] + slices[3::4], slices[1::4] + slices[2::4]], opened)
    else:
        json.dump(times[FIRST:], opened)
os._exit(0)  # what the profiler does with its records is not measured
