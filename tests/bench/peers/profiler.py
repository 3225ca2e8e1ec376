# SPDX-License-Identifier: Apache-2.0
"""Measures the overhead of torch.profiler on a training step: the same step, plain and profiled.

  profiler.py [--sizes small,large] [--ctx 256] [--steps 20]

Prints one CSV row per size and set of activities: size,activities,plain_ms,profiled_ms,ratio,events
"""

import argparse
import statistics
import time

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile
from transformer import LM

ACTIVITIES = {"cuda": [ProfilerActivity.CUDA], "cpu+cuda": [ProfilerActivity.CPU, ProfilerActivity.CUDA]}


def median_step_ms(step, count):
    times = []
    for _ in range(count):
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def measure(size, context, steps):
    with torch.device("cuda"):
        model = LM(size, context)
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randint(0, 10000, (4, context), device="cuda")

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    median_step_ms(step, 10)
    plain = median_step_ms(step, steps)
    for name, activities in ACTIVITIES.items():
        with profile(activities=activities) as profiler:
            profiled = median_step_ms(step, steps)
        print(f"{size},{name},{plain:.3f},{profiled:.3f},{profiled / plain:.3f},{len(profiler.events())}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="small,large")
    parser.add_argument("--ctx", type=int, default=256)
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    for size in arguments.sizes.split(","):
        measure(size, arguments.ctx, arguments.steps)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
