# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any, final

def serve(
    engine: str,
    root: str,
    address: str,
    rank: int,
    token: str,
    process_start_ns: int,
    load: Callable[[str, str], tuple[str, tuple[Any, ...]]],
    report: Callable[[BaseException], tuple[int, str]],
    flush: Callable[[], object],
    /,
) -> int: ...

class _Region:
    def __enter__(self) -> Any: ...
    def __exit__(self, *exception: object) -> bool: ...

@final
class Phase(_Region):
    @property
    def name(self) -> str: ...

@final
class Scope(_Region): ...

@final
class Collective(_Region): ...

@final
class Run:
    rank: int
    world_size: int
    local_rank: int
    device: str
    device_index: int
    on_meta: bool
    rendezvous_host: str
    rendezvous_port: int
    seed: int
    cancelled: bool
    records_tags: bool
    def phase(self, name: str, stream: Any = None) -> Phase: ...
    def scope(self, name: str, /) -> Scope: ...
    def collective(
        self, operation: int, bytes: int, stream: Any, communicator: str | None, sequence: int | None, /
    ) -> Collective: ...
    def work(self, phase: str, flops: float, bytes: float, /) -> None: ...
    def metric(self, level: int, name: str, value: float | str, unit: str, /) -> None: ...
    def mark(self, name: str, /) -> None: ...
    def tag(self, address: int, bytes: int, category: int, /) -> None: ...
    def log(self, level: int, message: str, /) -> None: ...
    def all_gather_bytes(self, mine: bytes, /) -> bytes: ...
    def parameter(self, name: str, /) -> Any: ...

ABI_MAJOR: int
ABI_MINOR: int
INT: int
REAL: int
BOOL: int
TEXT: int
CHOICE: int
CPU: int
CUDA: int
PER_RUN: int
PER_STEP: int
PER_PHASE: int
LOG_DEBUG: int
LOG_INFO: int
LOG_WARNING: int
LOG_ERROR: int
MEMORY_CATEGORIES: dict[str, int]
ALL_REDUCE: int
REDUCE_SCATTER: int
ALL_GATHER: int
BROADCAST: int
BARRIER: int
CHECK_PASSED: int
CHECK_FAILED: int
CHECK_UNAVAILABLE: int
FAILED: int
OUT_OF_MEMORY: int
SKIPPED: int
STEP_IS_ASYNCHRONOUS: int
