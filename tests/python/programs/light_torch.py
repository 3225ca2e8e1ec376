# SPDX-License-Identifier: Apache-2.0
"""Imports torch in a third of the time, for programs whose subject is not what they compute. Programs import this
module before torch, some of them only if KYMO_TEST_LIGHT_TORCH is set; those that compile do not import it."""

import contextlib
import gc
import sys
import types

gc.disable()  # there is no garbage yet, and much to search
# Registers what operators would return without computing it, of use to compilers.
sys.modules.setdefault("torch._meta_registrations", types.ModuleType("torch._meta_registrations"))
import torch  # noqa: E402

gc.enable()

# Optimizers, DistributedDataParallel and torch.func import torch._dynamo only so that compiled code treats them
# specially.
if "torch._dynamo" not in sys.modules:
    stand_in = types.ModuleType("torch._dynamo")
    stand_in.graph_break = lambda: None
    stand_in.disable = lambda function, *_, **__: function
    stand_in.utils = types.SimpleNamespace(get_optimize_ddp_mode=lambda: "ddp_optimizer")
    stand_in.compiled_autograd = types.SimpleNamespace(_disable=contextlib.nullcontext)
    stand_in.trace_rules = types.SimpleNamespace(clear_lru_cache=lambda: None)
    sys.modules["torch._dynamo"] = torch._dynamo = stand_in

# Profilers import torch._inductor only to know whether it uses CUDA graphs.
if "torch._inductor" not in sys.modules:
    stand_in = types.ModuleType("torch._inductor")
    stand_in.config = types.ModuleType("torch._inductor.config")
    stand_in.config.triton = types.SimpleNamespace(cudagraphs=False)
    sys.modules["torch._inductor"] = torch._inductor = stand_in
    sys.modules["torch._inductor.config"] = stand_in.config
