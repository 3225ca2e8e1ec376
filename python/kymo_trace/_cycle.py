# SPDX-License-Identifier: Apache-2.0
"""Which optimizer steps make up an iteration of a program.

An update is what steps between two calls of root modules: one optimizer, or several. Updates in a row that have an
optimizer in common form a run. What a program does follows from the order of its runs:

- One run: each update is an iteration. So a second optimizer that steps now and then, right after the first one, is
  part of the iteration of the first one.
- Runs that take turns, as in a GAN: an iteration ends after the run that was last before the first one came again. If
  each update of a run had its own batch of a DataLoader, and the next run began without one, it also ends within a run
  before the next batch.
- A run of other optimizers that lasts: the program has changed for good, and each update is an iteration.

An optimizer that steps for the first time takes the place of one of its class that does not exist any more, such as in
programs that create their optimizers anew in each epoch or iteration.

What a run is going to be is not known at its begin. Until then each update is an iteration, which is_assumed() says. If
that was wrong, revise() corrects the number of iterations.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

#: Updates in a row that may belong to one iteration. A longer run is one in which each update is an iteration.
MOST_IN_A_ROW = 8
_MOST_KINDS = 32  # of runs that are remembered

ONE_ITERATION = "assumed: several steps of an optimizer in a row and those of the other optimizers are one iteration"
OWN_ITERATION = "assumed: each optimizer step ends an iteration, until the order of the optimizers is known"


#: What changes within an iteration of a single optimizer, of Cycle.
_STATE = ("update_is_loaded", "is_loaded", "batches", "has_ended")


class Run:
    """The last run of the same optimizers."""

    def __init__(self, optimizers: set[int]) -> None:
        self.optimizers = optimizers  # that are part of each update
        self.length = 0
        self.usual = 0  # its length in the iterations before; 0 while runs do not take turns
        self.order = 0  # of its begin
        self.boundaries = 0  # that were before its second update
        self.is_last = False  # the first run came after it, the last time
        self.is_loaded = False  # a batch was loaded before each update but the first
        self.has_batches = False  # a batch that is loaded after an update begins another iteration

    def begin(self, order: int, boundaries: int) -> None:
        self.length, self.is_loaded = 1, True
        self.order, self.boundaries = order, boundaries

    def end(self, is_last: bool, next_is_loaded: bool) -> None:
        self.is_last = is_last
        if self.length > 1:
            self.has_batches = self.is_loaded and not next_is_loaded
        before = self.usual if self.usual <= MOST_IN_A_ROW else 0
        self.usual = self.length if is_last else max(before, self.length)

    def may_be_part(self) -> bool:
        """Whether it may be part of an iteration together with other runs."""
        return self.has_batches or self.length <= MOST_IN_A_ROW

    def iterations_in(self) -> int:
        return self.length - 1 if self.has_batches else 0


class _Created:
    """An optimizer that was created while the program is observed."""

    def __init__(self, optimizer: Any) -> None:
        self.reference = weakref.ref(optimizer)
        self.kind = type(optimizer)
        self.has_stepped = False


class Cycle:
    """Follows the optimizers of a program. They are known by their ids, and by negative numbers if these have been
    given to others."""

    def __init__(self, revise: Callable[[int, str], None]) -> None:
        self.revise = revise  # (difference, why): the current iteration is assumed, and the number so far was another
        self.created_by_id: dict[int, _Created] = {}
        self.expected: dict[int, _Created] = {}  # those of them that were created before a first one stepped, and wait
        self.former = 0  # the last number that was given instead of an id
        self.update: set[int] = set()  # the optimizers that have stepped since the last root call
        self.update_is_loaded = False  # a batch was loaded before it
        self.is_loaded = False  # since the last optimizer step
        self.batches = 0  # loaded since the last boundary; 2: several
        self.runs: list[Run] = []
        self.run: Run | None = None  # the current one
        self.first: Run | None = None  # with which an iteration begins; None: each update is one
        self.count = 0  # of runs
        self.boundaries = 0
        self.has_ended = False  # an iteration, since the last update

    # What the program does

    def created(self, optimizer: Any) -> None:
        key = id(optimizer)
        self.former -= 1
        self._rename(key, self.former)  # another one had this id, and does not exist any more
        self.created_by_id[key] = _Created(optimizer)
        self.expected.pop(key, None)
        if not (self.runs or self.update):
            self.expected[key] = self.created_by_id[key]

    def begins(self, optimizer: int) -> None:
        """An optimizer steps, maybe within the step of another one."""
        self.expected.pop(optimizer, None)
        created = self.created_by_id.get(optimizer)
        if created is None or created.has_stepped:
            return
        for key, each in self.created_by_id.items():
            if each.has_stepped and each.kind is created.kind and each.reference() is None:
                self._rename(key, optimizer)
                break
        created.has_stepped = True
        self.created_by_id[optimizer] = created

    def _rename(self, old: int, new: int) -> None:
        if old in self.created_by_id:
            self.created_by_id[new] = self.created_by_id.pop(old)
        for optimizers in (self.update, *(run.optimizers for run in self.runs)):
            if old in optimizers:
                optimizers.remove(old)
                optimizers.add(new)

    def step(self, optimizer: int) -> None:
        if not self.update:
            self.update_is_loaded, self.is_loaded = self.is_loaded, False
        self.update.add(optimizer)

    def knows(self, optimizer: int) -> bool:
        """Whether it was created while the program was observed, or has stepped."""
        return optimizer in self.created_by_id or any(optimizer in run.optimizers for run in self.runs)

    def waiting(self) -> list[Any]:
        """The optimizers that are expected to step in the first iteration, and have not done so."""
        return [optimizer for each in self.expected.values() if (optimizer := each.reference()) is not None]

    def loads(self) -> None:
        self.is_loaded = True
        self.batches = min(self.batches + 1, 2)

    # What follows from it

    def is_complete(self) -> bool:
        """Whether an iteration has ended, at a root call."""
        if self.update:
            self._close_update()
        run = self.run
        if run is None:
            return True
        if self.first is None:
            return not self._waits()
        if run.has_batches and not run.is_last:
            return self.is_loaded
        return run.length >= run.usual if run.is_last else run.length > run.usual

    def is_assumed(self) -> str | None:
        """The reason if the boundary at which is_complete() was true is an assumption."""
        run = self.run
        if run is None:
            return None
        if self.first is None:
            if run.length > MOST_IN_A_ROW:
                return None
            return OWN_ITERATION if len(self.runs) > 1 or self._has_expected() else None
        if run.length > run.usual and not run.has_batches:
            return OWN_ITERATION
        several = any(each.length > 1 and not each.has_batches for each in self._of_iteration(self.first))
        return ONE_ITERATION if several and self.batches != 1 else None

    def is_alone(self, optimizer: int) -> bool:
        """Whether no other optimizer than this one, which has just stepped, is known."""
        others = any(run.optimizers != {optimizer} for run in self.runs)
        return self.update == {optimizer} and not others and not self._has_expected()

    def ended(self) -> None:
        self.boundaries += 1
        self.batches = 0
        self.has_ended = True

    def state(self) -> tuple[Any, ...] | None:
        """What changes within an iteration. None unless each one is known to be one step of the same optimizer."""
        only, run = self.only(), self.run
        if only is None or run is None:
            return None
        return only, run.is_loaded, frozenset(self.update), *(getattr(self, name) for name in _STATE)

    def take_over(self, state: tuple[Any, ...], boundaries: int) -> None:
        """So many iterations have passed elsewhere, which led to this state."""
        assert self.run is not None
        _, self.run.is_loaded, update, *values = state
        self.update = set(update)
        for name, value in zip(_STATE, values, strict=True):
            setattr(self, name, value)
        self.boundaries += boundaries
        self.run.length += boundaries

    def only(self) -> int | None:
        """The optimizer if each iteration is known to be one step of it."""
        run = self.run
        if self.first is None and run and run.length > 1 and len(run.optimizers) == 1 and not self.is_assumed():
            return next((each for each in run.optimizers if each >= 0), None)
        return None

    def _has_expected(self) -> bool:
        return bool(self.expected) and any(each.reference() is not None for each in self.expected.values())

    def _waits(self) -> bool:
        """In its first iteration, a program is expected to use all optimizers that it has created."""
        return self._has_expected() and all(run.length == 1 for run in self.runs)

    def _of_iteration(self, first: Run) -> list[Run]:
        return [run for run in self.runs if run.order >= first.order]

    def _close_update(self) -> None:
        update, self.update = self.update, set()
        has_ended, self.has_ended = self.has_ended, False
        run = self.run
        if run and run.optimizers & update:
            run.optimizers &= update
            run.length += 1
            run.is_loaded = run.is_loaded and self.update_is_loaded
            self._continue(run)
            return
        following = next((each for each in self.runs if each.optimizers & update), None)
        if run:
            self._turn(run, following)
            if has_ended and (self.first is None or following is None):  # it may be part of the iteration before
                self.revise(0, OWN_ITERATION)
        if following is None:
            following = Run(update)
            self.runs = [*self.runs[1 - _MOST_KINDS :], following]
        following.optimizers &= update
        self.count += 1
        following.begin(self.count, self.boundaries)
        self.run = following

    def _continue(self, run: Run) -> None:
        """Another update of the same run."""
        if self.first is None:
            if run.length == 2 and self.boundaries == run.boundaries:  # _waits() was true in vain
                self._correct(1, run)
            return
        if run.has_batches or run.length <= run.usual:
            return
        self._correct(run.length - 1, run)
        if run.length > MOST_IN_A_ROW:  # the others step no more
            self.first = None

    def _turn(self, run: Run, following: Run | None) -> None:
        """The run has ended, and another one follows."""
        if self.first is None and following is None:
            run.end(False, self.update_is_loaded)
            return
        first = following if self.first is None else self.first
        assert first is not None
        run.end(following is first, self.update_is_loaded)
        if following is not first:
            return
        runs = self._of_iteration(first)
        if not all(each.may_be_part() for each in runs):
            self.first = None
        elif self.first is not None:
            self._correct_iteration(first)
        elif not any(each.has_batches for each in runs if each is not first):  # an iteration begins with a batch
            for each in runs:
                each.is_last = each is run
            self.first = first
            self._correct_iteration(first)

    def _correct_iteration(self, first: Run) -> None:
        self._correct(1 + sum(each.iterations_in() for each in self._of_iteration(first)), first)

    def _correct(self, boundaries: int, since: Run) -> None:
        difference = boundaries - (self.boundaries - since.boundaries)
        if difference:
            self.boundaries += difference
            self.revise(difference, OWN_ITERATION if difference > 0 else ONE_ITERATION)
