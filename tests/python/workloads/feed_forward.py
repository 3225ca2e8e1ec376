# SPDX-License-Identifier: Apache-2.0
"""A training step whose memory grows with its batch, for any number of ranks, which do not communicate."""

import kymo
import torch
from torch import nn


class FeedForward(kymo.Workload):
    """Feed-forward layers"""

    ranks = (1, None)
    phases = ("forward", "backward", "optimizer")
    batch = kymo.Int(64, minimum=1, axis=(64, 128, 256))
    context = kymo.Int(4, minimum=1)  # no usual values
    dtype = kymo.Choice("fp32", ("fp32", "bf16"))

    def prepare(self, run):
        dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[self.dtype]
        layers = [nn.Sequential(nn.Linear(96, 192), nn.ReLU(), nn.Linear(192, 96)) for _ in range(3)]
        self.model = nn.Sequential(*layers).to(run.device, dtype)
        run.tag_module(self.model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9, foreach=False)
        self.x = torch.randn(self.batch * self.context, 96, dtype=dtype, device=run.device)
        run.tag(self.x, "input")
        self.forward, self.backward, self.update = map(run.phase, self.phases)
        flops = 2 * len(self.x) * sum(each.numel() for each in self.model.parameters())
        run.work("forward", flops=flops)
        run.work("backward", flops=2 * flops)

    def step(self, run):
        with self.forward:
            loss = self.model(self.x).square().mean()
        with self.backward:
            loss.backward()
        with self.update:
            self.optimizer.step()
            self.optimizer.zero_grad()
