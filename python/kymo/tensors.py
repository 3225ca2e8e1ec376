# SPDX-License-Identifier: Apache-2.0
"""Helpers for workloads that compute with PyTorch. Importing this module does not import torch."""

from __future__ import annotations

DTYPES = ("fp32", "bf16", "fp16")


def dtype(name):
    """The torch dtype of a name in DTYPES, or of fp64. Raises ValueError for other names."""
    import torch

    known = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64}
    if name not in known:
        raise ValueError(f"unknown dtype '{name}': expected one of {', '.join(known)}")
    return known[name]


def generator(run, offset=0):
    """A random generator on the device of the run, seeded with the seed of the run plus `offset`."""
    import torch

    return torch.Generator(device=run.device).manual_seed(run.seed + offset)


def require_triton(run, triton):
    """Skips the run if Triton kernels cannot run. `triton` is the module, or None if it is not installed."""
    if triton is None:
        run.skip("Triton is not installed: pip install triton")
    if run.device == "cpu" and not triton.knobs.runtime.interpret:
        run.skip("Triton kernels need a GPU; on a CPU, set TRITON_INTERPRET=1 to interpret them")


def synchronize(run):
    """Waits for the device of the run."""
    if run.device != "cpu":
        import torch

        torch.cuda.synchronize(run.device)


def distance(actual, expected):
    """The largest absolute difference of two tensors, and the same relative to the largest expected value. Both are NaN
    or infinite if `actual` is not finite."""
    if actual.shape != expected.shape:
        raise ValueError(f"a tensor of shape {tuple(actual.shape)} cannot be compared with {tuple(expected.shape)}")
    actual, expected = actual.detach().double(), expected.detach().double().to(actual.device)
    absolute = (actual - expected).abs().max().item()
    largest = expected.abs().max().item()
    return absolute, absolute / largest if largest > 0 else absolute


def expect_close(verification, name, reference, pairs, tolerance, detail=""):
    """Adds a check that passes if the relative distance of every pair (actual, expected) is within the tolerance. The
    absolute distance is only reported: gradients are small, so that an absolute bound would accept any of them."""
    absolute, relative = 0.0, 0.0
    for actual, expected in pairs:
        found = distance(actual, expected)
        if not found[1] <= relative:
            absolute, relative = found
    return verification.check(
        name,
        reference,
        relative <= tolerance,
        detail,
        max_abs_error=absolute,
        max_rel_error=relative,
        tolerance=tolerance,
    )
