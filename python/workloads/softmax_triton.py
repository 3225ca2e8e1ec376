# SPDX-License-Identifier: Apache-2.0
"""Softmax over the rows of a matrix in Triton. On a machine without a GPU, TRITON_INTERPRET=1 runs the kernel on the
CPU, slowly:

    kymo run softmax_triton --set columns=4096
    TRITON_INTERPRET=1 kymo run softmax_triton --device cpu --set rows=8 --set columns=100
"""

import kymo
from kymo import tensors

try:
    import triton
    import triton.language as tl
except ImportError:  # prepare() skips the run
    triton = None

if triton:

    @triton.jit
    def softmax_kernel(x, out, columns, x_stride, out_stride, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        column = tl.arange(0, BLOCK)
        inside = column < columns
        values = tl.load(x + row * x_stride + column, mask=inside, other=-float("inf")).to(tl.float32)
        weights = tl.exp(values - tl.max(values, 0))
        result = weights / tl.sum(weights, 0)
        tl.store(out + row * out_stride + column, result.to(out.dtype.element_ty), mask=inside)


def softmax(x, out):
    """Writes the softmax of each row of `x` to `out`. Each program computes one row, which it keeps in registers."""
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    warps = min(max(block // 256, 1), 16)
    softmax_kernel[(rows,)](x, out, columns, x.stride(0), out.stride(0), BLOCK=block, num_warps=warps)


class SoftmaxTriton(kymo.Workload):
    """softmax over the rows of a matrix, each read and written once. FLOPs: 5 per element"""

    family = "softmax"
    framework = "torch"  # imported in prepare(), so that `kymo list` does not wait for it

    rows = kymo.Int(4096, minimum=1, doc="rows of the matrix")
    columns = kymo.Int(1024, minimum=1, maximum=65536, axis=(256, 1024, 4096, 16384), doc="columns of the matrix")
    dtype = kymo.Choice("fp32", tensors.DTYPES, doc="data type of the matrix")
    implementation = kymo.Choice(
        "triton", ("triton", "torch"), axis=("triton", "torch"), doc="the kernel, or torch.softmax to compare it with"
    )

    phases = ("forward",)
    ranks = 1
    asynchronous = True  # step() does not wait for the GPU

    def prepare(self, run):
        import torch

        if self.implementation == "triton":
            tensors.require_triton(run, triton)
        dtype, generator = tensors.dtype(self.dtype), tensors.generator(run)
        self.x = torch.randn(self.rows, self.columns, generator=generator, device=run.device, dtype=dtype)
        self.out = torch.empty_like(self.x)
        self.forward = run.phase("forward")
        run.work("forward", flops=5 * self.x.numel(), bytes=2 * self.x.nbytes)
        self._compute()  # compiles the kernel, which no step should include

    def _compute(self):
        if self.implementation == "triton":
            softmax(self.x, self.out)
        else:
            self.out = self.x.softmax(-1)

    def step(self, run):
        with self.forward:
            self._compute()

    def verify(self, run):
        self._compute()
        expected = self.x.double().softmax(-1)
        # A few rounding errors of the type; all values are below 1.
        tolerance = {"fp32": 1e-6, "bf16": 8e-3, "fp16": 1e-3}[self.dtype]
        result = kymo.Verification()
        # Sampled rows keep the comparison short.
        rows = slice(None, None, max(self.rows // 64, 1))
        return result.compare("softmax", "torch.softmax in float64", self.out[rows], expected[rows], tolerance)
