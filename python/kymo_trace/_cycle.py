# SPDX-License-Identifier: Apache-2.0
"""Groups the optimizer steps of a program into iterations.

An update consists of the optimizers that step between two calls of root modules. Consecutive updates that have an
optimizer in common form a run. The order of the runs determines the iterations:

- A single run: each update is an iteration. A second optimizer that sometimes steps right after the first one is part
  of the iteration of the first one.
- Alternating runs, as in a GAN: an iteration ends with the run after which the first run began again the last time. If
  each update of a run has loaded its own batch from a DataLoader, and the next run began without one, an iteration also
  ends within a run, before the next batch.
- A long run of other optimizers: the program has changed permanently, and each update is an iteration.

An optimizer that steps for the first time replaces one of its class that no longer exists, because some programs create
new optimizers in each epoch or iteration.

The kind of a run is unknown when it begins. Until it is known, each update counts as an iteration, and is_assumed()
returns why. revise() corrects the number of iterations if that was wrong.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

#: Maximum number of updates of a run in one iteration. In a longer run, each update is an iteration.
MAX_RUN_LENGTH = 8
_MAX_RUNS = 32  # stored

ONE_ITERATION = "assumed: several steps of an optimizer in a row and those of the other optimizers are one iteration"
OWN_ITERATION = "assumed: each optimizer step ends an iteration, until the order of the optimizers is known"


#: Attributes of Cycle that change within an iteration of a single optimizer.
_STATE = ("update_is_loaded", "is_loaded", "batches", "has_ended")


class Run:
    """The last run of the same optimizers."""

    def __init__(self, optimizers: set[int]) -> None:
        self.optimizers = optimizers  # in each update
        self.length = 0
        self.usual_length = 0  # in the previous iterations; 0 while runs do not alternate
        self.order = 0  # of its begin
        self.boundaries = 0  # before its second update
        self.is_last = False  # of an iteration: the first run followed it the last time
        self.is_loaded = False  # a batch was loaded before each update except the first
        self.has_batches = False  # each further batch begins another iteration

    def begin(self, order: int, boundaries: int) -> None:
        self.length, self.is_loaded = 1, True
        self.order, self.boundaries = order, boundaries

    def end(self, is_last: bool, next_is_loaded: bool) -> None:
        self.is_last = is_last
        if self.length > 1:
            self.has_batches = self.is_loaded and not next_is_loaded
        before = self.usual_length if self.usual_length <= MAX_RUN_LENGTH else 0
        self.usual_length = self.length if is_last else max(before, self.length)

    def may_be_part(self) -> bool:
        """Whether an iteration may consist of this run and others."""
        return self.has_batches or self.length <= MAX_RUN_LENGTH

    def iterations_in(self) -> int:
        return self.length - 1 if self.has_batches else 0


class _Created:
    """An optimizer that was created while the program is observed."""

    def __init__(self, optimizer: Any) -> None:
        self.reference = weakref.ref(optimizer)
        self.kind = type(optimizer)
        self.has_stepped = False


class Cycle:
    """Follows the optimizers of a program. Optimizers are identified by their ids, and by negative numbers after their
    ids have been reused."""

    def __init__(self, revise: Callable[[int, str], None]) -> None:
        self.revise = revise  # (difference, reason): corrects the number of iterations; the current one is assumed
        self.created_by_id: dict[int, _Created] = {}
        self.expected: dict[int, _Created] = {}  # created before the first optimizer step, and have not stepped
        self.last_substitute = 0  # the last number that replaced an id
        self.update: set[int] = set()  # the optimizers that have stepped since the last root call
        self.update_is_loaded = False  # a batch was loaded before the update
        self.is_loaded = False  # since the last optimizer step
        self.batches = 0  # loaded since the last boundary; 2: several
        self.runs: list[Run] = []
        self.run: Run | None = None  # the current one
        self.first: Run | None = None  # begins each iteration; None: each update is an iteration
        self.count = 0  # of runs
        self.boundaries = 0
        self.has_ended = False  # an iteration has ended since the last update

    # Events of the program

    def created(self, optimizer: Any) -> None:
        key = id(optimizer)
        self.last_substitute -= 1
        self._rename(key, self.last_substitute)  # of an optimizer that no longer exists
        self.created_by_id[key] = _Created(optimizer)
        self.expected.pop(key, None)
        if not (self.runs or self.update):
            self.expected[key] = self.created_by_id[key]

    def begins(self, optimizer: int) -> None:
        """Called when an optimizer steps, possibly within the step of another one."""
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

    def contains(self, optimizer: int) -> bool:
        """Whether an optimizer was created while the program was observed, or has stepped."""
        return optimizer in self.created_by_id or any(optimizer in run.optimizers for run in self.runs)

    def pending(self) -> list[Any]:
        """The optimizers that are expected to step in the first iteration and have not stepped."""
        return [optimizer for each in self.expected.values() if (optimizer := each.reference()) is not None]

    def loads(self) -> None:
        self.is_loaded = True
        self.batches = min(self.batches + 1, 2)

    # Iterations

    def is_complete(self) -> bool:
        """Whether an iteration ends at the current root call."""
        if self.update:
            self._close_update()
        run = self.run
        if run is None:
            return True
        if self.first is None:
            return not self._is_waiting()
        if run.has_batches and not run.is_last:
            return self.is_loaded
        return run.length >= run.usual_length if run.is_last else run.length > run.usual_length

    def is_assumed(self) -> str | None:
        """The reason if the boundary for which is_complete() returned True is an assumption, otherwise None."""
        run = self.run
        if run is None:
            return None
        if self.first is None:
            if run.length > MAX_RUN_LENGTH:
                return None
            return OWN_ITERATION if len(self.runs) > 1 or self._has_expected() else None
        if run.length > run.usual_length and not run.has_batches:
            return OWN_ITERATION
        several = any(each.length > 1 and not each.has_batches for each in self._of_iteration(self.first))
        return ONE_ITERATION if several and self.batches != 1 else None

    def is_only_optimizer(self, optimizer: int) -> bool:
        """Whether this optimizer, which has just stepped, is the only one of the program so far."""
        others = any(run.optimizers != {optimizer} for run in self.runs)
        return self.update == {optimizer} and not others and not self._has_expected()

    def ended(self) -> None:
        self.boundaries += 1
        self.batches = 0
        self.has_ended = True

    def state(self) -> tuple[Any, ...] | None:
        """The state that changes within an iteration. None unless only_optimizer() is known."""
        optimizer, run = self.only_optimizer(), self.run
        if optimizer is None or run is None:
            return None
        return optimizer, run.is_loaded, frozenset(self.update), *(getattr(self, name) for name in _STATE)

    def take_over(self, state: tuple[Any, ...], boundaries: int) -> None:
        """Sets the state that was reached after `boundaries` further iterations."""
        assert self.run is not None
        _, self.run.is_loaded, update, *values = state
        self.update = set(update)
        for name, value in zip(_STATE, values, strict=True):
            setattr(self, name, value)
        self.boundaries += boundaries
        self.run.length += boundaries

    def only_optimizer(self) -> int | None:
        """The optimizer if each iteration is known to be one step of the same optimizer, otherwise None."""
        run = self.run
        if self.first is None and run and run.length > 1 and len(run.optimizers) == 1 and not self.is_assumed():
            return next((each for each in run.optimizers if each >= 0), None)
        return None

    def _has_expected(self) -> bool:
        return bool(self.expected) and any(each.reference() is not None for each in self.expected.values())

    def _is_waiting(self) -> bool:
        """Whether the first iteration lasts, in which all optimizers are expected to step."""
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
            self._end_run(run, following)
            if has_ended and (self.first is None or following is None):  # it may be part of the previous iteration
                self.revise(0, OWN_ITERATION)
        if following is None:
            following = Run(update)
            self.runs = [*self.runs[1 - _MAX_RUNS :], following]
        following.optimizers &= update
        self.count += 1
        following.begin(self.count, self.boundaries)
        self.run = following

    def _continue(self, run: Run) -> None:
        """Called for each further update of a run."""
        if self.first is None:
            if run.length == 2 and self.boundaries == run.boundaries:  # no expected optimizer stepped
                self._correct(1, run)
            return
        if run.has_batches or run.length <= run.usual_length:
            return
        self._correct(run.length - 1, run)
        if run.length > MAX_RUN_LENGTH:  # the other optimizers no longer step
            self.first = None

    def _end_run(self, run: Run, following: Run | None) -> None:
        """Ends a run, which is followed by another one (None: a new one)."""
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
