# SPDX-License-Identifier: Apache-2.0
"""Runs a program once for each of some kinds, as ranks of their own: each.py PROGRAM KIND,KIND,... [ARGUMENTS], for
forked.py. A rank runs PROGRAM KIND [ARGUMENTS], and appends its output to a file with the name of its kind."""

import os
import runpy
import sys

import ranks
from torch import distributed

program, kinds, *arguments = sys.argv[1:]
kind = kinds.split(",")[ranks.join()]
distributed.barrier()  # nobody needs the store of the first rank any more
distributed.destroy_process_group()
output = os.open(f"{kind}.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.dup2(output, sys.stdout.fileno())
sys.argv = [program, kind, *arguments]
sys.path[0] = os.path.dirname(program)
runpy.run_path(program, run_name="__main__")
