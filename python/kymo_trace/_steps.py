# SPDX-License-Identifier: Apache-2.0
"""Where the steps of a program begin, and its phases.

A step ends at the first root call after an optimizer step: that of a module that no other module calls, or of a
function compiled by Dynamo. What deviates from that rule is an assumption, and stored as such:

- With several optimizers, a step is what _cycle.py takes for an iteration.
- Without an optimizer, a step ends at the first root call after a backward pass. The same holds for optimizers that do
  not step, as soon as that is known (_unused.py). If one steps later, these steps were all the first one.
- Without calls of modules, or if a step computes most of its model outside of them (_work.py), it ends with the step
  of its optimizer or, without one, with its backward pass. If several optimizers step in turn, it ends at the first
  backward pass after them whose operators are new. What was before the end of the first such step is not observed.
- Without a backward pass too, each call of the first root module is a step. If there is a backward pass later, these
  calls were all in the first step. So that they are not counted first, a program that could make one is expected to: in
  its first calls, and longer if it has an optimizer and does not discard the results of the model (_discarded.py).

As soon as a program makes a step with each step of a single optimizer and calls of modules, _program repeats what was
done here for the same event in the same state, and this module takes over at other events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import _program
from ._cycle import Cycle
from ._discarded import DiscardedResults
from ._unused import UnusedOptimizers, may_have_parameter
from ._work import DirectForward, Work

LOADING, FORWARD, BACKWARD, OPTIMIZER, OTHER = range(5)  # indices into the phases of _program; OTHER: none of them

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

#: Calls of a module that may be trained, in which a program is expected to make a backward pass.
EXPECTED_CALLS = 16
#: Calls with which a program that has an optimizer may evaluate a model or generate data before its first backward
#: pass. Reinforcement learning often makes 2048 steps of an environment first.
EXPECTED_CALLS_WITH_OPTIMIZER = 10_000

_MOST_STATES = 4096  # that are numbered
#: What changes within a step, of Steps.
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
    """Follows the program's root calls, backward passes and optimizer steps on the thread that makes the steps."""

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
        self.on_first_backward = on_first_backward  # the boundaries before were none
        self.may_train = may_train  # whether a call of a module may be followed by a backward pass
        self.calls = 0  # of the first root module, while a backward pass is expected
        self.begun = False
        self.has_optimizer = False
        self.on_revision = on_revision
        self.results = results
        self.cycle = Cycle(on_revision)
        self.unused = UnusedOptimizers()
        self.unused_boundaries = 0  # before the first optimizer step
        self.work = Work(node_number)
        self.is_after_update = False  # the current root call began after the backward pass of its step
        self.was_call_update = False  # the last root call did, and has no operators for another one
        self.is_direct = False  # the last step computed most of its model outside of root calls
        self.states: dict[tuple[Any, ...], int] = {}  # their numbers
        self.is_followed = False  # _program has followed the begin of this step, or a part of it
        self.direct = DirectForward(lambda: _program.phase_begin(FORWARD), lambda: _program.phase_end())
        self.passes = 0  # backward passes of this step
        self.stepped = False  # an optimizer has stepped, ever
        self.stepped_in_step = False
        self.propagated = False  # ever
        self.propagated_in_step = False
        self.first_root: int | None = None  # of this step
        self.loading = self.backward = self.captures = 0  # depths
        self.optimizers: tuple[int, ...] = ()  # that step now, one within the other
        self.closures = 0  # depth of those that optimizers call
        self.closure_is_open = False  # its part of the optimizer's phase is OTHER
        self.called_in_optimizer = False  # a root module, by the closure of the optimizer that steps now
        self.needs_operators = False  # only their number tells whether a step ends before a backward pass
        self.is_accumulated, self.is_again = True, False  # the result of the last backward pass; see UnusedOptimizers
        self.has_ended = False  # a step, when its optimizer had stepped; no other work has begun
        self.in_forward = False  # a phase that the current root call has begun

    def boundary(self, module: Any) -> str | None:
        """The reason if a step ends before this root call, or where no module is called."""
        if self.stepped_in_step:
            return (self.cycle.is_assumed() or OPTIMIZER_STEPPED) if self.cycle.is_complete() else None
        if self.stepped or self.optimizers:  # the first step of an optimizer is not over
            return None
        if self.propagated:
            return self._boundary_after_backward(module) if self.propagated_in_step else None
        return NO_BACKWARD if id(module) == self.first_root and not self._may_propagate(module) else None

    def _boundary_after_backward(self, module: Any) -> str | None:
        if self.has_optimizer and not self.unused.is_step(self.cycle.waiting()):
            return None
        if module is None:
            return EACH_BACKWARD
        return UNUSED_OPTIMIZER if self.has_optimizer else NO_OPTIMIZER

    def _may_propagate(self, module: Any) -> bool:
        """Whether a backward pass is expected: before its first one, a program may evaluate or generate data."""
        may_train = self.may_train(module)
        if not (self.has_optimizer or may_train):
            return False
        self.calls += 1
        if may_train and self.results.in_a_row >= EXPECTED_CALLS:
            return False
        return self.calls <= (EXPECTED_CALLS_WITH_OPTIMIZER if self.has_optimizer else EXPECTED_CALLS)

    def _is_aside(self) -> bool:
        """Whether a call of a module is a transform of a data set, a recomputation, or made for a CUDA graph."""
        return bool(self.loading or self.backward or self.captures)

    def root_begins(self, module: Any) -> None:
        if self._is_aside():
            return
        new = self.work.call_begins()
        self.direct.leave(new, closes=False)
        self.is_after_update = self.propagated_in_step or self.stepped_in_step
        self._work_begins(module, new)
        self.in_forward = not self.direct.is_open and _program.phase_begin(FORWARD)

    def _work_begins(self, module: Any, new: int) -> None:
        # The first condition saves a call: while it is false, no step ends.
        if (self.stepped_in_step or not self.stepped) and not (self.optimizers and self.called_in_optimizer):
            self._end_step(module, new)
        self.called_in_optimizer = True
        self.has_ended = False

    def _end_step(self, module: Any, new: int) -> None:
        """Ends a step if there is a reason. `module`: the first call of the next one; None: no call is known. `new`:
        the number of its operators so far."""
        reason = self.boundary(module) if self.begun or module is None else None
        if reason is None and (self.begun or module is None):
            return
        if reason is not None:
            self.cycle.ended()
            self.unused_boundaries += self.has_optimizer and self.propagated and not self.stepped
        self.begun = True
        self.stepped_in_step = self.propagated_in_step = False
        self.first_root = None if module is None else id(module)
        self.is_direct = self.work.end_step(new) and not self.is_followed
        self.is_followed = False
        self.passes = 0
        self.on_boundary(reason)
        self.direct.step_begins()
        if self.optimizers:  # the optimizer calls the module, and its phase ended with the step
            _program.phase_begin(OPTIMIZER)
        if self.closures:
            self.closure_is_open = _program.phase_begin(OTHER)

    def state_number(self, open_phases: int) -> int:
        """The number of all on which the effects of the next events depend, with so many phases that are open. -1 if
        they depend on more, such as the number of operators."""
        begun_by_call = self.first_root is not None  # others may compute their model outside of root calls
        cycle = self.cycle.state() if begun_by_call and not (self.is_direct or self.needs_operators) else None
        if cycle is None or len(self.states) == _MOST_STATES:
            return -1
        state = open_phases, cycle, self.work.in_call, *(getattr(self, name) for name in _STATE)
        return self.states.setdefault(state, len(self.states))

    def take_over(self, state_number: int, boundaries: int) -> None:
        """_program has reached this state, so many boundaries after the last one here."""
        _, cycle, in_call, *values = list(self.states)[state_number]
        self.cycle.take_over(cycle, boundaries)
        self.work.take_over(in_call)
        for name, value in zip(_STATE, values, strict=True):
            setattr(self, name, value)
        self.is_followed, self.is_after_update = True, False
        self.direct.reach("loading" if self.cycle.is_loaded else ("optimizer", self.cycle.only()), False)

    def root_ends(self) -> None:
        is_aside = self._is_aside()
        if not is_aside:
            self.was_call_update = self.work.call_ends() == 0 and self.is_after_update
        if self.in_forward:
            _program.phase_end()
        self.in_forward = False
        self.results.root_has_ended = True
        if not is_aside:
            self.direct.reach(("call", self.work.calls), self.is_direct)

    def was_update(self) -> bool:
        """Whether the root call that has just ended, if it was followed here, was no forward pass."""
        was_update, self.was_call_update = self.was_call_update, False
        return was_update

    def capture_begins(self) -> None:
        """The program captures modules as CUDA graphs, with calls and backward passes that are part of no step."""
        self._follow_no_more()
        self.captures += 1
        self.direct.leave(self.work.pause())

    def capture_ends(self) -> None:
        self.captures -= 1
        self.work.resume()

    def backward_begins(self) -> bool:
        if self.captures:
            return False
        self.backward += 1
        if self.backward == 1:
            self._outer_backward_begins()
        if not self.propagated:
            self.propagated = True
            self.results.wanted = False
            self.on_first_backward()
        return self.backward == 1 and _program.phase_begin(BACKWARD)

    def _may_be_unused(self) -> bool:
        return self.has_optimizer and not (self.stepped or self.optimizers)

    def _outer_backward_begins(self) -> None:
        if self._may_be_unused():
            self.unused.backward_begins(self.cycle.waiting())
        # Without an optimizer, a pass within a step that calls modules, or whose result is differentiated, ends none.
        new = self.work.pause(unknown=self.stepped_in_step)
        self.needs_operators = self.needs_operators or (self.stepped_in_step and not new)
        self.direct.leave(new)
        if new and (self.stepped or not (self.work.calls or self.is_again)):
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
        self.work.resume()
        if self._may_be_unused():
            self.unused.backward_ends(self.cycle.waiting(), self.is_accumulated)
        self.passes += 1
        point = ("backward", self.passes)
        if not (self.stepped or self.optimizers or self.is_again) and self.work.is_direct():
            self._end_step(None, 0)
        self.direct.reach(point, self.is_direct)

    def returns_gradients(self, again: bool, inputs: Iterable[Any]) -> None:
        """The backward pass that has begun does not add to the gradients of parameters, but returns those of its
        inputs. `again`: a later one differentiates its result."""
        if self.backward == 1:
            self.is_again = again
            self.is_accumulated = again or not may_have_parameter(self.cycle.waiting(), inputs)

    def _follow_no_more(self) -> None:
        _program.follow_no_more()
        self.states.clear()

    def optimizer_created(self, optimizer: Any) -> None:
        self._follow_no_more()
        self.has_optimizer = True
        self.results.wanted = not self.propagated
        self.cycle.created(optimizer)

    def optimizer_begins(self, optimizer: Any) -> None:
        key = id(optimizer)
        self.cycle.begins(key)
        if not self.optimizers:
            self.direct.leave(self.work.pause())
            self.called_in_optimizer = False
            _program.phase_begin(OPTIMIZER)
        self.optimizers += (key,)

    def optimizer_fails(self, optimizer: Any) -> None:
        """Its step has raised an exception."""
        if self._leave_optimizer(optimizer):
            self.work.resume()

    def _leave_optimizer(self, optimizer: Any) -> bool:
        """Whether this was the step of the outermost optimizer."""
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
        self.work.resume()
        # Nothing marks where a step begins that computes its model outside of root calls, as the one before may do.
        is_direct = not self.is_followed and (self.work.is_direct() or (self.begun and self.first_root is None))
        if is_direct and not (self.backward or self.work.in_call) and self.cycle.is_alone(id(optimizer)):
            self._end_step(None, 0)
            self.has_ended = True
        if not self.backward:
            self.direct.reach(("optimizer", id(optimizer)), self.is_direct)

    def is_in_optimizer(self) -> bool:
        """Whether an optimizer itself does what the program does now, and not its closure."""
        return bool(self.optimizers) and not self.closures

    def closure_begins(self) -> bool:
        self.closures += 1
        if self.closures == 1:
            self.work.resume()
            self.closure_is_open = _program.phase_begin(OTHER)
            self.direct.reach("closure", self.is_direct)
        return self.closure_is_open

    def closure_ends(self, _: bool) -> None:
        self.closures -= 1
        if self.closures > 0:
            return
        self.direct.leave(self.work.pause())
        if self.closure_is_open:
            _program.phase_end()
        self.closure_is_open = False

    def _update(self) -> None:
        """An optimizer has stepped, or its step was skipped."""
        if not self.stepped and self.unused_boundaries:
            self.on_revision(-self.unused_boundaries, UNUSED_OPTIMIZER)
        self.stepped = self.stepped_in_step = True

    def scaler_stepped(self, optimizer: Any) -> None:
        """A GradScaler may have skipped the step of this optimizer, or of one that it is a wrapper of."""
        if self.cycle.knows(id(optimizer)) and not self.has_ended:
            self.cycle.begins(id(optimizer))
            self.cycle.step(id(optimizer))
            self._update()

    def scaler_updated(self) -> None:
        """A GradScaler updates its scale even if it, or the program, has skipped the optimizer step."""
        if not self.has_ended:
            self._update()

    def loading_begins(self) -> bool:
        self.loading += 1
        self.cycle.loads()
        if self.loading == 1 and not self.backward:
            new = self.work.pause()
            self.direct.leave(new, closes=new == 0)
        return self.loading == 1 and _program.phase_begin(LOADING)

    def loading_ends(self, begun: bool) -> None:
        self.loading -= 1
        if begun:
            _program.phase_end()
        if self.loading == 0 and not self.backward:
            self.work.resume()
            self.direct.reach("loading", self.is_direct)
