# SPDX-License-Identifier: Apache-2.0
"""RMSNorm with its backward pass in Triton. On a machine without a GPU, TRITON_INTERPRET=1 runs the kernels on the CPU,
slowly:

    kymo run rmsnorm_triton --set columns=4096
    TRITON_INTERPRET=1 kymo run rmsnorm_triton --device cpu --set rows=8 --set columns=100
"""

import kymo
from kymo import tensors

try:
    import triton
    import triton.language as tl
except ImportError:  # prepare() skips the run
    triton = None

EPSILON = 1e-5

if triton:

    @triton.jit
    def forward_kernel(x, weight, out, scales, columns, epsilon, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        column = tl.arange(0, BLOCK)
        inside = column < columns
        values = tl.load(x + row * columns + column, mask=inside, other=0.0).to(tl.float32)
        scale = 1 / tl.sqrt(tl.sum(values * values, 0) / columns + epsilon)
        tl.store(scales + row, scale)
        gain = tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
        tl.store(out + row * columns + column, (values * scale * gain).to(out.dtype.element_ty), mask=inside)

    @triton.jit
    def backward_kernel(
        x, weight, scales, gradient, to_x, to_weight, rows, columns, EACH: tl.constexpr, BLOCK: tl.constexpr
    ):
        """Each program computes EACH rows, and one row of partial sums of the gradient of the weight."""
        program = tl.program_id(0)
        column = tl.arange(0, BLOCK)
        inside = column < columns
        gain = tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        for index in range(EACH):
            row = program * EACH + index
            visible = inside & (row < rows)
            scale = tl.load(scales + row, mask=row < rows, other=0.0)
            normed = tl.load(x + row * columns + column, mask=visible, other=0.0).to(tl.float32) * scale
            above = tl.load(gradient + row * columns + column, mask=visible, other=0.0).to(tl.float32)
            total += above * normed
            weighted = above * gain
            result = (weighted - normed * (tl.sum(weighted * normed, 0) / columns)) * scale
            tl.store(to_x + row * columns + column, result.to(to_x.dtype.element_ty), mask=visible)
        tl.store(to_weight + program * columns + column, total, mask=inside)


def make_function(programs):
    """RMSNorm of contiguous rows as an autograd function of x and weight; at most `programs` run backward."""
    import torch

    class RmsNorm(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight):
            rows, columns = x.shape
            out = torch.empty_like(x)
            scales = torch.empty(rows, dtype=torch.float32, device=x.device)
            forward_kernel[(rows,)](x, weight, out, scales, columns, EPSILON, **options_of(columns))
            ctx.save_for_backward(x, weight, scales)
            return out

        @staticmethod
        def backward(ctx, gradient):
            x, weight, scales = ctx.saved_tensors
            rows, columns = x.shape
            to_x = torch.empty_like(x)
            each = triton.cdiv(rows, programs)
            parts = torch.empty(triton.cdiv(rows, each), columns, dtype=torch.float32, device=x.device)
            inputs = (x, weight, scales, gradient.contiguous())
            backward_kernel[(len(parts),)](*inputs, to_x, parts, rows, columns, EACH=each, **options_of(columns))
            return to_x, parts.sum(0).to(weight.dtype)

    return RmsNorm.apply


def options_of(columns):
    """A program keeps a row in registers."""
    block = triton.next_power_of_2(columns)
    return {"BLOCK": block, "num_warps": min(max(block // 256, 1), 16)}


class RmsnormTriton(kymo.Workload):
    """RMSNorm over the rows of a matrix and its gradients. FLOPs: 4 per element in forward, 8 in backward. Bytes:
    inputs and outputs, each once"""

    family = "rmsnorm"
    framework = "torch"  # imported in prepare(), so that `kymo list` does not wait for it

    rows = kymo.Int(4096, minimum=1, doc="rows of the matrix")
    columns = kymo.Int(1024, minimum=1, maximum=65536, axis=(256, 1024, 4096, 16384), doc="columns of the matrix")
    dtype = kymo.Choice("fp32", tensors.DTYPES, doc="data type of the matrix and the weight")
    implementation = kymo.Choice(
        "triton", ("triton", "torch"), axis=("triton", "torch"), doc="the kernels, or torch's rms_norm to compare with"
    )

    phases = ("forward", "backward")
    ranks = 1
    asynchronous = True  # step() does not wait for the GPU

    def prepare(self, run):
        import torch

        if self.implementation == "triton":
            tensors.require_triton(run, triton)
        dtype, generator = tensors.dtype(self.dtype), tensors.generator(run)

        def draw(*shape):
            return torch.randn(*shape, generator=generator, device=run.device, dtype=dtype)

        self.x = draw(self.rows, self.columns).requires_grad_()
        self.weight = draw(self.columns).requires_grad_()
        self.gradient = draw(self.rows, self.columns)
        if self.implementation == "triton":
            programs = 4 if run.device == "cpu" else torch.cuda.get_device_properties(run.device).multi_processor_count
            self.function = make_function(programs)
        else:
            self.function = lambda x, weight: torch.nn.functional.rms_norm(x, weight.shape, weight, EPSILON)
        self.forward, self.backward = run.phase("forward"), run.phase("backward")
        elements, row_bytes = self.x.numel(), self.weight.nbytes
        run.work("forward", flops=4 * elements, bytes=2 * self.x.nbytes + row_bytes)
        run.work("backward", flops=8 * elements, bytes=3 * self.x.nbytes + 2 * row_bytes)
        self.function(self.x, self.weight).backward(self.gradient)  # compiles the kernels, which no step should include

    def step(self, run):
        self.x.grad = self.weight.grad = None
        with self.forward:
            out = self.function(self.x, self.weight)
        with self.backward:
            out.backward(self.gradient)

    def verify(self, run):
        self.x.grad = self.weight.grad = None
        out = self.function(self.x, self.weight)
        out.backward(self.gradient)
        x, weight = (tensor.detach().double().requires_grad_() for tensor in (self.x, self.weight))
        expected = x * (x.square().mean(-1, keepdim=True) + EPSILON).rsqrt() * weight
        expected.backward(self.gradient.double())
        # Relative to the largest expected value: a few rounding errors of the type.
        tolerance = {"fp32": 2e-6, "bf16": 1e-2, "fp16": 2e-3}[self.dtype]
        result = kymo.Verification()
        gradients = {"x gradient": (self.x, x), "weight gradient": (self.weight, weight)}
        found = {"out": (out, expected)} | {name: (a.grad, b.grad) for name, (a, b) in gradients.items()}
        for name, pair in found.items():
            tensors.expect_close(result, name, "float64 formula", [pair], tolerance)
        return result
