# SPDX-License-Identifier: Apache-2.0
"""The model of the workloads for parallel training, and a training step by their methods."""

from __future__ import annotations

import contextlib
import time

SIZES = {  # d_model, d_ff, layers, heads
    "tiny": (64, 256, 2, 2),
    "small": (768, 3072, 12, 12),
    "medium": (1024, 4096, 24, 16),
    "large": (1280, 5120, 36, 20),
    "xl": (1600, 6400, 48, 25),
}


def language_model(workload, run, size, vocabulary, context, seed):
    import torch

    from .transformer import Config, LanguageModel

    config = Config(vocabulary, context, *SIZES[size])
    random = torch.Generator(run.device).manual_seed(seed)
    module = LanguageModel.make(config, run.device, torch.float32, random, workload.attention, run.scope)
    if workload.tied_embedding:
        module.head.weight = module.embedding.weight
    return module


class Trainer:
    """Trains a module on this rank with the methods of a workload."""

    def __init__(self, workload, module, phase=lambda name: contextlib.nullcontext(), late_s=0.0):
        import torch

        self.workload, self.module, self.late_s = workload, module, late_s
        self.wrapped = workload.wrap(module)
        self.forward, self.backward, self.communication, self.optimize = map(phase, workload.phases)
        device = next(module.parameters()).device.type
        self.precision = torch.autocast(device, torch.bfloat16, enabled=workload.autocast)

    def make_optimizer(self, kind, **settings):
        self.optimizer = self.workload.make_optimizer(self.wrapped.parameters(), kind, **settings)

    def gradients(self, *inputs):
        self.optimizer.zero_grad()
        self.wait()
        with self.forward, self.precision:
            loss = self.wrapped(*inputs)
        self.wait()
        with self.backward:
            loss.backward()
        with self.communication:
            self.workload.after_backward(self.wrapped, self.optimizer)

    def update(self):
        self.wait()
        with self.optimize:
            self.optimizer.step()

    def wait(self):
        if self.late_s:
            time.sleep(self.late_s)

    def parameters(self):
        return self.workload.full_parameters(self.module, self.wrapped)
