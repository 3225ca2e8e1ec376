# SPDX-License-Identifier: Apache-2.0
"""Training over Gloo, or over NCCL with DEVICE=cuda, whose ranks multiprocessing starts, without RANK in their
environment: spawned.py HOW STEPS [METHOD]. Each rank prints its loss of each step, exactly."""

import os
import signal
import sys
import tempfile

import light_torch  # noqa: F401
import ranks as group
import torch
from torch import distributed, multiprocessing, nn
from torch.utils.data import DataLoader, TensorDataset

RANKS = 2


def join(rank, ranks, how, meeting):
    if how == "environment":
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=meeting)
        group.join()
    elif how == "file":
        group.join(init_method=meeting, rank=rank, world_size=ranks)
    else:
        os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", meeting
        group.join(rank=rank, world_size=ranks)


def batches(how, steps):
    if how == "loader":
        data = TensorDataset(torch.randn(4 * steps, 8))
        return [words for (words,) in DataLoader(data, batch_size=4, num_workers=2)]
    return (torch.randn(4, 8) for _ in range(steps))


def step(model, optimizer, words, by_hand):
    loss = model(words).square().mean()
    loss.backward()
    if by_hand:
        for parameter in model.parameters():
            distributed.all_reduce(parameter.grad)
            parameter.grad /= distributed.get_world_size()
    optimizer.step()
    optimizer.zero_grad()
    return float(loss.detach()).hex()


def call(count):
    model = nn.Linear(8, 1).eval()
    for _ in range(count):
        model(torch.ones(1, 8))


def train(rank, ranks, how, steps, meeting):
    if how == "calls":
        call(6)
    if how == "raise_early" and rank == 1:
        raise ValueError("bad rank")
    join(rank, ranks, how, meeting)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    by_hand = how == "by_hand"
    if not by_hand:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(rank)
    losses = []
    for number, words in enumerate(batches(how, steps)):
        if number == steps // 2 and rank == 1 and how == "killed":
            distributed.barrier()
            os.kill(os.getpid(), signal.SIGKILL)
        if number == steps // 2 and rank == 1 and how == "raise":
            raise ValueError("bad value")
        if number == steps // 2 and how in ("killed", "raise"):
            distributed.barrier()
        losses.append(step(model, optimizer, words, by_hand))
    group.show(losses)
    if by_hand:
        os._exit(0)  # threads of Gloo may hold the last gradients, whose release at exit can abort the process


def alone(index, steps):
    """No rank: it makes no process group."""
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        step(model, optimizer, torch.ones(4, 8), False)


def start(ranks, how, steps, method):
    with tempfile.TemporaryDirectory() as folder:
        meeting = f"file://{folder}/meeting" if how == "file" else group.free_port()
        if how == "process":
            context = multiprocessing.get_context(method)
            processes = [context.Process(target=train, args=(r, ranks, how, steps, meeting)) for r in range(ranks)]
            for process in processes:
                process.start()
            for process in processes:
                process.join()
        elif how == "alone":
            multiprocessing.start_processes(alone, args=(steps,), nprocs=ranks, start_method=method)
        else:
            arguments = (ranks, how, steps, meeting)
            multiprocessing.start_processes(train, args=arguments, nprocs=ranks, start_method=method)


def main(how, steps, method="spawn"):
    if how in ("parent", "measured_parent"):
        call(4 if how == "parent" else 30)
    for ranks in {"twice": (RANKS, 1), "measured_parent": (1,)}.get(how, (RANKS,)):
        start(ranks, how, int(steps), method)
    if how == "parent":
        alone(0, 30)


if __name__ == "__main__":
    main(*sys.argv[1:])
