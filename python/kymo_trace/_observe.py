# SPDX-License-Identifier: Apache-2.0
"""Observes the program of this process.

Functions of torch are replaced by functions that call the originals, and do nothing else while Dynamo traces.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from threading import get_ident, main_thread
from typing import Any

from . import _exceptions, _program, _ranks, append_to_log
from ._activity import ActivityCounts, inference_text, miscount_text
from ._compilation import Compilations
from ._discarded import DiscardedResults
from ._functions import CompiledFunction
from ._later_steps import LaterSteps
from ._memory import Tags
from ._names import Names
from ._ranks import Membership
from ._replacement import without_dynamo
from ._steps import CALLED_BY_PROGRAM, Steps
from ._windows import Windows

# The state of the observation: before, in and after the pass; of a process that is not observed, whether it trains.
BEFORE, DURING, _AFTER, _UNOBSERVED, INACTIVE = range(5)

_LIBRARY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # lib/kymo


class Observation:
    """The observation of this process, from the import of torch to the end of the process."""

    def __init__(self, setting: dict[str, Any], membership: Membership, start_ns: int, torch: Any) -> None:
        self.setting = setting
        self.membership = membership
        self.torch = torch
        self.names = Names(torch)
        self.results = DiscardedResults()
        self.script = getattr(sys.modules["__main__"], "__file__", None) or ""  # Python deletes it before it ends
        self.begin_process(start_ns)
        self.tags = Tags(torch, self.report_unobservable)
        self.compilations = Compilations(self.position, self.report_unobservable)
        self.origin = _ranks.origin()
        self.missing: list[str] = []  # parts that cannot be observed
        self.state = BEFORE
        self.records_scopes = False
        self.windows = Windows(setting)
        self.later = LaterSteps()
        self.profilers = 0  # active profilers of torch
        self.stop = bool(setting["stop"])
        # Its attribute tracing_context is set while torch calls functions of the program to compile them.
        self.tracing = sys.modules["torch._guards"]._TLS  # type: ignore[attr-defined]
        # Without the attribute, each read would raise an exception. torch itself resets it to None.
        self.tracing.tracing_context = getattr(self.tracing, "tracing_context", None)
        self.graph_module = torch.fx.GraphModule

    def begin_process(self, start_ns: int) -> None:
        self.start_ns = start_ns
        self.thread = main_thread().ident
        number = getattr(self.torch.autograd, "_get_sequence_nr", lambda: 0)
        self.steps = Steps(self.step_begins, self.first_backward, self.may_train, self.revise, self.results, number)
        for name in CALLED_BY_PROGRAM:
            setattr(self, name, getattr(self.steps, name))
        self.has_steps = False  # the first step has begun
        self.activity = ActivityCounts()  # before the first step is complete
        self.counted = 0  # complete steps, without those that _program has counted since its last call
        self.miscounted = 0  # correction of the step numbers of the pass; negative: too many were counted
        self.assumed = -1  # the last step with an assumed boundary
        self.steps_before = 0  # complete steps of the program before the pass
        self.raised: BaseException | None = None  # by the function that multiprocessing called

    def watch(self) -> None:
        names = self.names
        _program.watch(self.thread, names.by_id, without_dynamo(names.add), self, self.tracing, self.graph_module)

    def log(self, line: str) -> None:
        append_to_log(self.setting["log"], line)

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
                _program.next_step()  # the part before the first observed step becomes a step of its own
        _program.follow(self.steps_to_follow(reason))

    def steps_to_follow(self, reason: str | None) -> int:
        """Called when a step has begun. Returns the number of steps at whose boundaries nothing has to be done."""
        self.tags.step_begins()
        if self.state == DURING:
            if self.compilations.rows:
                self.compilations.deliver()
            if not _program.next_step():
                self.end_observation()
        if self.state == BEFORE and self.membership.rank is not None:
            remaining = self.windows.steps_until_next(self.counted)
            if remaining > 0:
                return remaining - 1
            self.steps_before = self.counted
            if not self.connect():
                self.rejected()
        if self.state == _AFTER:
            self.later.step_begins()
        if self.state != DURING:
            return 0
        if reason is not None and reason.startswith("assumed"):
            self.assume(reason)
        return 0 if self.records_scopes or self.tags.enabled else sys.maxsize

    def take_over(self, state_number: int, boundaries: int) -> None:
        """Called by _program: see Steps.take_over()."""
        self.counted += boundaries
        self.steps.take_over(state_number, boundaries)

    def assume(self, reason: str) -> None:
        """Stores the reason of an assumed boundary, once per step."""
        if self.assumed != self.count:
            self.assumed = self.count
            _program.metric(_program.PER_STEP, "assumed_step_boundary", reason)

    def revise(self, difference: int, reason: str) -> None:
        """Corrects the number of steps by `difference`; the boundary of the current step is an assumption."""
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
        """Called when the program turns out to train: the calls so far become part of the first step."""
        if self.state == _UNOBSERVED or self.membership.rank is None:
            self.report_unobserved_training()
        calls, self.counted = self.counted, 0
        if self.state == BEFORE:
            self.compilations.are_in_step(0)
            return
        if not calls:
            return
        if self.state == DURING:
            self.counted = calls
            self.report_unobservable(inference_text("the first step of the training", calls))
        elif self.state == _AFTER:
            self.log(f"unobserved {self.membership.rank} {inference_text('the training', calls)}")

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
            self.report_profiler()
        self.records_scopes = _program.records_scopes()
        self.tags.enabled = _program.records_tags()
        self.compilations.deliver()
        for part in self.missing:
            self.report_unobservable(part)
        return begun

    def report_unobservable(self, part: str) -> None:
        """Stores that a part of the program cannot be observed, for example in this version of torch."""
        if self.state == BEFORE:
            self.missing.append(part)
        else:
            _program.metric(_program.PER_RUN, "not_observed", part)

    def position(self) -> tuple[int, int]:
        """The current step of the pass and of the program; -1 before the first one."""
        step = self.count if self.steps.begun else -1
        return -1 if self.state == BEFORE else step - self.steps_before, step

    def rejected(self) -> None:
        """Called if the supervisor observes another process instead of this one."""
        self.records_scopes = self.tags.enabled = False
        self.compilations.end()
        self.names.by_id.clear()
        if _ranks.is_rank(self.setting, self.membership):  # the supervisor reports rejected ranks itself
            self.stop_observing()
            return
        self.state = _UNOBSERVED
        if self.steps.propagated:
            self.report_unobserved_training()

    def report_unobserved_training(self) -> None:
        self.log(f"trained {os.getpid()} {self.origin} {_ranks.command()}")
        if self.state == _UNOBSERVED:  # nothing else to report
            self.stop_observing()

    def end_observation(self) -> None:
        """Called when the pass is complete: the program continues until its next window, or with only its steps
        timed."""
        self.records_scopes = self.tags.enabled = False
        if _program.paused():
            self.state = BEFORE
            self.miscounted = 0
            return
        self.state = _AFTER
        self.names.by_id.clear()
        self.compilations.end()
        if not _program.recorded():
            self.stop_observing()
            return
        if self.stop:
            self.stop_observing()
            raise SystemExit(0)

    def stop_observing(self) -> None:
        self.state = INACTIVE
        self.tags.enabled = False
        _program.unwatch()

    # Profilers of the program

    def profiler_begins(self) -> None:
        self.profilers += 1
        if self.state == DURING:
            self.report_profiler()

    def profiler_ends(self) -> None:
        self.profilers -= 1

    def report_profiler(self) -> None:
        _program.metric(_program.PER_RUN, "other_profiler", "torch.profiler")

    # Events that _program passes on because it has not memoized their effects

    def root_begins(self, module: Any) -> bool:
        """Called for modules that no other module calls. False if the program itself did not make the call."""
        if self.steps.backward and isinstance(module, self.graph_module):  # compiled by Dynamo
            return False
        if isinstance(module, CompiledFunction) and self.steps.is_in_optimizer():
            return False  # a part of the optimizer
        try:
            if not self.counted:
                self.activity.call(module.training, self.torch.is_grad_enabled())
            self.steps.root_begins(module)
            if isinstance(module, CompiledFunction):
                self.names.root = None  # each module that it calls is a root
                return True
            if self.records_scopes:
                self.names.set_root(module)
            if not self.steps.backward:  # otherwise, FSDP may have gathered the parameters
                self.tags.root(module)
        except SystemExit:
            raise
        except Exception as error:
            self.fail(error)
        return True

    def backward_begins(self) -> bool:
        self.activity.backward += not self.counted
        return self.steps.backward_begins()

    def returns_gradients(self, again: bool, inputs: Any) -> None:
        """Called when the current backward pass returns the gradients of `inputs`; `again`: these are differentiated
        again."""
        if get_ident() == self.thread:
            self.steps.returns_gradients(again, (inputs,) if isinstance(inputs, self.torch.Tensor) else inputs)

    def backward_ends(self, in_phase: bool) -> None:
        if in_phase:
            self.tags.gradients()
        self.steps.backward_ends(in_phase)

    def optimizer_ends(self, optimizer: Any) -> None:
        self.activity.optimizer_steps += not self.counted
        self.steps.optimizer_ends(optimizer)
        self.tags.optimizer(optimizer)

    def fail(self, error: Exception) -> None:
        """Ends the observation with an error of kymo, which the program must not notice."""
        self.stop_observing()
        _program.end(_program.FAILED, f"kymo: {type(error).__name__}: {error}")
        self.log(f"error {type(error).__name__}: {error}")

    # The process

    def disarm(self) -> None:
        """Called in a process that must not be observed."""
        self.membership = Membership(None, 0, False)
        self.stop_observing()
        self.compilations.end()
        _program.disarm()

    def end(self, status: int = _program.OK, message: str = "") -> None:
        if self.state == _AFTER and self.later.count:
            self.log(f"later {self.membership.rank} {self.later.count} {self.later.median_ns()}")
        self.stop_observing()
        self.compilations.deliver()
        self.compilations.end()
        _program.end(status, message)

    def begin_early(self) -> None:
        """Begins the pass before the program creates its modules. The part until the first root call is a step of its
        own."""
        self.steps_before = self.count if self.steps.begun else -1
        if not self.connect():
            self.rejected()

    def joined(self, rank: int, ranks: int) -> None:
        """Called when this process has become a rank of the program's process group."""
        if not self.membership.joins:
            return
        if self.steps.propagated and self.membership.rank is None:
            self.log(f"joined {os.getpid()}")
        if self.state != BEFORE:
            if ranks > 1:
                self.log(f"error {_ranks.TOO_LATE}")
                if self.state == _UNOBSERVED:
                    self.stop_observing()
            return
        self.membership = _ranks.membership_of_rank(self.setting, rank, ranks)
        if self.membership.rank is None:
            self.disarm()
        elif self.setting["early"]:
            self.begin_early()
            self.report_unobservable("memory that was allocated before the process became a rank")

    def forked(self) -> None:
        """Called in a fork of this process, which may become a rank itself."""
        joins, is_begun = self.membership.joins, self.windows.count > 0 or self.state != BEFORE
        if is_begun or not joins:
            self.disarm()
        self.stop_observing()
        self.origin = _ranks.FORKED
        self.membership = Membership(None, 0, joins)
        self.compilations.rows.clear()
        self.begin_process(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))
        self.state = _UNOBSERVED if is_begun or not joins else BEFORE
        self.watch()

    def at_exit(self) -> None:
        self.finish(getattr(sys, "last_value", None) or self.raised)

    def finish(self, error: BaseException | None) -> None:
        """Called when the program, or its observed part, ends; `error`: with this exception."""
        if self.steps.begun and self.membership.rank is not None:
            self.report_steps(error)
        if error is None:
            self.end()
            return
        status = _program.OUT_OF_MEMORY if _exceptions.is_out_of_memory(error) else _program.FAILED
        self.end(status, _exceptions.describe(error, self.script))

    def replaced(self, arguments: Any) -> None:
        """Called before another program replaces this one in the same process (exec)."""
        if self.state == DURING:
            words = shlex.join(map(os.fsdecode, arguments))
            self.log(f"replaced {os.getpid()} {_exceptions.shortened(words)}")
        self.at_exit()

    def report_steps(self, uncaught: BaseException | None) -> None:
        """Reports the steps of a process that ends before the steps to observe."""
        if self.state == BEFORE:
            self.log(f"steps {self.count}")
            is_unobserved = self.windows.count == 0 and not _ranks.is_rank(self.setting, self.membership)
            if self.count and self.steps.propagated and is_unobserved:
                self.report_unobserved_training()
        if self.state in (BEFORE, DURING) and not self.count and uncaught is None:
            self.log(f"unstepped {self.activity.explain_missing_step(self.steps.has_optimizer)}")
