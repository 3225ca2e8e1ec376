# SPDX-License-Identifier: Apache-2.0
"""Whether backward passes before the first optimizer step are parts of one step, or steps of their own.

A program may accumulate gradients of several backward passes before its first optimizer step. A benchmark of forward
and backward passes may create an optimizer that never steps. The gradients tell them apart: they are kept between the
passes of the former, and removed by the latter. Where they say nothing, the optimizer is no longer expected after some
passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

#: Backward passes that may be parts of the first step, if nothing is known of their gradients.
EXPECTED_PASSES = 64


class UnusedOptimizers:
    """Follows the backward passes of a program that has created optimizers, none of which has stepped."""

    def __init__(self) -> None:
        self.is_known = False  # the optimizers do not step
        self.passes = 0
        self.has_gradients = False  # after a backward pass
        self.returned = 0  # passes in a row that returned the gradients of parameters

    def backward_begins(self, optimizers: Iterable[Any]) -> None:
        if self.has_gradients and not self.is_known:
            self.is_known = not _have_gradients(optimizers)

    def backward_ends(self, optimizers: Iterable[Any], is_accumulated: bool) -> None:
        """`is_accumulated`: the pass adds to the gradients of parameters, or its result is part of another one, or not
        the gradients of parameters, such as those of an adversarial input."""
        self.passes += 1
        if not self.is_known:
            self.has_gradients = self.has_gradients or _have_gradients(optimizers)
            self.returned = 0 if is_accumulated else self.returned + 1
            self.is_known = self.returned > 1 and not self.has_gradients

    def is_step(self, optimizers: Iterable[Any]) -> bool:
        """Whether a step ends here, where the work after a backward pass begins."""
        self.backward_begins(optimizers)
        return self.is_known or self.passes > EXPECTED_PASSES


def may_have_parameter(optimizers: Iterable[Any], tensors: Iterable[Any]) -> bool:
    """Whether one of the tensors is a parameter of the optimizers, as far as can be seen: iterators have ended."""
    parameters = {id(parameter) for parameter in parameters_of(optimizers)}
    return not isinstance(tensors, (list, tuple)) or any(id(each) in parameters for each in tensors)


def _have_gradients(optimizers: Iterable[Any]) -> bool:
    return any(parameter.grad is not None for parameter in parameters_of(optimizers))


def parameters_of(optimizers: Iterable[Any]) -> Iterator[Any]:
    for optimizer in optimizers:
        for group in getattr(optimizer, "param_groups", ()):
            yield from group["params"]
