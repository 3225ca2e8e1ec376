#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares kymo::attention with LibTorch's attention backends and, where it is installed, FlashAttention-4, forward and
backward, on one GPU in one process.

  compare_attention.py libkymo_ops.so [--grids wide,leader,...] [--seconds 1.0] [--host] [--csv FILE]

The implementations are interleaved call by call within each round, in a random order, because the preceding work
determines the GPU's power and clock: in a fixed order, the one after the slowest would always run at a higher clock.
Each value is the median over the rounds, measured between CUDA events. Short calls are repeated between two events, and
the GPU is kept busy for twice the time that the host took to enqueue as many calls in a warm-up round, so that the
device is timed and not the dispatch overhead. Everything goes through autograd, as in training. Prints CSV; `ratio` is
the time of the best peer divided by that of the row: in kymo's rows, above 1 if kymo is faster. Exits with 1 if a
result of kymo is wrong.

  wide     bf16, d 128 and 64, hidden size 2048, 16384 tokens in total, 512 to 16384 of them per sequence
  leader   16 heads x 16384 x 64, causal, bf16; target for forward and backward together: below 4.0 ms
  widths   d 32, 96, 192, 256 in bf16 and d 128 in fp16, 4096 tokens
  fp32     d 64 and 128, 1024 and 4096 tokens
  peers    bf16, the shapes of docs/kernels that compare kymo with FlashAttention-4, grouped heads included (not run by
           default)
  grouped  bf16, several query heads per key/value head (not run by default)
  few      bf16, few queries for many keys, grouped heads: decoding (not run by default)
  small    bf16, 256 tokens; with --host, the time of the host alone counts (not run by default)
  single   one head, batch 1 and 8, 256 to 16384 tokens, d 16 to 128, bf16 and fp32 (not run by default)
"""

import argparse
import contextlib
import csv
import random
import statistics
import sys
import time
from typing import NamedTuple

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

try:
    from flash_attn.cute import flash_attn_func
except ImportError:
    flash_attn_func = None

PEERS = {
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
}
COLUMNS = (
    "pass",
    "kernel",
    "element",
    "d",
    "mask",
    "batch",
    "heads",
    "heads_kv",
    "queries",
    "keys",
    "median_ms",
    "least_ms",
    "tflops",
    "ratio",
)
BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
NAMES = {BF16: "bf16", FP16: "fp16", FP32: "fp32"}
MASKS = (False, True)


class Shape(NamedTuple):
    element: torch.dtype
    d: int
    causal: bool
    batch: int
    heads: int
    keys: int
    heads_kv: int = 0  # 0: as many as `heads`
    queries: int = 0  # 0: as many as `keys`

    def of_queries(self):
        return self.batch, self.heads, self.queries or self.keys, self.d

    def of_keys(self):
        return self.batch, self.heads_kv or self.heads, self.keys, self.d


WIDTHS = ((BF16, 32), (BF16, 96), (BF16, 192), (BF16, 256), (FP16, 128))
GRIDS = {
    "wide": [
        Shape(BF16, d, causal, 16384 // seq, 2048 // d, seq)
        for d in (128, 64)
        for causal in MASKS
        for seq in (512, 1024, 2048, 4096, 8192, 16384)
    ],
    "leader": [Shape(BF16, 64, True, 1, 16, 16384)],
    "widths": [Shape(element, d, causal, 4, 2048 // d, 4096) for element, d in WIDTHS for causal in MASKS],
    "fp32": [
        Shape(FP32, d, causal, 8192 // seq, 1024 // d, seq)
        for d in (64, 128)
        for causal in MASKS
        for seq in (1024, 4096)
    ],
    "peers": [
        *(Shape(BF16, d, causal, 1, 16, 16384) for d in (128, 64) for causal in MASKS),
        Shape(BF16, 128, True, 1, 32, 32768),
        *(Shape(BF16, d, causal, 1, 16, 32768) for d in (128, 64) for causal in MASKS),
        *(Shape(BF16, d, causal, 16, 16, 1024) for d in (128, 64) for causal in MASKS),
        *(Shape(BF16, d, causal, 4, 16, 4096) for d in (128, 64) for causal in MASKS),
        Shape(BF16, 128, True, 2, 32, 8192, heads_kv=8),
        Shape(BF16, 128, True, 1, 64, 4096, heads_kv=8),
        Shape(BF16, 128, True, 1, 64, 8192, heads_kv=8),
        Shape(BF16, 64, True, 1, 64, 8192, heads_kv=8),
    ],
    "grouped": [
        *(
            Shape(BF16, d, True, 8192 // seq, 64, seq, heads_kv=8)
            for d in (128, 64)
            for seq in (1024, 2048, 4096, 8192)
        ),
        *(Shape(BF16, d, True, 2, 32, 8192, heads_kv=8) for d in (128, 64)),
        Shape(BF16, 128, True, 4, 32, 2048, heads_kv=8),
        Shape(BF16, 128, True, 1, 28, 8192, heads_kv=4),
        Shape(BF16, 128, True, 1, 32, 8192, heads_kv=16),
        Shape(BF16, 128, False, 1, 64, 4096, heads_kv=8),
    ],
    "few": [
        *(Shape(BF16, 128, False, batch, 32, 8192, heads_kv=8, queries=1) for batch in (1, 4, 16)),
        Shape(BF16, 64, False, 4, 32, 8192, heads_kv=8, queries=1),
        Shape(BF16, 128, False, 4, 32, 8192, heads_kv=8, queries=8),
        *(Shape(BF16, 128, False, batch, 16, 8192, queries=128) for batch in (1, 4)),
        Shape(BF16, 64, False, 4, 16, 8192, queries=128),
    ],
    "small": [Shape(BF16, d, causal, batch, 12, 256) for d in (64, 128) for causal in MASKS for batch in (1, 4)],
    "single": [
        Shape(element, d, True, batch, 1, seq)
        for element in (BF16, FP32)
        for d in (16, 32, 64, 128)
        for batch in (1, 8)
        for seq in (256, 1024, 4096, 8192, 16384)
    ],
}


def shapes(grid):
    """The shapes of a grid."""
    if grid not in GRIDS:
        raise SystemExit(f"compare_attention: unknown grid {grid!r}; use one of {', '.join(GRIDS)}")
    return GRIDS[grid]


class Contender:
    """One implementation on one problem: its passes as functions without arguments, and their times."""

    def __init__(self, name, attention, tensors, gradient):
        self.name, self.times = name, {"forward": [], "backward": []}
        self._attention, self._tensors, self._gradient = attention, tensors, gradient
        self.output = self.forward()
        self.gradients = self.backward()

    def forward(self):
        return self._attention(*self._tensors)

    def backward(self):
        return torch.autograd.grad(self.output, self._tensors, self._gradient, retain_graph=True)


def contenders(shape):
    def random(sizes, **options):
        return torch.randn(*sizes, device="cuda", dtype=shape.element, **options)

    tensors = [random(sizes, requires_grad=True) for sizes in (shape.of_queries(), shape.of_keys(), shape.of_keys())]
    gradient = random(shape.of_queries())
    # LibTorch aligns a causal mask at the top left, kymo at the bottom right: the grids are causal with equal lengths.
    grouped = shape.heads_kv not in (0, shape.heads)

    def of_torch(backend):
        def attention(*of):
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(*of, is_causal=shape.causal, enable_gqa=grouped)

        return attention

    def flash_attention_4(query, key, value):
        result = flash_attn_func(*(of.transpose(1, 2) for of in (query, key, value)), causal=shape.causal)
        return (result[0] if isinstance(result, tuple) else result).transpose(1, 2)

    peers = {name: of_torch(backend) for name, backend in PEERS.items()}
    if flash_attn_func and shape.element != FP32:
        peers["fa4"] = flash_attention_4
    found = [Contender("kymo", lambda *of: torch.ops.kymo.attention(*of, shape.causal), tensors, gradient)]
    for name, attention in peers.items():
        # A backend that does not support the problem has no row.
        with contextlib.suppress(RuntimeError, AssertionError, NotImplementedError):
            found.append(Contender(name, attention, tensors, gradient))
            torch.cuda.synchronize()
    return found


def disagreement(found, element):
    """The results of kymo that differ from the last peer's by more than a few rounding errors, as one text; rows of
    softmax weights have a magnitude of about 1."""
    if len(found) < 2:
        return ""
    allowed = {BF16: 3e-2, FP16: 6e-3, FP32: 1e-4}[element]
    mine, peer = ((one.output, *one.gradients) for one in (found[0], found[-1]))
    names = ("o", "dq", "dk", "dv")
    errors = {name: ((a - b).abs().max() / b.abs().max()).item() for name, a, b in zip(names, mine, peer, strict=True)}
    return ", ".join(
        f"{name} is {error:.1e} off {found[-1].name}'s" for name, error in errors.items() if not error <= allowed
    )


def host_milliseconds(function):
    """Time until the host has enqueued one call, on an idle GPU."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    function()
    return 1e3 * (time.perf_counter() - begin)


def milliseconds(function, calls, host):
    """Time of the GPU for one call; host: milliseconds that the host takes to enqueue one."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(round(2e6 * (0.2 + 2 * host * calls)))  # cycles, of at most 2 GHz
    begin.record()
    for _ in range(calls):
        function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / calls


def run_interleaved(found, seconds, host):
    """Runs rounds until the time is over, at least four; two warm-up rounds precede them."""
    calls = {(one, name): 1 for one in found for name in one.times}
    host_times = dict.fromkeys(calls, 1.0)
    over, rounds, order = time.monotonic() + seconds, 0, random.Random(0)
    while rounds < 6 or (time.monotonic() < over and (host or rounds < 40)):
        for one in order.sample(found, len(found)):
            for name, times in one.times.items():
                function, key = getattr(one, name), (one, name)
                if rounds < 2:  # the first one also loads kernels
                    host_times[key] = min(20.0, host_milliseconds(function))
                taken = host_milliseconds(function) if host else milliseconds(function, calls[key], host_times[key])
                if rounds < 2:
                    calls[key] = max(1, min(10, round(1 / taken)))
                else:
                    times.append(taken)
        rounds += 1


def rows_of(shape, found):
    pairs = (shape.queries or shape.keys) * shape.keys
    forward_flops = 4 * shape.batch * shape.heads * pairs * shape.d / (2 if shape.causal else 1)
    medians = {}
    for one in found:
        times = dict(one.times, both=[a + b for a, b in zip(*one.times.values(), strict=True)])
        medians[one.name] = {name: (statistics.median(taken), min(taken)) for name, taken in times.items()}
    for name, factor in (("forward", 1), ("backward", 2.5), ("both", 3.5)):
        best = min((of[name][0] for peer, of in medians.items() if peer != "kymo"), default=None)
        for kernel, of in medians.items():
            median, least = of[name]
            yield (
                name,
                kernel,
                NAMES[shape.element],
                shape.d,
                "causal" if shape.causal else "full",
                shape.batch,
                shape.heads,
                shape.heads_kv or shape.heads,
                shape.queries or shape.keys,
                shape.keys,
                f"{median:.4f}",
                f"{least:.4f}",
                f"{factor * forward_flops / median / 1e9:.1f}",
                f"{best / median:.3f}" if best else "",
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--grids", default="wide,leader,widths,fp32")
    parser.add_argument("--seconds", type=float, default=1.0, help="time per problem")
    parser.add_argument("--host", action="store_true", help="measure the time of the host per call")
    parser.add_argument("--csv", type=argparse.FileType("w"), default=sys.stdout)
    arguments = parser.parse_args()
    torch.ops.load_library(arguments.library)
    problems = [shape for grid in arguments.grids.split(",") for shape in shapes(grid)]
    if not torch.cuda.is_available():
        raise SystemExit("compare_attention: no GPU")
    torch.manual_seed(0)
    writer, wrong = csv.writer(arguments.csv, lineterminator="\n"), False
    writer.writerow(COLUMNS)
    for shape in problems:
        found = contenders(shape)
        problem = disagreement(found, shape.element)
        if problem:
            wrong = True
            print(f"compare_attention: {shape}: {problem}", file=sys.stderr)
        run_interleaved(found, arguments.seconds, arguments.host)
        writer.writerows(rows_of(shape, found))
        arguments.csv.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
