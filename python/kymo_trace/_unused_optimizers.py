# SPDX-License-Identifier: Apache-2.0
"""Decides whether backward passes before the first optimizer step are parts of one step, or steps of their own.

A program may accumulate gradients over several backward passes before its first optimizer step. A benchmark of forward
and backward passes may create an optimizer that never steps. The former keeps the gradients between the passes, the
latter removes them. If neither is certain, the optimizer is no longer expected after EXPECTED_PASSES passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

#: Maximum number of backward passes in the first step, if the gradients do not decide.
EXPECTED_PASSES = 64


class UnusedOptimizers:
    """Follows the backward passes of a program that has created optimizers, none of which has stepped."""

    def __init__(self) -> None:
        self.is_known = False  # the optimizers do not step
        self.passes = 0
        self.has_gradients = False  # parameters had gradients after a backward pass
        self.returned = 0  # consecutive passes that returned the gradients of parameters

    def backward_begins(self, optimizers: Iterable[Any]) -> None:
        if self.has_gradients and not self.is_known:
            self.is_known = not _have_gradients(optimizers)

    def backward_ends(self, optimizers: Iterable[Any], is_accumulated: bool) -> None:
        """`is_accumulated`: the pass adds to the gradients of parameters, or another pass differentiates its result, or
        it returns other gradients, such as those of an adversarial input."""
        self.passes += 1
        if not self.is_known:
            self.has_gradients = self.has_gradients or _have_gradients(optimizers)
            self.returned = 0 if is_accumulated else self.returned + 1
            self.is_known = self.returned > 1 and not self.has_gradients

    def is_step(self, optimizers: Iterable[Any]) -> bool:
        """Whether a step ends at the first event after a backward pass."""
        self.backward_begins(optimizers)
        return self.is_known or self.passes > EXPECTED_PASSES


def may_have_parameter(optimizers: Iterable[Any], tensors: Iterable[Any]) -> bool:
    """Whether one of the tensors may be a parameter of the optimizers. True for iterators, which were consumed."""
    parameters = {id(parameter) for parameter in parameters_of(optimizers)}
    return not isinstance(tensors, (list, tuple)) or any(id(each) in parameters for each in tensors)


def _have_gradients(optimizers: Iterable[Any]) -> bool:
    return any(parameter.grad is not None for parameter in parameters_of(optimizers))


def parameters_of(optimizers: Iterable[Any]) -> Iterator[Any]:
    for optimizer in optimizers:
        for group in getattr(optimizer, "param_groups", ()):
            yield from group["params"]
