# SPDX-License-Identifier: Apache-2.0
"""The run that kymo passes to the functions of a workload."""

from __future__ import annotations

import contextlib
import pickle
import socket
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from . import _engine
from ._errors import Skip

if TYPE_CHECKING:
    import torch

_PER = {"run": _engine.PER_RUN, "step": _engine.PER_STEP, "phase": _engine.PER_PHASE}
_LEVELS = {
    "debug": _engine.LOG_DEBUG,
    "info": _engine.LOG_INFO,
    "warning": _engine.LOG_WARNING,
    "error": _engine.LOG_ERROR,
}
_OPERATIONS = {
    "all_reduce": _engine.ALL_REDUCE,
    "reduce_scatter": _engine.REDUCE_SCATTER,
    "all_gather": _engine.ALL_GATHER,
    "broadcast": _engine.BROADCAST,
    "barrier": _engine.BARRIER,
}
_JOIN_TIMEOUT_S = 300


def _code(codes: Mapping[str, int], key: str, what: str) -> int:
    """Returns the number of a word in the C interface. Raises ValueError for other words."""
    if key not in codes:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, codes))}, not {key!r}")
    return codes[key]


class Rendezvous(NamedTuple):
    """Address at which rank 0 of a run listens and the other ranks connect. The port is 0 for a single rank."""

    host: str
    port: int


class Run:
    """The host interface of a workload: parameters, rank, device, and functions that report to kymo.

    A function may be called only on the thread that runs the workload, unless it is documented for any thread. After
    the workload was destroyed, all functions raise RuntimeError.
    """

    rank: int
    """Rank of this process."""
    world_size: int
    """Number of ranks."""
    local_rank: int
    """Index among the ranks on this host."""
    device: str
    """Device of this rank as torch names it: "cpu", "cuda:0"."""
    device_index: int
    """Index of the CUDA device in this process; 0 on a CPU."""
    has_values: bool
    """False in the pass predict, where the step is not computed: tensors have shapes and no values."""
    seed: int
    """Random seed of the run, identical on all ranks."""
    rendezvous: Rendezvous
    """Address at which the ranks connect to each other."""
    parameters: dict[str, Any]
    """Values of the parameters by name."""

    def __init__(self, engine: _engine.Run, parameters: dict[str, Any]) -> None:
        """Created by kymo."""
        self._engine = engine
        self.rank, self.world_size, self.local_rank = engine.rank, engine.world_size, engine.local_rank
        self.device_index, self.seed = engine.device_index, engine.seed
        self.has_values = not engine.on_meta
        self._is_cuda = engine.device == "cuda" and self.has_values  # the device of a prediction need not exist
        self.device = f"cuda:{self.device_index}" if self._is_cuda else "cpu"
        self.rendezvous = Rendezvous(engine.rendezvous_host, engine.rendezvous_port)
        self.parameters = parameters
        self._at_end: list[Callable[[], object]] = []
        # Called in timed code, so without a Python frame around them.
        self.scope = engine.scope  # type: ignore[assignment, method-assign]
        self.mark = engine.mark  # type: ignore[assignment, method-assign]
        if not self._is_cuda:
            self.phase = engine.phase  # type: ignore[method-assign]

    def phase(self, name: str, stream: torch.cuda.Stream | int | None = None) -> _engine.Phase:
        """Returns a phase for `with` in step(). Create it in prepare(), and enter it in each step.

        `stream`, a torch.cuda.Stream or the handle of a CUDA stream, is the one that the work of the phase is queued
        on. By default it is the stream that is current in torch when the phase is created. Phases do not nest.
        """
        return self._engine.phase(name, self._current_stream() if stream is None else stream)

    def scope(self, name: str) -> _engine.Scope:
        """Returns a named region for `with`. Scopes nest. Any thread. In passes that do not record scopes, a scope does
        nothing."""
        return self._engine.scope(name)

    def mark(self, name: str) -> None:
        """Marks the current time on the memory timeline. Any thread."""
        self._engine.mark(name)

    def work(self, phase: str, flops: float = 0, bytes: float = 0) -> None:
        """Declares the floating-point operations and the bytes of memory traffic of one phase on this rank, per step.
        0 means not declared. Bytes that ranks send to each other are no memory traffic. Only in prepare()."""
        self._engine.work(phase, flops, bytes)

    def operator_work(self, name: str, flops: float, bytes: float, arguments: str = "") -> None:
        """Declares the floating-point operations and the bytes of memory traffic of one call of an operator, such as
        "mylib::scale", for operators that kymo has no rule for: of all calls, or of those with these arguments, which
        are written as in table op ("f32[4, 256] f32[256]"). Only in prepare()."""
        self._engine.operator_work(name, flops, bytes, arguments)

    def metric(self, name: str, value: float | str, unit: str = "", per: str = "run") -> None:
        """Records a workload-defined metric of the run, the current step or the current phase: `per` is "run", "step"
        or "phase". A textual value has no unit. Any thread."""
        if isinstance(value, str) and unit:
            raise ValueError(f"metric {name!r}: the textual value {value!r} cannot have the unit {unit!r}")
        self._engine.metric(_code(_PER, per, "per"), name, value, unit)

    def tag(self, tensor: torch.Tensor | None, category: str) -> None:
        """Sets the category of the memory of a tensor: "parameter", "gradient" or another one of the view
        memory_category, except "unknown". None is ignored. Any thread."""
        code = _code(_engine.MEMORY_CATEGORIES, category, "the category of a tensor")
        if tensor is None or not self._engine.records_tags:
            return
        local = getattr(tensor, "_local_tensor", tensor)  # of a DTensor
        if local.is_meta or not local.numel():
            return
        self._engine.tag(local.data_ptr(), local.numel() * local.element_size(), code)

    def tag_module(self, module: torch.nn.Module, optimizer: torch.optim.Optimizer | None = None) -> None:
        """Sets the categories of the parameters and buffers of a module, now, and of their gradients and of the
        optimizer's state whenever these are computed. In passes that do not record categories, it does nothing."""
        if not self._engine.records_tags:
            return
        for tensor in (*module.parameters(), *module.buffers()):
            self.tag(tensor, "parameter")
        hooks = [
            parameter.register_post_accumulate_grad_hook(lambda each: self.tag(each.grad, "gradient"))
            for parameter in module.parameters()
            if parameter.requires_grad
        ]
        if optimizer is not None:
            hooks.append(optimizer.register_step_post_hook(lambda each, *_: self._tag_state(each)))
            self._tag_state(optimizer)
        self._at_end += [hook.remove for hook in hooks]

    def _tag_state(self, optimizer: torch.optim.Optimizer) -> None:
        for state in optimizer.state.values():
            for value in state.values():
                if hasattr(value, "data_ptr"):
                    self.tag(value, "optimizer_state")

    def collective(
        self,
        operation: str,
        payload: torch.Tensor | int,
        stream: torch.cuda.Stream | int | None = None,
        communicator: str | None = None,
        sequence: int | None = None,
    ) -> _engine.Collective:
        """Returns a collective call for `with`: from its begin until its work is queued on `stream`, or complete.

        `operation` is "all_reduce", "reduce_scatter", "all_gather", "broadcast" or "barrier", `payload` a tensor or a
        number of bytes on this rank. For a CUDA tensor, the stream is torch's current one by default; otherwise, None
        means that the work runs on the host. `communicator` is a name that is identical on all of its ranks, needed
        only if there are several. `sequence` is the index of the call in its communicator, identical on all ranks; by
        default kymo counts the calls, which must then be made in the same order on all ranks, from one thread. Any
        thread.
        """
        code = _code(_OPERATIONS, operation, "a collective operation")
        count = payload
        if not isinstance(payload, int):
            count = payload.numel() * payload.element_size()
            if stream is None and payload.is_cuda:
                stream = self._current_stream()
        return self._engine.collective(code, count, stream, communicator, sequence)

    def all_gather(self, value: Any) -> list[Any]:
        """Returns the values of all ranks in rank order. Every rank must call it, with any picklable object. Do not
        call it in timed code. Raises RuntimeError if another rank cannot be reached."""
        if self.world_size == 1:
            return [value]
        mine = pickle.dumps(value)
        lengths = self._gather(len(mine).to_bytes(8, "little"))
        sizes = [int.from_bytes(each, "little") for each in lengths]
        parts = self._gather(mine.ljust(max(sizes), b"\0"))
        return [pickle.loads(part[:size]) for part, size in zip(parts, sizes, strict=True)]

    def _gather(self, mine: bytes) -> list[bytes]:
        gathered = self._engine.all_gather_bytes(mine)
        return [gathered[at : at + len(mine)] for at in range(0, len(gathered), len(mine))]

    def init_process_group(self, backend: str | None = None, **options: Any) -> None:
        """Initializes torch.distributed for the ranks of the run, also for a single one. It ends with the workload.

        The backend is "nccl" on CUDA and "gloo" on a CPU by default. `options` are further arguments of
        torch.distributed.init_process_group, such as timeout. Raises RuntimeError if a rank does not join. Skips the
        prediction of several ranks, which one process makes.
        """
        if self.world_size > 1 and not self.has_values:
            self.skip("the memory of workloads in Python is predicted for one rank only")
        import torch.distributed as dist

        store = self._store(dist)
        chosen = backend or ("nccl" if self._is_cuda else "gloo")
        dist.init_process_group(chosen, store=store, rank=self.rank, world_size=self.world_size, **options)
        self._at_end.append(lambda: dist.is_initialized() and dist.destroy_process_group())

    def _store(self, dist: Any) -> Any:
        if self.world_size == 1:
            return dist.HashStore()
        # Passes that follow in this process use the same address, and other ranks may still need the server.
        if self.rendezvous not in _stores:
            if self.rank:
                self._await_rank_0()
            _stores.clear()
            host, port = self.rendezvous
            store = dist.TCPStore(host, port, self.world_size, self.rank == 0, wait_for_workers=False)
            _stores[self.rendezvous] = [store, 0]
        entry = _stores[self.rendezvous]
        entry[1] += 1
        return dist.PrefixStore(f"kymo/{entry[1]}", entry[0])

    def _await_rank_0(self) -> None:
        """Waits until rank 0 listens: torch's own client sleeps for seconds between attempts."""
        end = time.monotonic() + _JOIN_TIMEOUT_S
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(self.rendezvous, timeout=1).close()
                return
            if self.cancelled or time.monotonic() > end:
                raise RuntimeError(
                    f"rank 0 of {self.world_size} does not respond at {':'.join(map(str, self.rendezvous))}"
                )
            time.sleep(0.02)

    def log(self, message: str, level: str = "info") -> None:
        """Writes a line to the log of the run. `level` is "debug", "info", "warning" or "error". Any thread."""
        self._engine.log(_code(_LEVELS, level, "level"), message)

    def skip(self, reason: str) -> NoReturn:
        """Ends the run as `skipped`, because the case is not applicable, by raising kymo.Skip. Outside of phases."""
        raise Skip(reason)

    @property
    def cancelled(self) -> bool:
        """True if the run is being cancelled; the workload should then return promptly. Any thread."""
        return self._engine.cancelled

    def _current_stream(self) -> Any:
        torch = sys.modules.get("torch")
        return torch.cuda.current_stream(self.device_index) if torch and self._is_cuda else None

    def _end(self) -> None:
        """Calls the clean-up functions in reverse order."""
        while self._at_end:
            self._at_end.pop()()


_stores: dict[Rendezvous, list[Any]] = {}
