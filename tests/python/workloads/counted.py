# SPDX-License-Identifier: Apache-2.0
"""Work of which each phase executes a known amount: tests/gpu/counters.py compares it with what the hardware counts."""

import kymo
import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

try:
    import triton
    from triton import language as tl
except ImportError:
    triton = None

ROW = 4096
ELEMENTS = 1 << 28  # 1 GiB of fp32, ten times the L2 cache of a GPU and more
BATCH, HEADS, LENGTH, HEAD = 8, 16, 4096, 64

if triton:

    @triton.jit
    def softmax_kernel(source, result, row: tl.constexpr):
        offsets = tl.program_id(0).to(tl.int64) * row + tl.arange(0, row)
        values = tl.load(source + offsets)
        powers = tl.exp(values - tl.max(values, 0))
        tl.store(result + offsets, powers / tl.sum(powers, 0))

    @triton.jit
    def norm_kernel(source, result, row: tl.constexpr):
        offsets = tl.program_id(0).to(tl.int64) * row + tl.arange(0, row)
        values = tl.load(source + offsets)
        tl.store(result + offsets, values * tl.rsqrt(tl.sum(values * values, 0) / row + 1e-6))


def vector_bodies(device):
    """Kernels that are bound by memory."""
    first, second, third = (torch.randn(ELEMENTS, device=device) for _ in range(3))
    parameter = torch.nn.Parameter(torch.zeros(ELEMENTS, device=device))
    parameter.grad = first.clone()
    rows = second.bfloat16().view(-1, ROW)
    bodies = {
        "copy": lambda: third.copy_(first),
        "add": lambda: torch.add(first, second, out=third),
        "adamw": torch.optim.AdamW([parameter], fused=True).step,
        "norm": lambda: functional.rms_norm(rows, (ROW,)),
    }
    if triton:
        grid = (ELEMENTS // ROW,)
        bodies["triton_softmax"] = lambda: softmax_kernel[grid](second, third, ROW)
        bodies["triton_norm"] = lambda: norm_kernel[grid](second, third, ROW)
    return bodies


def product_bodies(device):
    single = torch.randn(ROW, ROW, device=device)
    half, brain, odd = single.half(), single.bfloat16(), single[:1000, :1000].bfloat16()
    eighth, one = single.to(torch.float8_e4m3fn), torch.ones((), device=device)
    torch.backends.cuda.matmul.allow_tf32 = True
    return {
        "bf16": lambda: torch.mm(brain, brain),
        "fp16": lambda: torch.mm(half, half),
        "tf32": lambda: torch.mm(single, single),
        "fp8": lambda: torch._scaled_mm(eighth, eighth.t(), one, one, out_dtype=torch.bfloat16),
        "padded": lambda: torch.mm(odd, odd),
    }


class Attention:
    def __init__(self, backend, device):
        self.inputs = [
            torch.randn(BATCH, HEADS, LENGTH, HEAD, device=device, dtype=torch.bfloat16, requires_grad=True)
            for _ in range(3)
        ]
        self.gradient = torch.ones_like(self.inputs[0])
        self.backend = backend
        self.result = None

    def forward(self):
        with sdpa_kernel(self.backend):
            self.result = functional.scaled_dot_product_attention(*self.inputs)

    def backward(self):
        torch.autograd.grad(self.result, self.inputs, self.gradient)
        self.result = None


PHASES = (
    *("copy", "add", "adamw", "norm", "triton_softmax", "triton_norm", "bf16", "fp16", "tf32", "fp8", "padded"),
    *("flash_forward", "flash_backward", "cudnn_forward", "cudnn_backward"),
)


@kymo.workload(phases=PHASES, optional_phases=True)
def counted(run):
    """Products, attention and kernels bound by memory, each in a phase of its own"""
    if not run.device.startswith("cuda"):
        run.skip("kymo reads the hardware counters of GPUs")
    bodies = vector_bodies(run.device) | product_bodies(run.device)
    for name, backend in (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)):
        attention = Attention(backend, run.device)
        bodies |= {f"{name}_forward": attention.forward, f"{name}_backward": attention.backward}
    phases = {name: run.phase(name) for name in bodies}

    def step():
        for name, body in bodies.items():
            with phases[name]:
                body()

    return step
