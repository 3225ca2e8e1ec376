# SPDX-License-Identifier: Apache-2.0
"""Runs a program that is meant for torchrun in forks of one process: forked.py RANKS PROGRAM [ARGUMENTS]. Only this
process imports torch, which takes longer than everything else that the programs do; in a third of the time if
KYMO_TEST_LIGHT_TORCH is set."""

import os
import runpy
import sys

if os.environ.get("KYMO_TEST_LIGHT_TORCH"):
    import light_torch  # noqa: F401
elif "inductor" in sys.argv:
    import torch._inductor.compile_fx  # noqa: F401
else:
    import torch._dynamo  # noqa: F401  (optimizers import it)
from ranks import free_port

ranks = int(sys.argv[1])
job = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": str(ranks)}
children = {}
for rank in range(ranks):
    child = os.fork()
    if child == 0:
        os.environ.update(job, RANK=str(rank), LOCAL_RANK=str(rank))
        sys.argv = sys.argv[2:]
        runpy.run_path(sys.argv[0], run_name="__main__")
        sys.stdout.flush()
        os._exit(0)  # freeing what was imported would take longer than most programs
    children[child] = rank
failed = [children[child] for child in children if os.waitpid(child, 0)[1] != 0]
if failed:
    sys.exit(f"ranks {failed} failed")
