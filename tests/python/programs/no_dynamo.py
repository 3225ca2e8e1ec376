# SPDX-License-Identifier: Apache-2.0
"""A stand-in for torch._dynamo, for programs that are about something else. Optimizers and DistributedDataParallel
import torch._dynamo only so that compiled code treats them specially, which takes as long as all of `import torch`.
Programs import this module before they make the first of them. `train.py` and `ddp.py` import the real one, as users
do."""

import sys
import types

import torch

if "torch._dynamo" not in sys.modules:
    stand_in = types.ModuleType("torch._dynamo")
    stand_in.graph_break = lambda: None
    stand_in.disable = lambda function, *_, **__: function
    stand_in.utils = types.SimpleNamespace(get_optimize_ddp_mode=lambda: "ddp_optimizer")
    stand_in.trace_rules = types.SimpleNamespace(clear_lru_cache=lambda: None)
    sys.modules["torch._dynamo"] = torch._dynamo = stand_in
