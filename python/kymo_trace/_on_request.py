# SPDX-License-Identifier: Apache-2.0
"""Observes a part of this process at the request of the program: kymo.observe."""

from __future__ import annotations

import sys
from threading import get_ident, main_thread
from typing import Any

from . import _observe, _optimizers, _program, _ranks, _start
from ._later_steps import LaterSteps
from ._names import Names
from ._supported import check_interpreter
from ._windows import Windows

_observation: _observe.Observation | None = None  # the functions of torch are replaced once


def check() -> None:
    """Raises RuntimeError or Unsupported if this process cannot be observed from here."""
    check_interpreter()
    if get_ident() != main_thread().ident:
        raise RuntimeError("only steps of the main thread can be observed")
    if _observation is not None and _observation.state != _observe.INACTIVE:
        raise RuntimeError("an observation has begun and not ended")


def begin(setting: dict[str, Any], start_ns: int) -> _observe.Observation:
    """Requires check(). Raises RuntimeError in a process that is a part of another program."""
    global _observation
    optimizers = _optimizers.existing(sys.modules["torch"])
    if _observation is None:
        _observation = _start.start(setting, start_ns, optimizers)
        if _observation is None:
            raise RuntimeError("a process that multiprocessing has started cannot be observed")
    else:
        _begin_again(_observation, setting, start_ns)
    for optimizer in optimizers:
        _observation.steps.optimizer_created(optimizer)
    return _observation


def _begin_again(observation: _observe.Observation, setting: dict[str, Any], start_ns: int) -> None:
    observation.setting = setting
    observation.membership = _ranks.membership_at_start(setting)
    observation.windows = Windows(setting)
    observation.names = Names(observation.torch)
    observation.later = LaterSteps()
    observation.missing.clear()
    observation.compilations.active = True
    observation.begin_process(start_ns)
    observation.state = _observe.BEFORE
    observation.watch()


def _end_last_step(observation: _observe.Observation) -> None:
    """Completes the open step if an optimizer has stepped in it, because no further step marks its end."""
    if observation.state == _observe.DURING and observation.records_scopes and observation.steps.stepped_in_step:
        _program.next_step()


def end(observation: _observe.Observation, error: BaseException | None) -> None:
    """Ends the observation; the program continues. `error`: the exception that ended the observed part."""
    if error is None:
        _end_last_step(observation)
    observation.finish(error)
    _program.reset()
