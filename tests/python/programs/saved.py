# SPDX-License-Identifier: Apache-2.0
"""python saved.py norm|compiled|function|gpt|checkpointed|embedding STEPS: trains a model in plain PyTorch. Prints
the bytes of its results, which the program keeps during the backward pass."""

import sys

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

kind, steps = sys.argv[1], int(sys.argv[2])
torch.manual_seed(0)


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class DoubledModule(nn.Module):
    def forward(self, x):
        return Doubled.apply(x.exp())


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm_1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2)) * (width // self.heads) ** -0.5
        mask = torch.ones(length, length, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(mask, float("-inf")).softmax(-1) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.norm_2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary, length, width, heads, layers):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if kind == "checkpointed" else block(x)
        logits = self.head(self.norm(x)).flatten(0, 1)
        self.logits = logits.detach()  # until the next step, as programs keep outputs
        return functional.cross_entropy(logits, targets.flatten())


if kind == "embedding":
    model = nn.Embedding(4096, 64, sparse=True)
    inputs, gradient = (torch.randint(4096, (32,)),), torch.ones(32, 64)
elif kind in ("gpt", "checkpointed"):
    model = Gpt(vocabulary=211, length=64, width=96, heads=4, layers=3)
    batch = torch.randint(211, (2, 4, 64))
    inputs = (batch[0], batch[1])
else:
    model = DoubledModule() if kind == "function" else RMSNorm(2560)
    if kind == "compiled":
        model = torch.compile(model)
    x = torch.randn(4, 512, 2560, requires_grad=True)
    gradient = torch.ones(4, 512, 2560)
    inputs = (x,)

parameters = [*model.parameters()] or [x]
optimizer = torch.optim.SGD(parameters, lr=0.01)
for _ in range(steps):
    optimizer.zero_grad()
    result = model(*inputs)
    held = sum(each.untyped_storage().nbytes() for each in (result, getattr(model, "logits", None)) if each is not None)
    result.backward(None if result.dim() == 0 else gradient)
    optimizer.step()
print("held", held)
