# SPDX-License-Identifier: Apache-2.0
"""A training program whose operators belong to modules: attributed.py STEPS [FILE].

With FILE, a second way to attribute operators, which knows nothing of kymo: module hooks keep the module that is
called, the nodes of the backward pass remember the module of the forward pass that made them, and a dispatch mode
counts the operators of each step but the first by direction, name and module."""

import json
import sys

import no_dynamo  # noqa: F401
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

WORDS, WIDTH = 40, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        y = self.norm(x)
        torch.cuda.nvtx.range_push("attend")
        y = self.attention(y, y, y, need_weights=False)[0]
        torch.cuda.nvtx.range_pop()
        return x + self.feed_forward(x + y)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(3))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        x = self.embedding(words)
        for layer in self.layers:
            x = layer(x)
        return self.head(x).square().mean(dim=-1)


torch.manual_seed(0)
model = Model()
counts = {}
called = []
names = {module: name for name, module in model.named_modules()}


class Nodes(TorchFunctionMode):
    """Lets the nodes that a function creates remember the module."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        results = result if isinstance(result, tuple) else (result,)
        pending = [each.grad_fn for each in results if called and isinstance(each, torch.Tensor)]
        while pending:
            node = pending.pop()
            if node is None or "module" in node.metadata or node.name() == "torch::autograd::AccumulateGrad":
                continue
            node.metadata["module"] = called[-1]
            pending += [each for each, _ in node.next_functions]
        return result


class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        node = torch._C._current_autograd_node()
        module = (node.metadata.get("module") if node else called[-1] if called else None) if measured else None
        if module is not None:
            key = f"{'backward' if node else 'forward'} {operator._schema.name} {module}"
            counts[key] = counts.get(key, 0) + 1
        return operator(*args, **(kwargs or {}))


def leave(*_):
    called.pop()


def train(steps):
    global measured
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        measured = step > 0
        loss = model(torch.randint(0, WORDS, (2, 5))).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(float(loss.detach()).hex(), flush=True)


measured = False
if len(sys.argv) < 3:
    train(int(sys.argv[1]))
else:
    register_module_forward_pre_hook(lambda module, _: called.append(names[module]))
    register_module_forward_hook(leave, always_call=True)
    with Operators(), Nodes():
        train(int(sys.argv[1]))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(counts, file)
