#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the fused layers with QuACK, Liger and torch.compile, where they are installed, and with a copy of as many
bytes, on one GPU in one process: compare_layers.py libkymo_ops.so [--csv FILE] [--seconds SECONDS] [--layers REGEX]

Each implementation is a CUDA graph of several calls, so that no host time counts. The graphs of a row are interleaved,
in alternating order; each value is the median over the rounds of the time of a call in microseconds. `both` is forward
and backward. `ratio` is the time of the fastest peer divided by that of kymo: above 1 if kymo is faster. Rows that do
not fit in the given time are left out, which is printed."""

import argparse
import csv
import re
import statistics
import sys
import time

import torch
from torch.nn import functional

try:
    from quack.rmsnorm import rmsnorm_bwd, rmsnorm_fwd  # the package replaces the module's name by a function
    from quack.rotary import apply_rotary_emb_qkv_ as quack_rotary
except ImportError:
    rmsnorm_fwd = None
try:
    from quack.linear_cross_entropy import chunked_linear_cross_entropy as quack_loss
except Exception as error:  # QuACK 0.6.5 raises TypeError with some versions of the CUTLASS DSL
    print("without QuACK's linear cross entropy:", error)
    quack_loss = None
try:
    from liger_kernel.ops import fused_add_rms_norm, fused_linear_cross_entropy, rms_norm, rope, swiglu
except ImportError:
    rms_norm = None

ROUNDS, GRAPH_MICROSECONDS, EPSILON = 9, 1500, 1e-5
COLUMNS = ("layer", "shape", "kymo", "quack", "liger", "compile", "copy", "ratio")
NORM_SHAPES = ((16384, 2048), (32768, 4096), (8192, 8192), (65536, 1024))


def draw(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def leaf(tensor):
    return tensor.detach().requires_grad_()


def graph_of(function, calls):
    """A CUDA graph of several calls, after a warm-up that compiles what the calls need."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            function()
    return graph


def microseconds(functions, expected):
    """Median time of a call of each function, and the errors of those that failed."""
    calls = max(1, round(GRAPH_MICROSECONDS / expected))
    graphs, errors = {}, {}
    for name, function in functions.items():
        try:
            graphs[name] = graph_of(function, calls)
        except Exception as error:  # of any kind: peers are other people's code
            errors[name] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            torch.cuda.synchronize()
    times = {name: [] for name in graphs}
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for turn in range(-1, ROUNDS):
        for name in list(graphs)[:: 1 if turn % 2 else -1]:
            begin.record()
            graphs[name].replay()
            end.record()
            end.synchronize()
            if turn >= 0:
                times[name].append(begin.elapsed_time(end) * 1e3 / calls)
    return {name: statistics.median(of) for name, of in times.items()}, errors


def copy_of(moved):
    """A copy that reads and writes so many bytes together."""
    source = torch.empty(moved // 2, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def gradients_of(function, inputs, gradients):
    inputs = [leaf(tensor) for tensor in inputs]
    return lambda: torch.autograd.grad(function(*inputs), inputs, gradients)


def compiled(function):
    torch._dynamo.reset()
    return torch.compile(function)


def norm_rows(ops):
    for rows, width in NORM_SHAPES:
        x, weight, gradient = draw(rows, width), draw(width), draw(rows, width)

        def library(x, weight, width=width):
            return functional.rms_norm(x, (width,), weight, EPSILON)

        def quack_both(x=x, weight=weight, gradient=gradient):
            root = rmsnorm_fwd(x, weight, eps=EPSILON, store_rstd=True)[2]
            rmsnorm_bwd(x, weight, gradient, root)

        def liger_both(x=x, weight=weight, gradient=gradient):
            _, flat, root, block, warps, mode = rms_norm.rms_norm_forward(x, weight, EPSILON, 0.0, "llama", False)
            rms_norm.rms_norm_backward(gradient, flat, weight, root, 0.0, mode, block, warps, False, False)

        fast = compiled(library)
        shape, size = f"{rows} x {width}", x.numel() * 2
        yield (
            "rms_norm",
            shape,
            2 * size,
            {
                "kymo": lambda x=x, weight=weight: ops.rms_norm(x, weight, EPSILON),
                "quack": lambda x=x, weight=weight: rmsnorm_fwd(x, weight, eps=EPSILON),
                "liger": lambda x=x, weight=weight: rms_norm.rms_norm_forward(x, weight, EPSILON, 0.0, "llama", False),
                "compile": lambda x=x, weight=weight, fast=fast: fast(x, weight),
            },
        )
        yield (
            "rms_norm both",
            shape,
            5 * size,
            {
                "kymo": gradients_of(lambda x, w: ops.rms_norm(x, w, EPSILON), (x, weight), gradient),
                "quack": quack_both,
                "liger": liger_both,
                "compile": gradients_of(fast, (x, weight), gradient),
            },
        )


def add_norm_rows(ops):
    for rows, width in NORM_SHAPES[:3]:
        x, residual, weight = draw(rows, width), draw(rows, width), draw(width)
        gradients = (draw(rows, width), draw(rows, width))

        def library(x, residual, weight, width=width):
            total = residual + x
            return functional.rms_norm(total, (width,), weight, EPSILON), total

        def quack_both(x=x, residual=residual, weight=weight, gradients=gradients):
            _, total, root = rmsnorm_fwd(x, weight, residual=residual, eps=EPSILON, store_rstd=True)
            rmsnorm_bwd(total, weight, gradients[0], root, gradients[1])

        liger = fused_add_rms_norm.LigerFusedAddRMSNormFunction if rms_norm else None
        fast = compiled(library)
        yield (
            "add_rms_norm both",
            f"{rows} x {width}",
            8 * x.numel() * 2,
            {
                "kymo": gradients_of(ops.add_rms_norm, (x, residual, weight), gradients),
                "quack": quack_both,
                "liger": gradients_of(
                    lambda x, r, w, liger=liger: liger.apply(x, r, w, EPSILON), (x, residual, weight), gradients
                ),
                "compile": gradients_of(fast, (x, residual, weight), gradients),
            },
        )


def other_rows(ops):
    joint, gradient = draw(16384, 2 * 5632), draw(16384, 5632)
    fast = compiled(lambda joint: functional.silu(joint.chunk(2, -1)[0]) * joint.chunk(2, -1)[1])
    liger_swiglu = swiglu.LigerFusedGateUpSiLUMulFunction if rms_norm else None
    yield (
        "swiglu both",
        "16384 x 2 x 5632",
        8 * gradient.numel() * 2,
        {
            "kymo": gradients_of(ops.swiglu, (joint,), gradient),
            "liger": gradients_of(lambda joint: liger_swiglu.apply(joint), (joint,), gradient),
            "compile": gradients_of(fast, (joint,), gradient),
        },
    )
    batch, sequence, heads, width = 4, 4096, 32, 128
    qkv = draw(batch, sequence, 3, heads, width)
    angles = torch.outer(torch.arange(sequence), 10000 ** (-torch.arange(0, width, 2) / width)).cuda()
    table = torch.stack((angles.cos(), angles.sin()), -1).float()
    cosine, sine = (of.bfloat16() for of in (angles.cos(), angles.sin()))
    both = [torch.cat((of, of), -1)[None] for of in (cosine, sine)]
    query, key = (qkv[:, :, i].contiguous().transpose(1, 2) for i in range(2))
    yield (
        "rotary_, query and key",
        f"{batch} x {sequence} x {heads} x {width}",
        2 * 2 * query.numel() * 2,
        {
            "kymo": lambda: ops.rotary_(qkv, table),
            "quack": lambda: quack_rotary(qkv, cosine, sine, interleaved=True),
            "liger": lambda: rope.rope_forward(query, key, *both),
        },
    )
    for tokens, width, classes in ((8192, 2048, 32_768), (4096, 2048, 151_936)):
        x, weight = draw(tokens, width), draw(classes, width) / width**0.5
        target = torch.randint(classes, (tokens,), device="cuda")
        liger_loss = fused_linear_cross_entropy.LigerFusedLinearCrossEntropyFunction if rms_norm else None
        one = torch.ones((), device="cuda")
        fast = compiled(lambda x, w, target=target: functional.cross_entropy((x @ w.T).float(), target))
        yield (
            "linear_cross_entropy both",
            f"{tokens} x {width}, {classes} classes",
            5 * tokens * classes * 2,
            {
                "kymo": gradients_of(
                    lambda x, w, target=target: ops.linear_cross_entropy(x, w, target), (x, weight), one
                ),
                "quack": quack_loss
                and gradients_of(lambda x, w, target=target: quack_loss(x, w, target, tuned=False), (x, weight), one),
                "liger": gradients_of(
                    lambda x, w, target=target, liger_loss=liger_loss: liger_loss.apply(x, w, target)[0],
                    (x, weight),
                    one,
                ),
                "compile": gradients_of(fast, (x, weight), one),
            },
        )
    sizes = [64 * 1280] * 20 + [3 * 1280 * 1280] * 8 + [10_000 * 1280] * 2
    lists = [[torch.randn(n, device="cuda").abs() for n in sizes] for _ in range(4)]
    steps = [torch.ones((), device="cuda") for _ in sizes]
    settings = {"lr": 1e-4, "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.01, "eps": 1e-8}

    def library():
        torch._foreach_add_(steps, 1)
        torch._fused_adamw_(*lists, [], steps, amsgrad=False, maximize=False, **settings)

    yield (
        "adamw_, fp32 (compile: LibTorch's fused)",
        f"{sum(sizes)} elements",
        7 * 4 * sum(sizes),
        {"kymo": lambda: ops.adamw_(*lists, steps, 1e-4), "compile": library},
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--csv")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--layers", default="", help="regular expression of the layers to compare")
    options = parser.parse_args()
    torch.ops.load_library(options.library)
    ops, end = torch.ops.kymo, time.monotonic() + options.seconds
    present = {"kymo", "compile", "copy"} | ({"quack"} if rmsnorm_fwd else set()) | ({"liger"} if rms_norm else set())
    print(torch.cuda.get_device_name(), torch.__version__, *sorted(present), flush=True)
    file = open(options.csv, "w", newline="") if options.csv else sys.stdout  # noqa: SIM115
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for rows in (norm_rows, add_norm_rows, other_rows):
        for layer, shape, moved, functions in rows(ops):
            if not re.search(options.layers, layer):
                continue
            if time.monotonic() > end:
                print("no time left for", layer, shape, flush=True)
                continue
            functions = {name: function for name, function in functions.items() if name in present and function}
            functions["copy"] = copy_of(moved)
            times, errors = microseconds(functions, moved / 2.9e6)
            peers = [of for name, of in times.items() if name not in ("kymo", "copy")]
            ratio = f"{min(peers) / times['kymo']:.3f}" if peers and "kymo" in times else ""
            numbers = (f"{times[name]:.2f}" if name in times else "" for name in COLUMNS[2:7])
            writer.writerow((layer, shape, *numbers, ratio))
            file.flush()
            for name, error in errors.items():
                print(f"{layer}, {shape}: {name} failed: {error}", flush=True)
            del functions
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
