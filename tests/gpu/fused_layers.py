#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the fused layers on one GPU in about 4 minutes. Usage: fused_layers.py KYMO FOLDER [SECONDS]

Writes to FOLDER, after each part:
  operators.csv  each operator and LibTorch's layer, forward and backward: time, bandwidth, and the ratio to a copy of
                 as many bytes, interleaved in one process (median over rounds)
  errors.csv     largest error relative to the largest exact value (float64), of the operator and of LibTorch's layer
                 (median over random inputs)
  steps.csv      step time of transformer_lm for each value of `operators`, in bf16 as CUDA graph, interleaved rounds
  steps.db       the runs behind it

The bytes are those that the operator must move. LibTorch's layers move the same or more; theirs are given the same
bytes, so that the ratios compare times. Needs the python3 with torch that kymo was built with."""

import csv
import functools
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import time

import torch
from torch.nn import functional

KYMO, FOLDER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
END = time.monotonic() + (float(sys.argv[3]) if len(sys.argv) > 3 else 240)
LIBRARY = KYMO.parent.parent / "lib" / "kymo" / "plugins" / "libkymo_ops.so"
ROUNDS, SECONDS_OF_OPERATORS = 9, 90
BF16, FP32 = torch.bfloat16, torch.float32
NAMES = {BF16: "bf16", FP32: "fp32"}
LAYERS = ("norm", "swiglu", "rotary", "loss", "optimizer")
OPERATORS = ("library", "fused", *(f"fused_except_{name}" for name in LAYERS))
OPERATOR_COLUMNS = (
    "operator",
    "element",
    "shape",
    "kymo_ms",
    "library_ms",
    "copy_ms",
    "kymo_gbs",
    "of_copy",
    "speedup",
)

torch.ops.load_library(str(LIBRARY))
ops = torch.ops.kymo


def draw(*shape, dtype):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def leaf(tensor):
    return tensor.detach().requires_grad_()


def size(*tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def milliseconds(function, calls):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(200_000 * (calls + 1))  # the host enqueues the calls meanwhile
    begin.record()
    for _ in range(calls):
        function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / calls


class Writer:
    """A CSV file that is complete after each row."""

    def __init__(self, name, columns):
        self._file = (FOLDER / name).open("w", newline="")
        self._rows = csv.writer(self._file)
        self.add(columns)

    def add(self, row):
        self._rows.writerow(row)
        self._file.flush()
        print(*row, sep=", ", flush=True)


def backward_of(function, inputs, gradient):
    """The backward pass of one recorded call, without clearing the graph."""
    inputs = [leaf(tensor) for tensor in inputs]
    output = function(*inputs)
    return functools.partial(torch.autograd.grad, output, inputs, gradient, retain_graph=True)


def rotation(sequence, width):
    angles = torch.outer(torch.arange(sequence).double(), 10000 ** (-torch.arange(0, width, 2).double() / width))
    return torch.stack((angles.cos(), angles.sin()), -1).float().cuda()


def plain_swiglu(joint):
    gate, up = joint.chunk(2, -1)
    return functional.silu(gate) * up


def plain_rotary(qkv, table):
    pairs = qkv[:, :, :2].float().reshape(*qkv[:, :, :2].shape[:-1], -1, 2).contiguous()
    rotated = torch.view_as_real(torch.view_as_complex(pairs) * torch.view_as_complex(table)[None, :, None, None])
    return torch.cat((rotated.flatten(-2).to(qkv.dtype), qkv[:, :, 2:]), 2)


def norm_cases(dtype, rows, width):
    x, residual, gradient = (draw(rows, width, dtype=dtype) for _ in range(3))
    weight = draw(width, dtype=dtype)

    def library(x, residual, weight):
        total = residual + x
        return functional.rms_norm(total, (width,), weight, 1e-5), total

    plain = functools.partial(functional.rms_norm, normalized_shape=(width,), eps=1e-5)
    shape = f"{rows} x {width}"
    yield "rms_norm", shape, 2 * size(x), lambda: ops.rms_norm(x, weight), lambda: plain(x, weight=weight)
    yield (
        "add_rms_norm",
        shape,
        4 * size(x),
        lambda: ops.add_rms_norm(x, residual, weight),
        lambda: library(x, residual, weight),
    )
    yield (
        "rms_norm backward",
        shape,
        3 * size(x),
        backward_of(ops.rms_norm, (x, weight), gradient),
        backward_of(lambda x, weight: plain(x, weight=weight), (x, weight), gradient),
    )
    both = (gradient, residual)
    yield (
        "add_rms_norm backward",
        shape,
        4 * size(x),
        backward_of(ops.add_rms_norm, (x, residual, weight), both),
        backward_of(library, (x, residual, weight), both),
    )


def swiglu_cases(dtype, rows, width):
    joint, gradient = draw(rows, 2 * width, dtype=dtype), draw(rows, width, dtype=dtype)
    shape = f"{rows} x 2 x {width}"
    yield "swiglu", shape, 3 * size(gradient), lambda: ops.swiglu(joint), lambda: plain_swiglu(joint)
    yield (
        "swiglu backward",
        shape,
        5 * size(gradient),
        backward_of(ops.swiglu, (joint,), gradient),
        backward_of(plain_swiglu, (joint,), gradient),
    )


def rotary_cases(dtype, batch, sequence, heads, width):
    qkv, table = draw(batch, sequence, 3, heads, width, dtype=dtype), rotation(sequence, width)
    shape, parts = f"{batch} x {sequence} x 3 x {heads} x {width}", [p.transpose(1, 2) for p in qkv.unbind(2)]
    yield (
        "rotary_",
        shape,
        2 * size(qkv) * 2 // 3,
        lambda: ops.rotary_(qkv, table),
        lambda: plain_rotary(qkv, table),
    )
    yield (
        "rotary_join",
        shape,
        2 * size(qkv),
        lambda: ops.rotary_join(*parts, table, True),
        lambda: plain_rotary(qkv, table),
    )


def adamw_cases(dtype, sizes):
    lists = [[draw(n, dtype=dtype) for n in sizes] for _ in range(4)]
    lists[3] = [tensor.abs() for tensor in lists[3]]
    steps = [torch.ones((), device="cuda") for _ in sizes]
    settings = {"lr": 1e-4, "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.01, "eps": 1e-8}

    def library():
        torch._foreach_add_(steps, 1)
        torch._fused_adamw_(*lists, [], steps, amsgrad=False, maximize=False, **settings)

    shape = f"{len(sizes)} tensors, {sum(sizes)} elements"
    yield "adamw_", shape, 7 * size(*lists[0]), lambda: ops.adamw_(*lists, steps, 1e-4), library
    if dtype != FP32:
        return
    gradients, copies = ([tensor.to(BF16) for tensor in each] for each in (lists[1], lists[0]))

    def with_casts():
        for wide, narrow in zip(lists[1], gradients, strict=True):
            wide.copy_(narrow)
        library()
        for narrow, parameter in zip(copies, lists[0], strict=True):
            narrow.copy_(parameter)

    masters = (lists[0], gradients, *lists[2:], steps)
    yield (
        "adamw_, bf16 gradients and copies",
        shape,
        6 * size(*lists[0]) + size(*gradients, *copies),
        lambda: ops.adamw_(*masters, 1e-4, copies=copies),
        with_casts,
    )


def loss_cases(dtype, tokens, width, classes):
    """Bytes: logits once written and read, and their gradient once written and read twice, by the matrix products."""
    x, weight = leaf(draw(tokens, width, dtype=dtype)), leaf(draw(classes, width, dtype=dtype) / width**0.5)
    target = torch.randint(classes, (tokens,), device="cuda")

    def step(function):
        return torch.autograd.grad(function(), (x, weight))

    shape = f"{tokens} x {width}, {classes} classes"
    yield (
        "linear_cross_entropy, forward and backward",
        shape,
        5 * tokens * classes * x.element_size(),
        lambda: step(lambda: ops.linear_cross_entropy(x, weight, target)),
        lambda: step(lambda: functional.cross_entropy(x @ weight.T, target)),
    )


def operator_cases():
    parameters = [64 * 1280] * 20 + [1280] * 40 + [3 * 1280 * 1280] * 8 + [2 * 5120 * 1280] * 8 + [10000 * 1280] * 2
    for dtype in (BF16, FP32):
        for rows, width in ((65536, 768), (32768, 1280), (16384, 4096)):
            yield dtype, functools.partial(norm_cases, dtype, rows, width)
        for rows, width in ((32768, 3072), (16384, 5120)):
            yield dtype, functools.partial(swiglu_cases, dtype, rows, width)
        for shape in ((32, 1024, 12, 64), (16, 1024, 20, 64), (4, 4096, 32, 128)):
            yield dtype, functools.partial(rotary_cases, dtype, *shape)
        yield dtype, functools.partial(adamw_cases, dtype, parameters)
        for tokens, width, classes in ((8192, 1280, 10_000), (4096, 2048, 151_936)):
            yield dtype, functools.partial(loss_cases, dtype, tokens, width, classes)
    for rows, width in ((1024, 768), (4096, 768), (4096, 1280)):  # as in steps of the course's model
        yield BF16, functools.partial(norm_cases, BF16, rows, width)


def measure_operators():
    rows = Writer("operators.csv", OPERATOR_COLUMNS)
    stop = time.monotonic() + SECONDS_OF_OPERATORS
    for dtype, make in operator_cases():
        if time.monotonic() > stop:
            print("operators: no time left", flush=True)
            return
        for name, shape, moved, mine, theirs in make():
            source = torch.empty(moved // 2, dtype=torch.uint8, device="cuda")
            target = torch.empty_like(source)
            functions = (mine, theirs, lambda source=source, target=target: target.copy_(source))
            for function in functions:
                function()
            torch.cuda.synchronize()
            calls = [max(1, min(50, int(10 / max(milliseconds(f, 1), 0.01)))) for f in functions]
            times = [[] for _ in functions]
            for _ in range(ROUNDS):
                for function, count, all_times in zip(functions, calls, times, strict=True):
                    all_times.append(milliseconds(function, count))
            mine_ms, library_ms, copy_ms = (statistics.median(each) for each in times)
            gbs, of_copy = moved / mine_ms / 1e6, copy_ms / mine_ms
            numbers = (f"{mine_ms:.4f}", f"{library_ms:.4f}", f"{copy_ms:.4f}", f"{gbs:.0f}", f"{of_copy:.3f}")
            rows.add((name, NAMES[dtype], shape, *numbers, f"{library_ms / mine_ms:.3f}"))
            del source, target, functions
        torch.cuda.empty_cache()


def error(actual, exact):
    return ((actual.double() - exact).abs().max() / exact.abs().max()).item()


def error_cases(dtype):
    """Name, operator, LibTorch's layer, and inputs of a differentiable function."""
    width, tokens = 1280, 2048
    target, table = torch.randint(10_000, (tokens,), device="cuda"), rotation(256, 64)

    def library_norm(x, residual, weight):
        total = residual + x
        return functional.rms_norm(total, (width,), weight, 1e-5)

    x, residual, weight = draw(tokens, width, dtype=dtype), draw(tokens, width, dtype=dtype), draw(width, dtype=dtype)
    yield "add_rms_norm", lambda *of: ops.add_rms_norm(*of)[0], library_norm, (x, residual, weight)
    yield "swiglu", ops.swiglu, plain_swiglu, (draw(tokens, 2 * width, dtype=dtype),)
    head = draw(10_000, width, dtype=dtype) / width**0.5
    yield (
        "linear_cross_entropy",
        lambda x, weight: ops.linear_cross_entropy(x, weight, target),
        lambda x, weight: functional.cross_entropy(x @ weight.T, target),
        (x, head),
    )
    yield (
        "linear_cross_entropy, 8 chunks",
        lambda x, weight: ops.linear_cross_entropy(x, weight, target, 256),
        lambda x, weight: functional.cross_entropy(x @ weight.T, target),
        (x, head),
    )
    qkv = draw(8, 256, 3, 20, 64, dtype=dtype)

    def exact_rotary(qkv):
        by = table.to(torch.float64 if qkv.dtype == torch.float64 else torch.float32)
        wide = qkv if qkv.dtype == torch.float64 else qkv.float()
        even, odd = wide[:, :, :2, :, ::2], wide[:, :, :2, :, 1::2]
        cosine, sine = (by[None, :, None, None, :, i] for i in range(2))
        turned = torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(-2)
        return torch.cat((turned, wide[:, :, 2:]), 2).to(qkv.dtype)

    yield "rotary", lambda qkv: ops.rotary(qkv, table), exact_rotary, (qkv,)


def errors_of(case, dtype):
    """Of each result: the error of the operator and that of LibTorch's layer."""
    _, mine, theirs, inputs = case
    found = []
    for function, kind in ((theirs, torch.float64), (mine, dtype), (theirs, dtype)):
        leaves = [leaf(tensor.to(kind)) for tensor in inputs]
        output = function(*leaves)
        torch.manual_seed(3)
        gradient = torch.randn(output.shape, device="cuda", dtype=dtype).to(output.dtype)
        found.append((output.detach(), *torch.autograd.grad(output, leaves, gradient)))
    return [(error(own, exact), error(library, exact)) for exact, own, library in zip(*found, strict=True)]


def measure_errors():
    rows = Writer("errors.csv", ("operator", "element", "result", "kymo", "library"))
    for dtype in (BF16, FP32):
        errors = {}
        for draw_number in range(ROUNDS):
            torch.manual_seed(draw_number)
            for case in list(error_cases(dtype)):  # all inputs are drawn before errors_of() seeds the generator
                errors.setdefault(case[0], []).append(errors_of(case, dtype))
        for name, draws in errors.items():
            for i, pairs in enumerate(zip(*draws, strict=True)):
                result = f"gradient {i - 1}" if i else "output"
                medians = (f"{statistics.median(of):.2e}" for of in zip(*pairs, strict=True))
                rows.add((name, NAMES[dtype], result, *medians))


def run_steps(model, steps, seconds, database):
    """Runs all cases, their repetitions interleaved, for a limited time, and returns the exit code."""
    settings = {"size": model, "dtype": "bf16", "attention": "flash", "execution": "graph", "context": "512"}
    command = ["timeout", "--signal", "INT", "--kill-after", "10", str(int(seconds))]
    command += [KYMO, "run", "transformer_lm", "--device", "cuda", "--passes", "time", "--no-verify"]
    command += ["--axis", f"operators={','.join(OPERATORS)}", "--repeat", "3", "--steps", str(steps), "--warmup", "3"]
    for name, value in (settings | {"batch": "8"}).items():
        command += ["--set", f"{name}={value}"]
    with (FOLDER / f"steps-{model}.log").open("w") as log:
        return subprocess.run(
            [*command, "--db", database], stdout=log, stderr=subprocess.STDOUT, check=False
        ).returncode


def medians_of(model, database):
    """Median step times in ms of the runs of a model, by the value of `operators`."""
    found = {name: [] for name in OPERATORS}
    if not database.exists():
        return found
    with sqlite3.connect(database) as connection:
        for name, median in connection.execute(
            "SELECT o.text, t.median_ms FROM phase_time t JOIN run_parameter o ON o.run_id = t.run_id "
            "AND o.name = 'operators' JOIN run_parameter s ON s.run_id = t.run_id AND s.name = 'size' "
            "WHERE t.phase = 'step' AND s.text = ?",
            (model,),
        ):
            found[name].append(median)
    return found


def measure_steps():
    rows = Writer("steps.csv", ("model", "operators", "runs", "median_ms", "least_ms", "greatest_ms", "of_library"))
    database = FOLDER / "steps.db"
    models = (("small", 40), ("large", 20))
    for i, (model, steps) in enumerate(models):
        seconds = max(20, (END - time.monotonic()) / (len(models) - i))
        print(f"{model}: exit code {run_steps(model, steps, seconds, database)}", flush=True)
        times = medians_of(model, database)
        library = statistics.median(times["library"]) if times["library"] else None
        for name, each in times.items():
            if not each:
                continue
            median = statistics.median(each)
            ratio = f"{median / library:.4f}" if library else ""
            rows.add((model, name, len(each), f"{median:.4f}", f"{min(each):.4f}", f"{max(each):.4f}", ratio))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(torch.cuda.get_device_name(), torch.__version__, flush=True)
    measure_errors()
    measure_operators()
    measure_steps()
