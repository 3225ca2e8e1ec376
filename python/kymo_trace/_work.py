# SPDX-License-Identifier: Apache-2.0
"""Where a step calls its differentiable operators: in calls of root modules, or directly.

Nothing is called for an operator. But torch numbers the nodes of its autograd graphs in the order of their creation on
each thread, so the numbers at two points say how many operators between them were recorded for a backward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

#: A loss that functions compute takes a few operators after the last call of a module. More than this many times those
#: of the modules, and _LOSS more, are taken for a part of the model.
_RATIO = 4
_LOSS = 8


class Work:
    """Counts the operators of a step. The functions are called where root calls, and what is neither, begin and end."""

    def __init__(self, number: Callable[[], int]) -> None:
        self.number = number  # of the next node
        self.seen: int | None = 0  # the last number; None: it was not looked at
        self.in_call = False
        self.begin_step(0)

    def begin_step(self, outside: int) -> None:
        """A step begins, and so many operators outside of root calls belong to it already."""
        self.calls = 0  # of root modules
        self.within = 0  # operators of these calls
        self.outside = outside  # other operators
        self.before = 0  # those of them before the end of the last call
        self.begun_within = 0  # `within` when the current call, or a step in it, began

    def end_step(self, new: int) -> bool:
        """The last operators outside of root calls, so many, belong to the next step. Returns is_direct()."""
        self.outside -= new
        is_direct = self.is_direct()
        self.begin_step(new)
        return is_direct

    def pause(self, unknown: int = 0) -> int:
        """Something begins whose operators do not count. Returns how many there were outside of root calls since the
        last point, `unknown` if that was followed elsewhere."""
        now = self.number()
        new, self.seen = unknown if self.seen is None else now - self.seen, now
        if self.in_call:
            self.within += new
            return 0
        self.outside += new
        return new

    def resume(self) -> None:
        """It has ended."""
        self.seen = self.number()

    def take_over(self, in_call: bool) -> None:
        """What was before in this step was followed elsewhere."""
        self.begin_step(0)
        self.in_call, self.seen = in_call, None

    def call_begins(self) -> int:
        """As pause()."""
        new = self.pause()
        self.in_call = True
        self.begun_within = self.within
        return new

    def call_ends(self) -> int:
        """Returns the number of operators of the call, if it did not contain the end of a step."""
        self.pause()
        self.in_call = False
        self.before = self.outside
        self.calls += 1
        return self.within - self.begun_within

    def is_direct(self) -> bool:
        """Whether most of the model is computed outside of root calls."""
        if self.calls == 0:
            return self.outside > 0
        return self.before > self.within or self.outside >= _RATIO * self.within + _LOSS


class DirectForward:
    """The forward phase of a step that computes most of its model outside of root calls.

    It should last from the first differentiable operator to the backward pass. So it begins at the last point before
    that operator that is visible, such as the end of an optimizer step, and contains what the program does between the
    two. Which point that is, is known from the step before: from the number of operators between points.

    The functions `begin() -> bool` and `end()` begin and end the phase.
    """

    def __init__(self, begin: Callable[[], bool], end: Callable[[], None]) -> None:
        self.begin = begin
        self.end = end
        self.is_open = False
        self.point: Hashable = None  # the last one
        self.idle: set[Hashable] = set()  # points after which no operator was called, the last time

    def reach(self, point: Hashable, is_direct: bool) -> None:
        """Something that is visible has ended. `is_direct`: of the step before."""
        self.point = point
        if is_direct and not self.is_open and point not in self.idle:
            self.is_open = self.begin()

    def leave(self, operators: int, closes: bool = True) -> None:
        """The next thing that is visible begins, after so many operators."""
        (self.idle.discard if operators > 0 else self.idle.add)(self.point)
        if self.is_open and closes:
            self.is_open = False
            self.end()

    def step_begins(self) -> None:
        """All phases have ended with the step before."""
        self.is_open = False
