# SPDX-License-Identifier: Apache-2.0
"""Comparisons of a workload's results with references."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import _engine

_CHUNK = 1 << 22  # elements that are converted to double precision at a time


class Check(NamedTuple):
    """Result of one comparison with a reference."""

    name: str
    outcome: int
    reference: str
    detail: str
    max_abs_error: float
    max_rel_error: float
    tolerance: float


class Verification:
    """The result of Workload.verify(): one or more checks, or the reason why verification is unavailable."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    @classmethod
    def unavailable(cls, reason: str) -> Verification:
        """Reports that no applicable reference exists. The run is recorded as not verified."""
        result = cls()
        detail = _message(reason, "reason")
        result.checks.append(Check("reference", _engine.CHECK_UNAVAILABLE, "", detail, 0.0, 0.0, 0.0))
        return result

    def check(
        self,
        name: str,
        reference: str,
        passed: bool,
        detail: str = "",
        *,
        max_abs_error: float = 0.0,
        max_rel_error: float = 0.0,
        tolerance: float = 0.0,
    ) -> Verification:
        """Adds a check whose outcome the workload determined. `reference` is the name of the reference, `detail`
        describes the observed result."""
        outcome = _engine.CHECK_PASSED if passed else _engine.CHECK_FAILED
        texts = _message(name, "name"), _message(reference, "reference"), _message(detail, "detail")
        errors = float(max_abs_error), float(max_rel_error), float(tolerance)
        self.checks.append(Check(texts[0], outcome, texts[1], texts[2], *errors))
        return self

    def compare(
        self, name: str, reference: str, actual: Any, expected: Any, tolerance: float, detail: str = ""
    ) -> Verification:
        """Adds a check that passes if |actual - expected| <= tolerance * max(1, |expected|) for every element.

        Both values are torch tensors, NumPy arrays, (nested) sequences or numbers of the same shape. A NaN element
        passes only if the expected element is NaN. If the check fails, its detail names the worst element: its index
        and both values. `reference` is the name of the reference. Raises TypeError for other values.
        """
        actual, expected, arrays = _elements(actual), _elements(expected), _arrays_of(actual, expected)
        found = _Difference()
        problem = ""
        shapes = _shape(actual), _shape(expected)
        if shapes[0] != shapes[1]:
            problem = f"{_size_text(shapes[0])}, expected {_size_text(shapes[1])}"
        else:
            if arrays:
                _compare_arrays(arrays, actual, expected, float(tolerance), found)
            else:
                _compare_numbers(_flat(actual), _flat(expected), float(tolerance), found)
            if found.mismatches:
                size = math.prod(shapes[0])
                index = ", ".join(map(str, _unravel(found.worst, shapes[0])))
                problem = (
                    f"{found.mismatches} of {size} elements differ; the worst is [{index}] = {found.actual:.9g}, "
                    f"expected {found.expected:.9g}"
                )
        return self.check(
            name,
            reference,
            not problem,
            "; ".join(filter(None, (_message(detail, "detail"), problem))),
            max_abs_error=found.max_abs,
            max_rel_error=found.max_rel,
            tolerance=tolerance,
        )


def _message(text: str, what: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"the {what} of a check must be a str, not {type(text).__name__}")
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


class _Difference:
    """Result of a comparison. `worst` is the index of the element that exceeds the tolerance by the largest factor."""

    def __init__(self) -> None:
        self.max_abs = self.max_rel = 0.0
        self.mismatches = self.worst = 0
        self.excess = -1.0
        self.actual = self.expected = 0.0

    def add_worst(self, excess: float, index: int, actual: float, expected: float) -> None:
        if excess > self.excess:
            self.excess, self.worst, self.actual, self.expected = excess, index, actual, expected


def _elements(value: Any) -> Any:
    """Checks the value and returns it as a torch tensor, NumPy array, nested list or number."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch and isinstance(value, torch.Tensor):
        value = value.detach()
        value = value.full_tensor() if hasattr(value, "full_tensor") else value  # a DTensor
        value = value.to_dense() if value.layout != torch.strided else value
        return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value
    if numpy and isinstance(value, (numpy.ndarray, numpy.generic)):
        value = numpy.asarray(value)
        return numpy.stack((value.real, value.imag), -1) if numpy.iscomplexobj(value) else value
    if isinstance(value, (int, float)) or hasattr(value, "__float__"):
        return float(value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        elements = [_elements(each) for each in value]
        return [each.tolist() if hasattr(each, "tolist") else each for each in elements]
    raise TypeError(
        f"a value to compare must be a torch tensor, a NumPy array, a sequence of numbers or a number, "
        f"not {type(value).__name__}"
    )


def _arrays_of(*values: Any) -> Any:
    """Returns the module torch or numpy if one of the values is an array of it, otherwise None."""
    for name, kind in (("torch", "Tensor"), ("numpy", "ndarray")):
        module = sys.modules.get(name)
        if module and any(isinstance(value, getattr(module, kind)) for value in values):
            return module
    return None


def _shape(value: Any) -> tuple[int, ...]:
    if hasattr(value, "shape"):
        return tuple(value.shape)
    if not isinstance(value, list):
        return ()
    inner = {_shape(each) for each in value}
    if len(inner) > 1:
        raise ValueError("the rows of a nested sequence must have the same length")
    return (len(value), *(inner.pop() if inner else ()))


def _size_text(shape: tuple[int, ...]) -> str:
    return f"{math.prod(shape)} elements" if len(shape) < 2 else f"shape {shape}"


def _unravel(index: int, shape: tuple[int, ...]) -> list[int]:
    indices: list[int] = []
    for size in reversed(shape):
        indices.insert(0, index % size)
        index //= size
    return indices


def _flat(value: Any) -> list[float]:
    return [number for each in value for number in _flat(each)] if isinstance(value, list) else [float(value)]


def _compare_numbers(actual: list[float], expected: list[float], tolerance: float, found: _Difference) -> None:
    for index, (a, e) in enumerate(zip(actual, expected, strict=True)):
        if a == e or (math.isnan(a) and math.isnan(e)):
            continue
        distance = abs(a - e) if math.isfinite(a - e) else math.inf
        found.max_abs = max(found.max_abs, distance)
        found.max_rel = max(found.max_rel, distance / abs(e) if e and math.isfinite(distance) else math.inf)
        scale = max(1.0, abs(e)) if math.isfinite(distance) else 1.0
        if not (math.isfinite(distance) and distance <= tolerance * scale):
            found.mismatches += 1
            found.add_worst(distance / scale, index, a, e)


def _compare_arrays(arrays: Any, actual: Any, expected: Any, tolerance: float, found: _Difference) -> None:
    """The same for torch and for NumPy, whose functions have the same names here."""
    quiet = getattr(arrays, "errstate", None) or _Quiet
    options: dict[str, Any] = {"dtype": arrays.float64}
    if hasattr(actual, "device") and arrays.__name__ == "torch":
        options["device"] = actual.device
    flat = [value.reshape(-1) if hasattr(value, "reshape") else _flat(value) for value in (actual, expected)]
    for start in range(0, len(flat[0]), _CHUNK):
        # Slices first: not more than a chunk is converted and moved to another device.
        a, e = (arrays.asarray(each[start : start + _CHUNK], **options) for each in flat)
        with quiet(all="ignore"):
            equal = (a == e) | (arrays.isnan(a) & arrays.isnan(e))
            distance = arrays.abs(a - e)
            distance = arrays.where(arrays.isfinite(distance), distance, math.inf)
            distance = arrays.where(equal, 0.0, distance)
            size = arrays.abs(e)
            unbounded = (distance == math.inf) | ((size == 0) & ~equal)
            relative = arrays.where(unbounded, math.inf, arrays.where(equal, 0.0, distance / size))
            scale = arrays.where(distance == math.inf, 1.0, size.clip(1.0))
            right = equal | ((distance != math.inf) & (distance <= tolerance * scale))
            scaled = arrays.where(right, -1.0, distance / scale)
        found.max_abs = max(found.max_abs, float(distance.max()))
        found.max_rel = max(found.max_rel, float(relative.max()))
        count = len(a) - int(right.sum())
        if count:
            found.mismatches += count
            worst = int(scaled.argmax())
            found.add_worst(float(scaled[worst]), start + worst, float(a[worst]), float(e[worst]))


class _Quiet:
    def __init__(self, **ignored: str) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *ignored: object) -> None: ...
