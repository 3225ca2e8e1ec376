# SPDX-License-Identifier: Apache-2.0
"""Where the steps of a program begin, and its phases.

A step ends at the first call of a root module (one that no other module calls) after an optimizer step. What deviates
from that rule is an assumption, and stored as such:

- With several optimizers, a step is what _cycle.py takes for an iteration.
- Without an optimizer, a step ends at the first root call after a backward pass. The same holds for optimizers that do
  not step, as soon as that is known (_unused.py). If one steps later, these steps were all the first one.
- Without a backward pass too, each call of the first root module is a step. If there is a backward pass later, these
  calls were all in the first step. So that they are not counted first, a program that could make one is expected to: in
  its first calls, and longer if it has an optimizer and evaluates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _program
from ._cycle import Cycle
from ._unused import UnusedOptimizers

LOADING, FORWARD, BACKWARD, OPTIMIZER = range(4)  # indices into the phases of _program

#: Reasons for a step boundary.
OPTIMIZER_STEPPED = "optimizer"
NO_OPTIMIZER = "assumed: first forward pass after a backward pass, because the program has no optimizer"
UNUSED_OPTIMIZER = "assumed: first forward pass after a backward pass, because the program's optimizer has not stepped"
NO_BACKWARD = "assumed: each call of the first module, because the program has no backward pass"

#: Calls of a module that may be trained, in which a program is expected to make a backward pass.
EXPECTED_CALLS = 16
#: The same for a program that has an optimizer, such as calls for an episode of reinforcement learning.
EXPECTED_CALLS_WITH_OPTIMIZER = 64
#: Calls with which a program that has an optimizer may evaluate a model before its first backward pass.
EXPECTED_EVALUATIONS = 1000


class Steps:
    """Follows the program's root calls, backward passes and optimizer steps on the thread that makes the steps."""

    def __init__(
        self,
        on_boundary: Callable[[str | None], None],
        on_first_backward: Callable[[], None],
        may_train: Callable[[Any], bool],
        on_revision: Callable[[int, str], None],
    ) -> None:
        self.on_boundary = on_boundary  # the reason; None: the first root call
        self.on_first_backward = on_first_backward  # the boundaries before were none
        self.may_train = may_train  # whether a call of a module may be followed by a backward pass
        self.calls = 0  # of the first root module, while it may
        self.evaluations = 0  # other calls of it, before the first backward pass of a program that has an optimizer
        self.begun = False
        self.has_optimizer = False
        self.on_revision = on_revision
        self.cycle = Cycle(on_revision)
        self.unused = UnusedOptimizers()
        self.unused_boundaries = 0  # before the first optimizer step
        self.stepped = False  # an optimizer has stepped, ever
        self.stepped_in_step = False
        self.propagated = False  # ever
        self.propagated_in_step = False
        self.first_root: int | None = None  # of this step
        self.loading = self.backward = 0  # depths
        self.optimizers: list[int] = []  # that step now
        self.called_in_optimizer = False  # a root module, by the closure of the optimizer that steps now
        self.is_plain = True  # optimizers step outside of backward passes, and do not call modules
        self.is_accumulated = True  # the result of the current backward pass; see UnusedOptimizers
        self.open: list[bool] = []  # whether the forward phase was begun, of the root call on this thread

    def boundary(self, module: Any) -> str | None:
        """The reason if a step ends before this root call."""
        if self.stepped_in_step:
            return (self.cycle.is_assumed() or OPTIMIZER_STEPPED) if self.cycle.is_complete() else None
        if self.stepped:
            return None
        if self.propagated:
            return self._boundary_after_backward() if self.propagated_in_step else None
        return NO_BACKWARD if id(module) == self.first_root and not self._may_propagate(module) else None

    def _boundary_after_backward(self) -> str | None:
        if not self.has_optimizer:
            return NO_OPTIMIZER
        return UNUSED_OPTIMIZER if self.unused.is_step(self.cycle.waiting()) else None

    def _may_propagate(self, module: Any) -> bool:
        """Whether a backward pass is expected: before its first one, a program may evaluate or generate data."""
        if self.may_train(module):
            self.calls += 1
            return self.calls <= (EXPECTED_CALLS_WITH_OPTIMIZER if self.has_optimizer else EXPECTED_CALLS)
        self.evaluations += self.has_optimizer
        return self.has_optimizer and self.evaluations <= EXPECTED_EVALUATIONS

    def root_begins(self, module: Any) -> None:
        if self.loading or self.backward:  # a transform of a data set, or a recomputation
            self.open.append(False)
            return
        # The first condition saves a call: while it is false, no step ends.
        if (self.stepped_in_step or not self.stepped) and not (self.optimizers and self.called_in_optimizer):
            self._end_step(module)
        self.called_in_optimizer = True
        self.is_plain = self.is_plain and not self.optimizers
        self.open.append(_program.phase_begin(FORWARD))

    def _end_step(self, module: Any) -> None:
        reason = self.boundary(module) if self.begun else None
        if self.begun and not reason:
            return
        if self.begun:
            self.cycle.ended()
        self.unused_boundaries += reason is UNUSED_OPTIMIZER
        self.begun = True
        self.stepped_in_step = self.propagated_in_step = False
        self.first_root = id(module)
        self.on_boundary(reason)
        if self.optimizers:  # the optimizer calls the module, and its phase ended with the step
            _program.phase_begin(OPTIMIZER)

    def only_optimizer(self) -> int | None:
        """The id of the optimizer whose steps alone decide where the program's steps begin, for _program.follow()."""
        return self.cycle.only() if self.is_plain else None

    def root_ends(self) -> None:
        if self.open and self.open.pop():
            _program.phase_end()

    def backward_begins(self) -> bool:
        self.backward += 1
        if self.has_optimizer and not self.stepped:
            self.unused.backward_begins(self.cycle.waiting())
        if not self.propagated:
            self.propagated = True
            self.on_first_backward()
        return self.backward == 1 and _program.phase_begin(BACKWARD)

    def backward_ends(self, begun: bool) -> None:
        self.backward -= 1
        self.propagated_in_step = True
        if self.has_optimizer and not self.stepped:
            self.unused.backward_ends(self.cycle.waiting(), self.is_accumulated)
        self.is_accumulated = True
        if begun:
            _program.phase_end()

    def optimizer_created(self, optimizer: Any) -> None:
        self.has_optimizer = True
        self.cycle.created(optimizer)

    def optimizer_begins(self, optimizer: Any) -> None:
        key = id(optimizer)
        self.cycle.begins(key)
        if key in self.optimizers:  # its last step raised an exception: the hook after it was not called
            del self.optimizers[self.optimizers.index(key) :]
        if not self.optimizers:
            self.called_in_optimizer = False
            self.is_plain = self.is_plain and not self.backward
            _program.phase_begin(OPTIMIZER)
        self.optimizers.append(key)

    def optimizer_ends(self, optimizer: Any) -> None:
        if id(optimizer) not in self.optimizers:
            return
        del self.optimizers[self.optimizers.index(id(optimizer)) :]
        if self.optimizers:
            return
        _program.phase_end()
        self.cycle.step(id(optimizer))
        self._update()

    def _update(self) -> None:
        """An optimizer has stepped, or its step was skipped."""
        if not self.stepped and self.unused_boundaries:
            self.on_revision(-self.unused_boundaries, UNUSED_OPTIMIZER)
        self.stepped = self.stepped_in_step = True

    def scaler_stepped(self, optimizer: Any) -> None:
        """A GradScaler may have skipped the step of this optimizer, or of one that it is a wrapper of."""
        if self.cycle.knows(id(optimizer)):
            self.cycle.begins(id(optimizer))
            self.cycle.step(id(optimizer))
            self._update()

    def scaler_updated(self) -> None:
        """A GradScaler updates its scale even if it, or the program, has skipped the optimizer step."""
        self._update()

    def take_over(self, optimizer: int, boundaries: int, stepped: bool, stepping: bool, loaded: bool) -> None:
        """_program has followed this optimizer and passed these boundaries."""
        self.stepped_in_step = stepped
        self.optimizers = [optimizer] if stepping else []
        self.cycle.followed(boundaries, optimizer if stepped else None, loaded)

    def loading_begins(self) -> bool:
        self.optimizers.clear()  # as above
        self.loading += 1
        self.cycle.loads()
        return self.loading == 1 and _program.phase_begin(LOADING)

    def loading_ends(self, begun: bool) -> None:
        self.loading -= 1
        if begun:
            _program.phase_end()
