# SPDX-License-Identifier: Apache-2.0
"""Base class of workloads that time an implementation of attention, as in the C++ workloads attention_*. A new one is
compared with them by the same reports:

    class MyAttention(kymo.attention.AttentionWorkload):
        def attention(self, query, key, value): ...

Importing this module does not import torch."""

from __future__ import annotations

from . import Bool, Choice, Int, Verification, Workload, tensors

# Allowed deviation from the float64 reference, relative to its largest value: a few times the rounding error, so that a
# wrong mask, scale or gradient (which changes the leading digits) fails and rounding does not.
TOLERANCES = {"fp32": 1e-5, "bf16": 3e-2, "fp16": 5e-3}


class AttentionWorkload(Workload):
    """Times one attention call and its gradient on random tensors. In mode backward, a step is the backward pass of a
    single forward pass."""

    batch = Int(8, minimum=1, doc="batch size")
    heads = Int(1, minimum=1, doc="number of attention heads")
    seq = Int(256, minimum=1, unit="tokens", axis=(256, 1024, 4096, 8192, 16384), doc="sequence length")
    head_dim = Int(64, minimum=1, axis=(16, 32, 64, 128), doc="head dimension")
    dtype = Choice("fp32", tensors.DTYPES, doc="data type of query, key and value")
    causal = Bool(True, doc="apply a causal mask")
    mode = Choice(
        "forward_backward",
        ("forward", "backward", "forward_backward"),
        doc="passes of a step; forward records no gradients, backward repeats the backward pass of a single forward "
        "pass",
    )

    phases = ("forward", "backward")
    optional_phases = True
    ranks = 1
    asynchronous = True
    framework = "torch"
    family = "attention"

    def attention(self, query, key, value):
        """Softmax attention, causal if self.causal; all tensors are [batch, heads, seq, head_dim]. Differentiable."""
        raise NotImplementedError(f"{type(self).__name__} does not define attention(self, query, key, value)")

    def start(self, run):
        """Called once before the first call of attention(). May skip the run."""

    def warm_up(self, run):
        """Called at the end of prepare(), for implementations that compile on the first call; call() is one of them."""

    def score_passes(self, backward):
        """How often an implementation reads or writes a matrix of all scores; 0 if it stores none."""
        return 0

    def prepare(self, run):
        import torch

        self.no_grad = torch.no_grad
        self.with_forward = self.mode != "backward"
        self.with_backward = self.mode != "forward"
        self.forward_phase, self.backward_phase = run.phase("forward"), run.phase("backward")
        self.memory_reported = run.device == "cpu"
        self.start(run)
        shape = (self.batch, self.heads, self.seq, self.head_dim)
        generator = tensors.generator(run)

        def draw():
            return torch.randn(shape, generator=generator, dtype=tensors.dtype(self.dtype), device=run.device)

        inputs = torch.nn.ParameterList(torch.nn.Parameter(draw(), self.with_backward) for _ in range(3))
        run.tag_module(inputs)  # for the gradients
        self.inputs = list(inputs)
        self.output_gradient = draw() if self.with_backward else None
        for tensor in (*self.inputs, self.output_gradient):
            run.tag(tensor, "input")
        self.output = None  # of the forward pass whose gradient mode backward repeats
        self._declare(run)
        self.warm_up(run)
        if not self.with_forward:
            self.output = self.attention(*self.inputs)

    def call(self):
        """Runs what a step runs, without phases, and returns the output of attention()."""
        if not self.with_backward:
            with self.no_grad():
                return self.attention(*self.inputs)
        for tensor in self.inputs:
            tensor.grad = None
        output = self.attention(*self.inputs) if self.output is None else self.output
        output.backward(self.output_gradient, retain_graph=not self.with_forward)
        return output

    def _declare(self, run):
        elements = self.batch * self.heads * self.seq * self.head_dim
        scores = self.batch * self.heads * self.seq**2 * (0.5 if self.causal else 1)
        element_bytes = 4 if self.dtype == "fp32" else 2
        tensor_bytes = elements * element_bytes
        score_bytes = self.batch * self.heads * self.seq**2 * element_bytes
        # Operations as published benchmarks count them, for every implementation: two products of 2 per score and
        # element in forward, and 2.5 times that in backward.
        forward_flops = 4 * scores * self.head_dim
        # Forward reads query, key and value and writes the output; backward reads those and the gradient, and writes
        # three gradients.
        if self.with_forward:
            run.work("forward", forward_flops, 4 * tensor_bytes + self.score_passes(False) * score_bytes)
        if self.with_backward:
            run.work("backward", 2.5 * forward_flops, 8 * tensor_bytes + self.score_passes(True) * score_bytes)
        run.metric("input_bytes", 3 * tensor_bytes, "B")
        run.metric("score_matrix_bytes", score_bytes, "B")

    def step(self, run):
        if not self.with_backward:
            with self.no_grad(), self.forward_phase:
                self.attention(*self.inputs)
            return
        for tensor in self.inputs:
            tensor.grad = None
        output = self.output
        if self.with_forward:
            with self.forward_phase:
                output = self.attention(*self.inputs)
            self._before_backward(run)
        with self.backward_phase:
            output.backward(self.output_gradient, retain_graph=not self.with_forward)

    def _before_backward(self, run):
        run.mark("before_backward")
        if not self.memory_reported:
            import torch

            self.memory_reported = True  # the same in every step
            run.metric("memory_before_backward", torch.cuda.memory_allocated(run.device), "B")

    def verify(self, run):
        """Compares the first and the last head of the whole call with float64, in memory that grows with seq."""
        output = self.call()
        found = [("output", output)]
        if self.with_backward:
            names = ("query gradient", "key gradient", "value gradient")
            found += [(name, tensor.grad) for name, tensor in zip(names, self.inputs, strict=True)]
        heads = sorted({(0, 0), (self.batch - 1, self.heads - 1)})
        expected = []
        for head in heads:
            gradient = self.output_gradient[head] if self.with_backward else None
            expected.append(reference(*(t.detach()[head] for t in self.inputs), gradient, self.causal))
        result = Verification()
        for part, (name, actual) in enumerate(found):
            pairs = [(actual[head], values[part]) for head, values in zip(heads, expected, strict=True)]
            source = "float64 attention by blocks of queries, first and last head"
            tensors.expect_close(result, name, source, pairs, TOLERANCES[self.dtype])
        return result


def reference(query, key, value, gradient, causal, block=1024):
    """Attention of one head in float64: the output and, if the gradient of the output is given, the gradients of query,
    key and value by explicit formulas. All tensors are [seq, head_dim]; temporary memory is block × seq."""
    import torch

    query, key, value = query.double(), key.double(), value.double()
    scale = query.shape[-1] ** -0.5
    results = [torch.zeros_like(query) for _ in range(1 if gradient is None else 4)]
    columns = torch.arange(len(key), device=key.device)
    for begin in range(0, len(query), block):
        rows = slice(begin, min(begin + block, len(query)))
        scores = query[rows] @ key.T * scale
        if causal:
            scores.masked_fill_(columns > torch.arange(rows.start, rows.stop, device=key.device)[:, None], -torch.inf)
        weights = torch.softmax(scores, -1)
        results[0][rows] = weights @ value
        if gradient is None:
            continue
        to_output = gradient[rows].double()
        to_weights = to_output @ value.T
        to_scores = weights * (to_weights - (to_output * results[0][rows]).sum(-1, keepdim=True)) * scale
        results[1][rows] = to_scores @ key
        results[2] += to_scores.T @ query[rows]
        results[3] += weights.T @ to_output
    return results
