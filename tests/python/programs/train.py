# SPDX-License-Identifier: Apache-2.0
"""Small training programs that know nothing of kymo: prints the loss of each step, exactly.

train.py KIND [STEPS [DEVICE]]
"""

import contextlib
import os
import signal
import sys
import time

# Tests that start many of these programs ask for a faster import. Isolated programs cannot import from this folder.
if (
    os.environ.get("KYMO_TEST_LIGHT_TORCH")
    and sys.argv[1] not in {"compiled", "compiled_checkpointed", "inductor", "reduce_overhead"}
    and not sys.flags.isolated
):
    import light_torch  # noqa: F401
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

WORDS, WIDTH, LENGTH, BATCH = 50, 16, 8, 4
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cpu"


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.feed_forward(x)


class Transformer(nn.Module):
    def __init__(self, checkpointed=False):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(WIDTH, WORDS)
        self.checkpointed = checkpointed

    def forward(self, words):
        x = self.embedding(words)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.checkpointed else layer(x)
        return self.head(x)


def show(loss):
    print(float(loss.detach()).hex(), flush=True)


def batch():
    return torch.randint(0, WORDS, (BATCH, LENGTH)), torch.randint(0, WORDS, (BATCH * LENGTH,))


def transformer(
    steps, checkpointed=False, dtype=None, backend=None, mode=None, accumulated=1, scaled=False, wait_before=None
):
    model = Transformer(checkpointed)
    called = torch.compile(model, backend=backend, mode=mode) if backend else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(DEVICE, init_scale=2.0**10, enabled=scaled)
    for step in range(steps):
        if step == wait_before:
            time.sleep(1.5)
        for _ in range(accumulated):
            words, targets = batch()
            with torch.autocast(DEVICE, dtype) if dtype else contextlib.nullcontext():
                loss = cross_entropy(called(words).flatten(0, 1), targets)
            scaler.scale(loss).backward()
            show(loss)
        if scaled and step == 8:  # an overflow: the optimizer step is skipped
            model.head.weight.grad.fill_(float("inf"))
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    if backend:
        counters = torch._dynamo.utils.counters
        print({name: dict(counters[name]) for name in ("frames", "stats", "graph_break", "recompiles")})


def gan(steps):
    generator, discriminator = nn.Linear(4, 4), nn.Linear(4, 1)
    for_generator = torch.optim.Adam(generator.parameters())
    for_discriminator = torch.optim.Adam(discriminator.parameters())
    for _ in range(steps):
        noise = torch.randn(8, 4)
        (discriminator(torch.ones(8, 4)) - discriminator(generator(noise).detach())).square().mean().backward()
        for_discriminator.step()
        for_discriminator.zero_grad()
        loss = discriminator(generator(noise)).square().mean()
        loss.backward()
        for_generator.step()
        for_generator.zero_grad()
        show(loss)


def lbfgs(steps):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
    x = torch.randn(8, 4)

    def closure():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss

    for _ in range(steps):
        show(optimizer.step(closure))


def descend(model):
    """A hand-written step of SGD."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
            parameter.grad = None


def by_hand(steps):
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    for _ in range(steps):
        loss = (model(torch.randn(8, 4)) - 1).square().mean()
        loss.backward()
        descend(model)
        show(loss)


def contrastive(steps):
    """Two calls of the model before each backward pass, after a validation."""
    model = Transformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    with torch.no_grad():
        for _ in range(6):
            show(model(batch()[0]).sum())
    for _ in range(steps):
        loss = (model(batch()[0]) - model(batch()[0])).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        show(loss)


def by_hand_after_calls(steps):
    """Several calls of the model before each backward pass, without an optimizer."""
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    for _ in range(steps):
        loss = sum((model(torch.randn(8, 4)) - 1).square().mean() for _ in range(5))
        loss.backward()
        descend(model)
        show(loss)


class Pairs(torch.utils.data.Dataset):
    """Calls a module for each sample, as transforms of images do."""

    def __init__(self):
        self.transform = nn.Softmax(dim=0)

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return self.transform(torch.arange(4.0) * (index % 7)), torch.tensor(float(index % 2))


def with_loader(steps, workers=0, how=None):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(Pairs(), batch_size=4, num_workers=workers, multiprocessing_context=how)
    for _, (x, y) in zip(range(steps), loader, strict=False):
        loss = (model(x)[:, 0] - y).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        show(loss)


def graph(steps):
    """Forward and backward captured as CUDA graphs, which the module's calls replay."""
    model = Transformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    called = torch.cuda.make_graphed_callables(model, (batch()[0],))
    for _ in range(steps):
        words, targets = batch()
        loss = cross_entropy(called(words).flatten(0, 1), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        show(loss)


def inference(steps):
    model = Transformer().eval()
    with torch.no_grad():
        for _ in range(steps):
            show(model(batch()[0]).sum())


def killed(steps):
    """Ends by a signal. Before the last two steps, it waits until the records of the others can have been delivered."""
    transformer(steps, wait_before=steps - 2)
    os.kill(os.getpid(), signal.SIGKILL)


KINDS = {
    "transformer": transformer,
    "autocast": lambda steps: transformer(steps, dtype=torch.bfloat16),
    "checkpointed": lambda steps: transformer(steps, checkpointed=True),
    "compiled": lambda steps: transformer(steps, backend="aot_eager"),
    "compiled_checkpointed": lambda steps: transformer(steps, backend="aot_eager", checkpointed=True),
    "inductor": lambda steps: transformer(steps, backend="inductor"),
    "reduce_overhead": lambda steps: transformer(steps, backend="inductor", mode="reduce-overhead"),
    "graph": graph,
    "accumulated": lambda steps: transformer(steps, accumulated=3),
    "scaled": lambda steps: transformer(steps, dtype=torch.float16, scaled=True),
    "gan": gan,
    "lbfgs": lbfgs,
    "by_hand": by_hand,
    "by_hand_after_calls": by_hand_after_calls,
    "contrastive": contrastive,
    "loader": with_loader,
    "loader_fork": lambda steps: with_loader(steps, 2, "fork"),
    "loader_spawn": lambda steps: with_loader(steps, 1, "spawn"),
    "inference": inference,
    "killed": killed,
}

if __name__ == "__main__":
    torch.set_default_device(DEVICE)
    torch.manual_seed(0)
    KINDS[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 12)
