# SPDX-License-Identifier: Apache-2.0
"""How the programs with ranks begin and end, over Gloo, or over NCCL with DEVICE=cuda."""

import os
import socket

import torch
from torch import distributed

ON_GPU = os.environ.get("DEVICE") == "cuda"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def join(**how):
    """Makes the process group and returns this process's rank."""
    distributed.init_process_group("nccl" if ON_GPU else "gloo", **how)
    rank = distributed.get_rank()
    if ON_GPU:
        torch.cuda.set_device(rank)
        torch.set_default_device("cuda")
    return rank


def show(losses):
    """Prints the losses of each rank, one after another, and leaves the process group."""
    rank = distributed.get_rank()
    for each in range(distributed.get_world_size()):
        if each == rank:
            print(rank, *losses, flush=True)
        distributed.barrier()
    distributed.destroy_process_group()
