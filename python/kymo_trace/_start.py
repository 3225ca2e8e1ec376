# SPDX-License-Identifier: Apache-2.0
"""Starts the observation of this process by replacing the functions of torch that it follows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from . import _calls, _loaders, _optimizers, _profilers, _ranges, _ranks, after_import
from ._functions import watch_functions
from ._kernels import Kernels
from ._memory import watch_fully_shard
from ._observe import INACTIVE, Observation
from ._process import watch_process
from ._replacement import skipped_frames


def _watch_compilations(observation: Observation) -> None:
    after_import("torch._dynamo.utils", observation.compilations.watch)
    kernels = Kernels(observation.report_unobservable)
    after_import("torch._inductor.debug", kernels.watch_generation)
    after_import("torch._inductor.output_code", kernels.watch_graphs)


def start(setting: dict[str, Any], start_ns: int, optimizers: Sequence[Any] = ()) -> Observation | None:
    """Starts the observation after the import of torch and the creation of these optimizers. Returns None if the
    process must not be observed. Raises Unsupported."""
    torch: Any = sys.modules["torch"]
    membership = _ranks.membership_at_start(setting)
    if membership.rank is None and not membership.joins:
        return None
    observation = Observation(setting, membership, start_ns, torch)
    skipped_frames.watch()
    skipped_frames.add(torch.compiler.is_dynamo_compiling)  # called by the replacements
    _calls.watch_modules(torch, observation.results)
    _calls.watch_backward(torch, observation.returns_gradients)
    # Look up the steps at each call, because a fork has new ones.
    _calls.watch_captures(torch, lambda: observation.steps.capture_begins(), lambda: observation.steps.capture_ends())
    _optimizers.watch(torch, lambda optimizer: observation.steps.optimizer_created(optimizer), optimizers)
    _loaders.watch(observation.disarm)
    _ranges.watch()
    _watch_compilations(observation)
    watch_functions(observation)
    watch_fully_shard(observation.tags)
    watch_process(observation)
    _ranks.watch(observation)
    _profilers.watch(observation.profiler_begins, observation.profiler_ends)
    if setting["early"] and membership.rank is not None and not _ranks.is_launcher():
        observation.begin_early()
    if observation.state != INACTIVE:
        observation.watch()
    return observation
