# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training over Gloo, for torchrun. Rank 1 is killed after some steps: ddp_killed.py STEPS."""

import os
import signal
import sys
import time

import no_dynamo  # noqa: F401
import torch
from torch import distributed, nn

distributed.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(int(sys.argv[1])):
    model(torch.ones(4, 8)).mean().backward()
    optimizer.step()
model(torch.ones(4, 8))  # ends the last step
distributed.barrier()
if distributed.get_rank() == 1:
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(1000)
