# SPDX-License-Identifier: Apache-2.0
"""Counts the differentiable operators of a step, within and outside of calls of root modules.

No hook is called for an operator. Instead, torch numbers the nodes of its autograd graphs in the order of creation on
each thread, so the difference between the numbers at two points is the number of operators between them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

#: A functional loss takes a few operators after the last module call. From _RATIO times the operators within modules
#: plus _LOSS on, the operators outside of modules are part of the model.
_RATIO = 4
_LOSS = 8


class OperatorCounter:
    """Counts the operators of a step. Call the functions where root calls and uncounted parts begin and end."""

    def __init__(self, number: Callable[[], int]) -> None:
        self.number = number  # of the next node
        self.last_number: int | None = 0  # at the last point; None: unknown
        self.in_call = False
        self.begin_step(0)

    def begin_step(self, outside: int) -> None:
        """Begins a step that already contains `outside` operators outside of root calls."""
        self.calls = 0  # of root modules
        self.in_calls = 0  # operators within these calls
        self.outside_calls = outside
        self.outside_before_last_call = 0  # before the end of the last call
        self.in_calls_at_begin = 0  # in_calls when the current call, or a step in it, began

    def end_step(self, new: int) -> bool:
        """Begins the next step, to which the last `new` operators outside of root calls belong. Returns is_direct() of
        the step that ends."""
        self.outside_calls -= new
        is_direct = self.is_direct()
        self.begin_step(new)
        return is_direct

    def pause(self, unknown: int = 0) -> int:
        """Begins a part whose operators do not count. Returns the number of operators outside of root calls since the
        last point, or `unknown` if there is no last number."""
        now = self.number()
        new, self.last_number = unknown if self.last_number is None else now - self.last_number, now
        if self.in_call:
            self.in_calls += new
            return 0
        self.outside_calls += new
        return new

    def resume(self) -> None:
        """Ends the part that pause() began."""
        self.last_number = self.number()

    def take_over(self, in_call: bool) -> None:
        """Continues a step whose operators so far were not counted here."""
        self.begin_step(0)
        self.in_call, self.last_number = in_call, None

    def call_begins(self) -> int:
        """Returns the same as pause()."""
        new = self.pause()
        self.in_call = True
        self.in_calls_at_begin = self.in_calls
        return new

    def call_ends(self) -> int:
        """Returns the number of operators of the call, if it did not contain the end of a step."""
        self.pause()
        self.in_call = False
        self.outside_before_last_call = self.outside_calls
        self.calls += 1
        return self.in_calls - self.in_calls_at_begin

    def is_direct(self) -> bool:
        """True if most of the model is computed outside of root calls."""
        if self.calls == 0:
            return self.outside_calls > 0
        return self.outside_before_last_call > self.in_calls or self.outside_calls >= _RATIO * self.in_calls + _LOSS


class DirectForward:
    """The forward phase of a step that computes most of its model outside of root calls.

    It should last from the first differentiable operator to the backward pass. Operators are not observed, so the phase
    begins at the last observed point before that operator, such as the end of an optimizer step. The numbers of
    operators between the points of the previous step tell which point that is.

    The functions `begin() -> bool` and `end()` begin and end the phase.
    """

    def __init__(self, begin: Callable[[], bool], end: Callable[[], None]) -> None:
        self.begin = begin
        self.end = end
        self.is_open = False
        self.point: Hashable = None  # the last one
        self.idle: set[Hashable] = set()  # points that no operator followed when they were last reached

    def reach(self, point: Hashable, is_direct: bool) -> None:
        """Called when an observed event has ended. `is_direct`: of the previous step."""
        self.point = point
        if is_direct and not self.is_open and point not in self.idle:
            self.is_open = self.begin()

    def leave(self, operators: int, closes: bool = True) -> None:
        """Called when the next observed event begins, `operators` operators after the last point."""
        (self.idle.discard if operators > 0 else self.idle.add)(self.point)
        if self.is_open and closes:
            self.is_open = False
            self.end()

    def step_begins(self) -> None:
        """Called after all phases have ended with the previous step."""
        self.is_open = False
