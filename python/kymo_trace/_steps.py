# SPDX-License-Identifier: Apache-2.0
"""Step boundaries and phases of a program.

A step ends at the first root call after an optimizer step. A root call is a call of a module that no other module
calls, or of a function compiled by Dynamo. Boundaries by any other rule are assumptions, and stored as such:

- With several optimizers, a step is an iteration as defined in _cycle.py.
- Without an optimizer, a step ends at the first root call after a backward pass. The same holds for optimizers that do
  not step, once that is known (_unused_optimizers.py). If one steps later, all steps so far become the first step.
- Without calls of modules, or if most of the model is computed outside of them (_operator_counts.py), a step ends with
  the step of its optimizer or, without one, with its backward pass. If several optimizers step alternately, it ends at
  the first backward pass after them that has new operators. What precedes the end of the first such step is not
  observed.
- Without a backward pass as well, each call of the first root module is a step. If a backward pass follows later, these
  calls become part of the first step. To avoid counting them first, a backward pass is expected during the first calls,
  and during more calls if the program has an optimizer and keeps the results of the model (_discarded.py).

Once each step of a program consists of calls of modules and one step of a single optimizer, _program memoizes the
effects of each event by state and repeats them, and this module handles only the other events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import _program
from ._cycle import Cycle
from ._discarded import DiscardedResults
from ._operator_counts import DirectForward, OperatorCounter
from ._unused_optimizers import UnusedOptimizers, may_have_parameter

LOADING, FORWARD, BACKWARD, OPTIMIZER, OTHER = range(5)  # indices of the phases of _program; OTHER: outside of these

#: Methods of Steps that _program calls.
CALLED_BY_PROGRAM = (
    "state_number",
    "root_ends",
    "loading_begins",
    "loading_ends",
    "optimizer_begins",
    "optimizer_fails",
    "closure_begins",
    "closure_ends",
    "scaler_stepped",
    "scaler_updated",
)

#: Reasons for a step boundary.
OPTIMIZER_STEPPED = "optimizer"
NO_OPTIMIZER = "assumed: first forward pass after a backward pass, because the program has no optimizer"
UNUSED_OPTIMIZER = "assumed: first forward pass after a backward pass, because the program's optimizer has not stepped"
EACH_BACKWARD = "assumed: each backward pass, because no optimizer has stepped, and modules compute little or nothing"
NO_BACKWARD = "assumed: each call of the first module, because the program had made no backward pass"

#: Number of calls of a trainable module within which a first backward pass is expected.
EXPECTED_CALLS = 16
#: The same for a program with an optimizer, which may evaluate a model or generate data first. Reinforcement learning
#: often takes 2048 steps of an environment before its first backward pass.
EXPECTED_CALLS_WITH_OPTIMIZER = 10_000

_MAX_STATES = 4096  # numbered
#: Attributes of Steps that change within a step.
_STATE = (
    "stepped_in_step",
    "propagated_in_step",
    "loading",
    "backward",
    "optimizers",
    "closures",
    "closure_is_open",
    "called_in_optimizer",
    "has_ended",
    "in_forward",
)


class Steps:
    """Follows the root calls, backward passes and optimizer steps of the main thread."""

    def __init__(
        self,
        on_boundary: Callable[[str | None], None],
        on_first_backward: Callable[[], None],
        may_train: Callable[[Any], bool],
        on_revision: Callable[[int, str], None],
        results: DiscardedResults,
        node_number: Callable[[], int] = lambda: 0,
    ) -> None:
        self.on_boundary = on_boundary  # the reason; None: the first root call
        self.on_first_backward = on_first_backward  # the boundaries so far become part of the first step
        self.may_train = may_train  # whether a backward pass may follow a call of a module
        self.calls = 0  # of the first root module, while a backward pass is expected
        self.begun = False
        self.has_optimizer = False
        self.on_revision = on_revision
        self.results = results
        self.cycle = Cycle(on_revision)
        self.unused = UnusedOptimizers()
        self.unused_boundaries = 0  # before the first optimizer step
        self.counter = OperatorCounter(node_number)
        self.is_after_update = False  # the current root call began after the backward pass of its step
        self.was_call_update = False  # the last root call did too, and recorded no operators for a backward pass
        self.is_direct = False  # the last step computed most of its model outside of root calls
        self.states: dict[tuple[Any, ...], int] = {}  # numbers of states
        self.is_followed = False  # _program has handled the begin of this step, or more of it
        self.direct = DirectForward(lambda: _program.phase_begin(FORWARD), lambda: _program.phase_end())
        self.passes = 0  # backward passes of this step
        self.stepped = False  # an optimizer has stepped, ever
        self.stepped_in_step = False
        self.propagated = False  # ever
        self.propagated_in_step = False
        self.first_root: int | None = None  # of this step
        self.loading = self.backward = self.captures = 0  # depths
        self.optimizers: tuple[int, ...] = ()  # ids of the nested optimizers that are stepping
        self.closures = 0  # depth of closures that optimizers call
        self.closure_is_open = False  # the phase OTHER of a closure within the optimizer's phase
        self.called_in_optimizer = False  # the closure of the stepping optimizer has called a root module
        self.needs_operators = False  # the number of operators decides whether a step ends before a backward pass
        self.is_accumulated, self.is_again = True, False  # the result of the last backward pass; see UnusedOptimizers
        self.has_ended = False  # the step ended with its optimizer's step, and nothing of the next one has begun
        self.in_forward = False  # the current root call has begun a phase

    def boundary(self, module: Any) -> str | None:
        """The reason why a step ends before this root call (None: outside of root calls), or None if it does not."""
        if self.stepped_in_step:
            return (self.cycle.is_assumed() or OPTIMIZER_STEPPED) if self.cycle.is_complete() else None
        if self.stepped or self.optimizers:  # within the first step of an optimizer
            return None
        if self.propagated:
            return self._boundary_after_backward(module) if self.propagated_in_step else None
        return NO_BACKWARD if id(module) == self.first_root and not self._may_propagate(module) else None

    def _boundary_after_backward(self, module: Any) -> str | None:
        if self.has_optimizer and not self.unused.is_step(self.cycle.pending()):
            return None
        if module is None:
            return EACH_BACKWARD
        return UNUSED_OPTIMIZER if self.has_optimizer else NO_OPTIMIZER

    def _may_propagate(self, module: Any) -> bool:
        """Whether a first backward pass is still expected."""
        may_train = self.may_train(module)
        if not (self.has_optimizer or may_train):
            return False
        self.calls += 1
        if may_train and self.results.in_a_row >= EXPECTED_CALLS:
            return False
        return self.calls <= (EXPECTED_CALLS_WITH_OPTIMIZER if self.has_optimizer else EXPECTED_CALLS)

    def _is_excluded_call(self) -> bool:
        """Whether a module call belongs to a data set transform, a recomputation or the capture of a CUDA graph."""
        return bool(self.loading or self.backward or self.captures)

    def root_begins(self, module: Any) -> None:
        if self._is_excluded_call():
            return
        new = self.counter.call_begins()
        self.direct.leave(new, closes=False)
        self.is_after_update = self.propagated_in_step or self.stepped_in_step
        self._work_begins(module, new)
        self.in_forward = not self.direct.is_open and _program.phase_begin(FORWARD)

    def _work_begins(self, module: Any, new: int) -> None:
        # The first condition avoids a call that would not end a step.
        if (self.stepped_in_step or not self.stepped) and not (self.optimizers and self.called_in_optimizer):
            self._end_step(module, new)
        self.called_in_optimizer = True
        self.has_ended = False

    def _end_step(self, module: Any, new: int) -> None:
        """Ends the step if boundary() has a reason. `module`: the first root call of the next step, or None. `new`: the
        number of operators of the next step so far."""
        reason = self.boundary(module) if self.begun or module is None else None
        if reason is None and (self.begun or module is None):
            return
        if reason is not None:
            self.cycle.ended()
            self.unused_boundaries += self.has_optimizer and self.propagated and not self.stepped
        self.begun = True
        self.stepped_in_step = self.propagated_in_step = False
        self.first_root = None if module is None else id(module)
        self.is_direct = self.counter.end_step(new) and not self.is_followed
        self.is_followed = False
        self.passes = 0
        self.on_boundary(reason)
        self.direct.step_begins()
        if self.optimizers:  # the optimizer calls the module, and its phase ended with the step
            _program.phase_begin(OPTIMIZER)
        if self.closures:
            self.closure_is_open = _program.phase_begin(OTHER)

    def state_number(self, open_phases: int) -> int:
        """A number that identifies all state on which the effects of the next events depend, including the number of
        open phases. -1 if they also depend on other state, such as the number of operators."""
        begun_by_call = self.first_root is not None  # otherwise, the model may be computed outside of root calls
        cycle = self.cycle.state() if begun_by_call and not (self.is_direct or self.needs_operators) else None
        if cycle is None or len(self.states) == _MAX_STATES:
            return -1
        state = open_phases, cycle, self.counter.in_call, *(getattr(self, name) for name in _STATE)
        return self.states.setdefault(state, len(self.states))

    def take_over(self, state_number: int, boundaries: int) -> None:
        """Sets the state that _program has reached, `boundaries` boundaries after the last one here."""
        _, cycle, in_call, *values = list(self.states)[state_number]
        self.cycle.take_over(cycle, boundaries)
        self.counter.take_over(in_call)
        for name, value in zip(_STATE, values, strict=True):
            setattr(self, name, value)
        self.is_followed, self.is_after_update = True, False
        self.direct.reach("loading" if self.cycle.is_loaded else ("optimizer", self.cycle.only_optimizer()), False)

    def root_ends(self) -> None:
        is_excluded = self._is_excluded_call()
        if not is_excluded:
            self.was_call_update = self.counter.call_ends() == 0 and self.is_after_update
        if self.in_forward:
            _program.phase_end()
        self.in_forward = False
        self.results.root_has_ended = True
        if not is_excluded:
            self.direct.reach(("call", self.counter.calls), self.is_direct)

    def was_update(self) -> bool:
        """Whether the root call that has just ended was no forward pass. False if _program handled it."""
        was_update, self.was_call_update = self.was_call_update, False
        return was_update

    def capture_begins(self) -> None:
        """Called before modules are captured as CUDA graphs, with calls and backward passes outside of steps."""
        self._stop_following()
        self.captures += 1
        self.direct.leave(self.counter.pause())

    def capture_ends(self) -> None:
        self.captures -= 1
        self.counter.resume()

    def backward_begins(self) -> bool:
        if self.captures:
            return False
        self.backward += 1
        if self.backward == 1:
            self._outer_backward_begins()
        if not self.propagated:
            self.propagated = True
            self.results.enabled = False
            self.on_first_backward()
        return self.backward == 1 and _program.phase_begin(BACKWARD)

    def _may_be_unused(self) -> bool:
        return self.has_optimizer and not (self.stepped or self.optimizers)

    def _outer_backward_begins(self) -> None:
        if self._may_be_unused():
            self.unused.backward_begins(self.cycle.pending())
        # Without an optimizer, a backward pass ends no step if the step has called modules, or if its result is
        # differentiated again.
        new = self.counter.pause(unknown=self.stepped_in_step)
        self.needs_operators = self.needs_operators or (self.stepped_in_step and not new)
        self.direct.leave(new)
        if new and (self.stepped or not (self.counter.calls or self.is_again)):
            self._work_begins(None, new)
        self.is_again, self.is_accumulated = False, True

    def backward_ends(self, begun: bool) -> None:
        if self.captures:
            return
        self.backward -= 1
        self.propagated_in_step = True
        if begun:
            _program.phase_end()
        if self.backward == 0:
            self._outer_backward_ends()

    def _outer_backward_ends(self) -> None:
        self.counter.resume()
        if self._may_be_unused():
            self.unused.backward_ends(self.cycle.pending(), self.is_accumulated)
        self.passes += 1
        point = ("backward", self.passes)
        if not (self.stepped or self.optimizers or self.is_again) and self.counter.is_direct():
            self._end_step(None, 0)
        self.direct.reach(point, self.is_direct)

    def returns_gradients(self, again: bool, inputs: Iterable[Any]) -> None:
        """Called when the current backward pass returns the gradients of `inputs` instead of accumulating those of
        parameters. `again`: a later backward pass differentiates its result."""
        if self.backward == 1:
            self.is_again = again
            self.is_accumulated = again or not may_have_parameter(self.cycle.pending(), inputs)

    def _stop_following(self) -> None:
        _program.stop_following()
        self.states.clear()

    def optimizer_created(self, optimizer: Any) -> None:
        self._stop_following()
        self.has_optimizer = True
        self.results.enabled = not self.propagated
        self.cycle.created(optimizer)

    def optimizer_begins(self, optimizer: Any) -> None:
        key = id(optimizer)
        self.cycle.begins(key)
        if not self.optimizers:
            self.direct.leave(self.counter.pause())
            self.called_in_optimizer = False
            _program.phase_begin(OPTIMIZER)
        self.optimizers += (key,)

    def optimizer_fails(self, optimizer: Any) -> None:
        """Called when the step of an optimizer has raised an exception."""
        if self._leave_optimizer(optimizer):
            self.counter.resume()

    def _leave_optimizer(self, optimizer: Any) -> bool:
        """Ends the step of an optimizer. Returns whether it was the outermost one."""
        if id(optimizer) not in self.optimizers:
            return False
        while self.optimizers[-1] != id(optimizer):
            self.optimizers = self.optimizers[:-1]
        self.optimizers = self.optimizers[:-1]
        if self.optimizers:
            return False
        _program.phase_end()
        return True

    def optimizer_ends(self, optimizer: Any) -> None:
        if not self._leave_optimizer(optimizer):
            return
        self.cycle.step(id(optimizer))
        self._update()
        self.counter.resume()
        # The begin of a step that computes its model outside of root calls is not observed, so the last one ends here.
        is_direct = not self.is_followed and (self.counter.is_direct() or (self.begun and self.first_root is None))
        if is_direct and not (self.backward or self.counter.in_call) and self.cycle.is_only_optimizer(id(optimizer)):
            self._end_step(None, 0)
            self.has_ended = True
        if not self.backward:
            self.direct.reach(("optimizer", id(optimizer)), self.is_direct)

    def is_in_optimizer(self) -> bool:
        """Whether an optimizer is stepping, outside of its closure."""
        return bool(self.optimizers) and not self.closures

    def closure_begins(self) -> bool:
        self.closures += 1
        if self.closures == 1:
            self.counter.resume()
            self.closure_is_open = _program.phase_begin(OTHER)
            self.direct.reach("closure", self.is_direct)
        return self.closure_is_open

    def closure_ends(self, _: bool) -> None:
        self.closures -= 1
        if self.closures > 0:
            return
        self.direct.leave(self.counter.pause())
        if self.closure_is_open:
            _program.phase_end()
        self.closure_is_open = False

    def _update(self) -> None:
        """Called when an optimizer has stepped or its step was skipped."""
        if not self.stepped and self.unused_boundaries:
            self.on_revision(-self.unused_boundaries, UNUSED_OPTIMIZER)
        self.stepped = self.stepped_in_step = True

    def scaler_stepped(self, optimizer: Any) -> None:
        """Called when a GradScaler may have skipped the step of this optimizer, or of one that it wraps."""
        if self.cycle.contains(id(optimizer)) and not self.has_ended:
            self.cycle.begins(id(optimizer))
            self.cycle.step(id(optimizer))
            self._update()

    def scaler_updated(self) -> None:
        """Called when a GradScaler updates its scale, which also happens if the optimizer step was skipped."""
        if not self.has_ended:
            self._update()

    def loading_begins(self) -> bool:
        self.loading += 1
        self.cycle.loads()
        if self.loading == 1 and not self.backward:
            new = self.counter.pause()
            self.direct.leave(new, closes=new == 0)
        return self.loading == 1 and _program.phase_begin(LOADING)

    def loading_ends(self, begun: bool) -> None:
        self.loading -= 1
        if begun:
            _program.phase_end()
        if self.loading == 0 and not self.backward:
            self.counter.resume()
            self.direct.reach("loading", self.is_direct)
