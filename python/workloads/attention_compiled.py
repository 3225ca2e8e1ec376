# SPDX-License-Identifier: Apache-2.0
"""Standard attention in PyTorch, eager and compiled by torch.compile."""

from kymo import compiled, tensors
from kymo.attention import AttentionWorkload


def naive(query, key, value, mask):
    """Attention with all scores in memory. `mask` is added to the scores: 0, and -inf where a key is hidden."""
    scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-2, -1)
    if mask is not None:
        scores.add_(mask)  # in place: no memory, and nothing in the backward pass
    weights = scores.softmax(-1)
    del scores  # autograd saves the weights alone
    return weights @ value


class AttentionCompiled(AttentionWorkload):
    """attention as two matrix multiplications and a softmax in PyTorch, eager or compiled by torch.compile. FLOPs: half
    if causal, backward 2.5 times forward. Bytes: inputs and outputs, each once"""

    title = "PyTorch"
    family_order = 3

    compile = compiled.mode_parameter("; mode=backward does not support reduce-overhead")
    cached = compiled.cached_parameter()

    def start(self, run):
        import torch

        if not self.with_forward and self.compile == "reduce-overhead":
            run.skip("CUDA graphs of torch.compile run each backward pass once: use mode=forward_backward")
        if not self.with_forward and self.compile != "none":
            from torch._functorch import config

            config.donated_buffer = False  # otherwise a backward pass overwrites what the next one reads
        self.function = compiled.compile(run, naive, self.compile)
        self.mask = None
        if self.causal:
            dtype = tensors.dtype(self.dtype)
            self.mask = torch.full((self.seq, self.seq), -torch.inf, dtype=dtype, device=run.device).triu_(1)

    def warm_up(self, run):
        if self.compile == "reduce-overhead":
            import torch

            # Otherwise each replay of the CUDA graph copies them to addresses of its own.
            for tensor in filter(lambda each: each is not None, (*self.inputs, self.mask)):
                torch._dynamo.mark_static_address(tensor)
        self.check = compiled.warm_up(run, self.compile, self.cached, self.call)

    def before_step(self, run):
        self.check()

    def attention(self, query, key, value):
        return self.function(query, key, value, self.mask)
