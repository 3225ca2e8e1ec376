# SPDX-License-Identifier: Apache-2.0
"""What autograd keeps of a Transformer written without fused operators, by prediction: RMSNorm, and blocks of rotary
attention and SwiGLU, compiled and in checkpoints."""

import math

import kymo
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))


def softmax(scores):
    weights = torch.exp(scores - scores.max(-1, keepdim=True)[0])
    return weights / weights.sum(-1, keepdim=True)


class Attention(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value, self.output = (linear(width, width) for _ in range(4))
        angles = torch.outer(torch.arange(context), 1e4 ** (-torch.arange(0, self.size, 2) / self.size))
        self.register_buffer("rotation", torch.stack((angles.cos(), angles.sin())), persistent=False)

    def rotated(self, x):
        cos, sin = self.rotation[:, : x.shape[-2]].unbind(0)
        even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
        return torch.cat((cos * even - sin * odd, sin * even + cos * odd), -1)

    def forward(self, x):
        query, key, value = (
            each(x).unflatten(-1, (self.heads, self.size)).transpose(1, 2)
            for each in (self.query, self.key, self.value)
        )
        scores = self.rotated(query) @ self.rotated(key).transpose(-1, -2) / math.sqrt(self.size)
        position = torch.arange(x.shape[1], device=x.device)
        scores = torch.where(position[:, None] >= position, scores, -math.inf)
        return self.output((softmax(scores) @ value).transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate, self.up, self.down = linear(width, hidden), linear(width, hidden), linear(hidden, width)

    def forward(self, x):
        gate = self.gate(x)
        return self.down(gate * torch.sigmoid(gate) * self.up(x))


class Block(nn.Module):
    def __init__(self, width, hidden, heads, context):
        super().__init__()
        self.attention, self.feed_forward = Attention(width, heads, context), FeedForward(width, hidden)
        self.norm_1, self.norm_2 = Norm(width), Norm(width)

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.feed_forward(self.norm_2(x))


class _Saved(kymo.Workload):
    """The gradient of a function of one tensor."""

    compiled = kymo.Bool(True, doc="compile with torch.compile")
    backend = kymo.Choice("inductor", ("inductor", "aot_eager"), doc="backend of torch.compile")
    phases = ("forward", "backward")

    def prepare(self, run):
        self.forward, self.backward = (run.phase(each) for each in self.phases)
        self.module = self.make()
        for parameter in self.module.parameters():  # buffers are what autograd keeps of them
            run.tag(parameter, "parameter")
        if self.compiled:
            self.module = torch.compile(self.module, fullgraph=True, backend=self.backend)
        self.x = torch.randn(*self.shape(), device=run.device, requires_grad=True)
        run.tag(self.x, "input")

    def apply(self, x):
        return self.module(x)

    def step(self, run):
        with self.forward:
            result = self.apply(self.x).sum()
        with self.backward:
            result.backward()


class SavedNorm(_Saved):
    """RMSNorm"""

    def make(self):
        return Norm(2560)

    def shape(self):
        return 4, 512, 2560


class SavedBlocks(_Saved):
    """One block of the size xl, applied several times"""

    width = kymo.Int(2560, minimum=2)
    hidden = kymo.Int(10240, minimum=1)
    heads = kymo.Int(16, minimum=1)
    context = kymo.Int(2048, minimum=1)
    blocks = kymo.Int(1, minimum=1)
    checkpointed = kymo.Int(0, minimum=0, doc="blocks in each checkpoint; 0: without checkpoints")

    def make(self):
        return Block(self.width, self.hidden, self.heads, self.context)

    def shape(self):
        return 4, self.context, self.width

    def apply(self, x):
        def several(x, count):
            for _ in range(count):
                x = self.module(x)
            return x

        if not self.checkpointed:
            return several(x, self.blocks)
        for _ in range(0, self.blocks, self.checkpointed):
            x = checkpoint(several, x, self.checkpointed, use_reentrant=True)
        return x
