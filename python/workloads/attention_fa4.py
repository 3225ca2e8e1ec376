# SPDX-License-Identifier: Apache-2.0
"""FlashAttention-4 (package flash-attn-4) as a peer of the attention workloads."""

import time

from kymo import tensors
from kymo.attention import AttentionWorkload


class AttentionFa4(AttentionWorkload):
    """FlashAttention-4 (flash_attn.cute of the package flash-attn-4), for Hopper and later GPUs. FLOPs: half if causal,
    backward 2.5 times forward. Bytes: inputs and outputs, each once"""

    title = "FlashAttention-4"
    family_order = 4

    def start(self, run):
        import torch

        if run.device == "cpu":
            run.skip("FlashAttention-4 requires device=cuda")
        if self.dtype == "fp32":
            run.skip("FlashAttention-4 supports dtype=bf16 and dtype=fp16, not fp32")
        major, minor = torch.cuda.get_device_capability(run.device)
        if major < 9:
            run.skip(f"FlashAttention-4 requires compute capability 9.0 or later; {run.device} has {major}.{minor}")
        try:
            from flash_attn.cute import flash_attn_func
        except ImportError as error:
            run.skip(f"FlashAttention-4 is not installed: pip install 'flash-attn-4[cu13]' ({error})")
        self.function = flash_attn_func

    def warm_up(self, run):
        begin = time.perf_counter()
        try:
            self.call()  # generates and compiles the kernels of this shape
        except (AssertionError, NotImplementedError) as error:  # the package rejects inputs in this way
            run.skip(f"FlashAttention-4 does not support head_dim {self.head_dim} in {self.dtype}: {error}")
        tensors.synchronize(run)
        run.metric("compile_s", time.perf_counter() - begin, "s")

    def attention(self, query, key, value):
        tokens_first = (tensor.transpose(1, 2) for tensor in (query, key, value))
        result = self.function(*tokens_first, causal=self.causal)
        # Some releases return the log-sum-exp too.
        output = result[0] if isinstance(result, tuple) else result
        return output.transpose(1, 2)
