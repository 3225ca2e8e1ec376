# SPDX-License-Identifier: Apache-2.0
"""Observes the program of this process: functions of torch are replaced by functions that call them.

While Dynamo traces, these functions only call the original.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from threading import get_ident, main_thread
from typing import Any

from . import _exceptions, _note, _program, _ranks
from ._compilation import Compilations
from ._discarded import DiscardedResults
from ._functions import CompiledFunction
from ._later import LaterSteps
from ._memory import Tags
from ._names import Names
from ._ranks import Membership
from ._replacement import without_dynamo
from ._seen import Seen, inference_text, miscount_text
from ._steps import CALLED_BY_PROGRAM, Steps
from ._windows import Windows

# What is followed: the steps before, in and after the pass; whether a process trains that is not observed.
BEFORE, DURING, _AFTER, _UNOBSERVED, NOTHING = range(5)

_LIBRARY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # lib/kymo


class Observation:
    """What is observed in this process, from the import of torch to its end."""

    def __init__(self, setting: dict[str, Any], membership: Membership, start_ns: int, torch: Any) -> None:
        self.setting = setting
        self.membership = membership
        self.torch = torch
        self.names = Names(torch)
        self.results = DiscardedResults()
        self.script = getattr(sys.modules["__main__"], "__file__", None) or ""  # Python deletes it before it ends
        self.begin_process(start_ns)
        self.tags = Tags(torch)
        self.tags.root, self.tags.gradients, self.tags.optimizer = map(  # type: ignore[method-assign]
            without_dynamo, (self.tags.root, self.tags.gradients, self.tags.optimizer)
        )
        self.compilations = Compilations(self.position, self.cannot_observe)
        self.origin = _ranks.origin()
        self.missing: list[str] = []  # what cannot be observed
        self.state = BEFORE
        self.records_scopes = False
        self.windows = Windows(setting)
        self.later = LaterSteps()
        self.profilers = 0  # of torch that are active
        self.stop = bool(setting["stop"])
        # Its attribute tracing_context is set while torch calls functions of the program to compile them.
        self.tracing = sys.modules["torch._guards"]._TLS  # type: ignore[attr-defined]
        # torch itself leaves None there. Without the attribute, each look at it would raise an exception.
        self.tracing.tracing_context = getattr(self.tracing, "tracing_context", None)
        self.graph_module = torch.fx.GraphModule

    def begin_process(self, start_ns: int) -> None:
        self.start_ns = start_ns
        self.thread = main_thread().ident
        number = getattr(self.torch.autograd, "_get_sequence_nr", lambda: 0)
        self.steps = Steps(self.step_begins, self.first_backward, self.may_train, self.revise, self.results, number)
        for name in CALLED_BY_PROGRAM:
            setattr(self, name, getattr(self.steps, name))
        self.has_steps = False  # the first one has begun
        self.seen = Seen()  # before the first step is complete
        self.counted = 0  # complete steps, but for those that _program has followed since it called
        self.miscounted = 0  # steps that are missing in the numbers of those of the pass, or too many if negative
        self.assumed = -1  # the last step that is an assumption
        self.steps_before = 0  # the program's number of the first step of the pass
        self.raised: BaseException | None = None  # by the function that multiprocessing called

    def watch(self) -> None:
        names = self.names
        _program.watch(self.thread, names.by_id, without_dynamo(names.add), self, self.tracing, self.graph_module)

    # Steps

    @property
    def count(self) -> int:
        """Complete steps."""
        return self.counted + _program.boundaries()

    def step_begins(self, reason: str | None) -> None:
        had_steps, self.has_steps = self.has_steps, True
        if reason is not None:
            self.counted += 1
            if self.state == DURING and not had_steps:
                _program.next_step()  # what was before the first step, which was not seen to begin, is one of its own
        _program.follow(self.steps_to_follow(reason))

    def steps_to_follow(self, reason: str | None) -> int:
        """A step has begun. Returns in how many steps from here nothing is to be done at a boundary."""
        if self.state == DURING:
            if self.compilations.rows:
                self.compilations.deliver()
            if not _program.next_step():
                self.end_observation()
        if self.state == BEFORE and self.membership.rank is not None:
            left = self.windows.left(self.counted)
            if left > 0:
                return left - 1
            self.steps_before = self.counted
            if not self.connect():
                self.rejected()
        if self.state == _AFTER:
            self.later.step_begins()
        if self.state != DURING:
            return 0
        if reason is not None and reason.startswith("assumed"):
            self.assume(reason)
        return 0 if self.records_scopes or self.tags.wanted else sys.maxsize

    def take_over(self, state_number: int, boundaries: int) -> None:
        """_program has reached this state of the steps, so many boundaries after the last one here."""
        self.counted += boundaries
        self.steps.take_over(state_number, boundaries)

    def assume(self, reason: str) -> None:
        """Stores once why the current step is an assumption."""
        if self.assumed != self.count:
            self.assumed = self.count
            _program.metric(_program.PER_STEP, "assumed_step_boundary", reason)

    def revise(self, difference: int, reason: str) -> None:
        """The current step is an assumption, and the number of steps so far was another one."""
        if self.state == BEFORE:
            self.counted += difference
            self.compilations.are_not_after(self.counted)
        elif self.state == DURING:
            self.assume(reason)
            if difference:
                self.miscounted += difference
                _program.final_metric("not_observed", miscount_text(self.miscounted))

    def may_train(self, module: Any) -> bool:
        return bool(module.training and self.torch.is_grad_enabled())

    def first_backward(self) -> None:
        """The program trains: the calls before were no steps of their own, but part of the first one."""
        if self.state == _UNOBSERVED or self.membership.rank is None:
            self.trains_unobserved()
        calls, self.counted = self.counted, 0
        if self.state == BEFORE:
            self.compilations.are_in_step(0)
            return
        if not calls:
            return
        if self.state == DURING:
            self.counted = calls
            self.cannot_observe(inference_text("the first step of the training", calls))
        elif self.state == _AFTER:
            _note(self.setting["notes"], f"unobserved {self.membership.rank} {inference_text('the training', calls)}")

    def connect(self) -> bool:
        self.state = DURING
        self.windows.begin()
        setting = self.setting
        begun = _program.begin(
            os.path.join(_LIBRARY, "libkymo_engine.so"),
            os.path.dirname(os.path.dirname(_LIBRARY)),
            setting["address"],
            self.membership.rank,
            self.membership.ranks,
            setting["token"],
            self.start_ns,
            setting["workload"],
            str(self.torch.__version__),
            self.windows.has_more(),
        )
        _program.metric(_program.PER_RUN, "first_step", float(self.steps_before))
        _program.metric(_program.PER_RUN, "torch_version", str(self.torch.__version__))
        if self.profilers:
            self.profiler_seen()
        self.records_scopes = _program.wants_scopes()
        self.tags.wanted = _program.wants_tags()
        self.compilations.deliver()
        for what in self.missing:
            self.cannot_observe(what)
        return begun

    def cannot_observe(self, what: str) -> None:
        """Stores what this version of torch does not let kymo observe."""
        if self.state == BEFORE:
            self.missing.append(what)
        else:
            _program.metric(_program.PER_RUN, "not_observed", what)

    def position(self) -> tuple[int, int]:
        """The current step of the pass and of the program; -1 before the first one."""
        step = self.count if self.steps.begun else -1
        return -1 if self.state == BEFORE else step - self.steps_before, step

    def rejected(self) -> None:
        """The supervisor observes another process instead of this one."""
        self.records_scopes = self.tags.wanted = False
        self.compilations.end()
        self.names.by_id.clear()
        if _ranks.is_rank(self.setting, self.membership):  # it has a warning of its own
            self.unfollow()
            return
        self.state = _UNOBSERVED
        if self.steps.propagated:
            self.trains_unobserved()

    def trains_unobserved(self) -> None:
        _note(self.setting["notes"], f"trained {os.getpid()} {self.origin} {_ranks.command()}")
        if self.state == _UNOBSERVED:  # nothing else is to be known
            self.unfollow()

    def end_observation(self) -> None:
        """The pass is complete: the program continues, until its next window or with only the times of its steps
        taken."""
        self.records_scopes = self.tags.wanted = False
        if _program.paused():
            self.state = BEFORE
            self.miscounted = 0
            return
        self.state = _AFTER
        self.names.by_id.clear()
        self.compilations.end()
        if not _program.recorded():  # the program goes on as without kymo
            self.unfollow()
            return
        if self.stop:
            self.unfollow()
            raise SystemExit(0)

    def unfollow(self) -> None:
        self.state = NOTHING
        self.tags.wanted = False
        _program.unwatch()

    # Profilers of the program

    def profiler_begins(self) -> None:
        self.profilers += 1
        if self.state == DURING:
            self.profiler_seen()

    def profiler_ends(self) -> None:
        self.profilers -= 1

    def profiler_seen(self) -> None:
        _program.metric(_program.PER_RUN, "other_profiler", "torch.profiler")

    # Events, of which _program passes those on whose outcome it does not know.

    def root_begins(self, module: Any) -> bool:
        """Called for modules that no other module calls. False if the call is not one of the program's own."""
        if self.steps.backward and isinstance(module, self.graph_module):  # what Dynamo has compiled
            return False
        if isinstance(module, CompiledFunction) and self.steps.is_in_optimizer():
            return False  # a part of the optimizer
        try:
            if not self.counted:
                self.seen.call(module.training, self.torch.is_grad_enabled())
            self.steps.root_begins(module)
            if isinstance(module, CompiledFunction):
                self.names.root = None  # the modules that it calls are those of their own
                return True
            if self.records_scopes:
                self.names.set_root(module)
            if self.tags.wanted:
                self.tags.root(module)
        except SystemExit:
            raise
        except Exception as error:
            self.fail(error)
        return True

    def backward_begins(self) -> bool:
        self.seen.backward += not self.counted
        return self.steps.backward_begins()

    def returns_gradients(self, again: bool, inputs: Any) -> None:
        """The backward pass that has begun returns the gradients of these inputs; `again`: they are differentiated
        again."""
        if get_ident() == self.thread:
            self.steps.returns_gradients(again, (inputs,) if isinstance(inputs, self.torch.Tensor) else inputs)

    def backward_ends(self, in_phase: bool) -> None:
        if in_phase and self.tags.wanted:
            self.tags.gradients()
        self.steps.backward_ends(in_phase)

    def optimizer_ends(self, optimizer: Any) -> None:
        self.seen.optimizer_steps += not self.counted
        self.steps.optimizer_ends(optimizer)
        if self.tags.wanted:
            self.tags.optimizer(optimizer)

    def fail(self, error: Exception) -> None:
        """An error of kymo must not become one of the program."""
        self.unfollow()
        _program.end(_program.FAILED, f"kymo: {type(error).__name__}: {error}")
        _note(self.setting["notes"], f"error {type(error).__name__}: {error}")

    # The process

    def disarm(self) -> None:
        """This process is not to be observed."""
        self.membership = Membership(None, 0, False)
        self.unfollow()
        self.compilations.end()
        _program.disarm()

    def end(self, status: int = _program.OK, message: str = "") -> None:
        if self.state == _AFTER and self.later.count:
            _note(self.setting["notes"], f"later {self.membership.rank} {self.later.count} {self.later.median_ns()}")
        self.unfollow()
        self.compilations.deliver()
        self.compilations.end()
        _program.end(status, message)

    def begin_early(self) -> None:
        """Begins the pass before the program creates its modules, as a step of its own that ends at the first root
        call."""
        self.steps_before = self.count if self.steps.begun else -1
        if not self.connect():
            self.rejected()

    def joined(self, rank: int, ranks: int) -> None:
        """This process is a rank of the program's process group."""
        if not self.membership.joins:
            return
        if self.steps.propagated and self.membership.rank is None:
            _note(self.setting["notes"], f"joined {os.getpid()}")
        if self.state != BEFORE:
            if ranks > 1:
                _note(self.setting["notes"], f"error {_ranks.TOO_LATE}")
                if self.state == _UNOBSERVED:
                    self.unfollow()
            return
        self.membership = _ranks.membership_of_rank(self.setting, rank, ranks)
        if self.membership.rank is None:
            self.disarm()
        elif self.setting["early"]:
            self.begin_early()
            self.cannot_observe("memory that was allocated before the process became a rank")

    def forked(self) -> None:
        """In a fork of this process, which may become a rank of its own."""
        joins, is_begun = self.membership.joins, self.windows.count > 0 or self.state != BEFORE
        if is_begun or not joins:
            self.disarm()
        self.unfollow()
        self.origin = _ranks.FORKED
        self.membership = Membership(None, 0, joins)
        self.compilations.rows.clear()
        self.begin_process(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))
        self.state = _UNOBSERVED if is_begun or not joins else BEFORE
        self.watch()

    def at_exit(self) -> None:
        self.finish(getattr(sys, "last_value", None) or self.raised)

    def finish(self, error: BaseException | None) -> None:
        """The program ends, or the part of it that is observed, with this exception."""
        if self.steps.begun and self.membership.rank is not None:
            self.note_steps(error)
        if error is None:
            self.end()
            return
        status = _program.OUT_OF_MEMORY if _exceptions.is_out_of_memory(error) else _program.FAILED
        self.end(status, _exceptions.describe(error, self.script))

    def replaced(self, arguments: Any) -> None:
        """Another program is about to take the place of this one, in the same process."""
        if self.state == DURING:
            words = shlex.join(map(os.fsdecode, arguments))
            _note(self.setting["notes"], f"replaced {os.getpid()} {_exceptions.shortened(words)}")
        self.at_exit()

    def note_steps(self, uncaught: BaseException | None) -> None:
        """What the supervisor is to know of the steps of a process that ends before those to observe."""
        if self.state == BEFORE:
            _note(self.setting["notes"], f"steps {self.count}")
            is_unobserved = self.windows.count == 0 and not _ranks.is_rank(self.setting, self.membership)
            if self.count and self.steps.propagated and is_unobserved:
                self.trains_unobserved()
        if self.state in (BEFORE, DURING) and not self.count and uncaught is None:
            _note(self.setting["notes"], f"unstepped {self.seen.why_no_step(self.steps.has_optimizer)}")
