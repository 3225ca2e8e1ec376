# SPDX-License-Identifier: Apache-2.0
"""torch.compile in workloads: compile before the first timed step, and report what compiling cost.

    self.function = compiled.compile(run, function, self.compile)  # in prepare
    # Calls the function as a step does. self.check() in before_step() raises if a step compiled again.
    self.check = compiled.warm_up(run, self.compile, self.cached, call)

Importing this module does not import torch."""

from __future__ import annotations

import contextlib
import os
import shutil
import sysconfig
import tempfile
import time
import types

from ._parameters import Bool, Choice

MODES = ("none", "default", "reduce-overhead", "max-autotune-no-cudagraphs")


def mode_parameter(note=""):
    """The parameter for the mode of torch.compile. `note` is added to its documentation."""
    doc = f"mode of torch.compile; none runs the same module eagerly{note}"
    return Choice("default", MODES, axis=MODES, title="compile={}", title_at_default=True, doc=doc)


def cached_parameter():
    """The parameter that decides whether code of earlier processes is used."""
    return Bool(
        False,
        doc="reuse code that earlier processes compiled; otherwise every process compiles all of it, so that compile_s "
        "is the full cost",
    )


# The first call compiles, and with CUDA graphs the second warms up and the third records.
_COMPILING_CALLS = 3


def compile(run, function, mode):
    """`function` compiled for fixed shapes; `function` itself for mode none. Compilation happens on the first call: see
    warm_up(). Skips the run where torch.compile cannot work."""
    if mode not in MODES:
        raise ValueError(f"unknown mode '{mode}' of torch.compile: expected one of {', '.join(MODES)}")
    if mode == "none":
        return function
    reason = why_unavailable(run.device, mode) if run.has_values else ""
    if reason:
        run.skip(f"compile={mode} is not supported: {reason}")
    import torch

    # A worker may have compiled the same function for an earlier run, in another shape.
    torch.compiler.reset()
    return torch.compile(function, mode=mode, dynamic=False)


def why_unavailable(device, mode):
    """Why torch.compile does not work with a device; empty if it does."""
    if device == "cpu":
        if mode == "reduce-overhead":
            return "CUDA graphs require device=cuda"
        from torch._inductor.cpp_builder import get_cpp_compiler
        from torch._inductor.exc import InvalidCxxCompiler

        try:
            get_cpp_compiler()
        except InvalidCxxCompiler:
            return "on a CPU it needs a C++ compiler; install g++, or name one in the environment variable CXX"
        header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
        if not os.path.exists(header):
            return f"on a CPU it needs Python's header {header}; install the development package of Python"
        return ""
    try:
        import triton  # noqa: F401
    except ImportError:
        return "on a GPU it needs Triton, which is not installed (pip install triton)"
    if not (os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")):
        return "Triton needs a C compiler; install gcc, or name one in the environment variable CC"
    return ""


def warm_up(run, mode, cached, call):
    """Calls `call`, which runs the compiled function and its gradient as a step does, until everything is compiled.
    Reports the metrics compile_s, compiled_frames, compiled_graphs, graph_breaks, recompilations and
    recompile_limit_hits. Returns a function that raises RuntimeError if anything was compiled since, because steps
    would contain that time. Does nothing for mode none."""
    if mode == "none":
        return lambda: None
    if not run.has_values:
        call()
        return lambda: None
    from torch._dynamo import utils
    from torch._inductor.async_compile import shutdown_compile_workers

    utils.counters.clear()
    utils.clear_compilation_metrics()
    if run.device == "cpu":
        _find_vector_instructions()
    with contextlib.nullcontext() if cached else _empty_cache():
        seconds = _timed(run, call, _COMPILING_CALLS)
        # Subtract the fastest of several calls: a call that other processes delay may take longer than the compilation.
        seconds -= _COMPILING_CALLS * min(_timed(run, call, 1) for _ in range(3))
        shutdown_compile_workers()  # idle processes
    run.metric("compile_s", max(seconds, 0.0), "s")
    for name, value in _counted(utils).items():
        run.metric(name, value)
    for reason, times in utils.counters["graph_break"].items():
        run.log(f"graph break ({times}): {reason}", "warning")
    frames = utils.counters["frames"]["total"]

    def check():
        if utils.counters["frames"]["total"] != frames:
            raise RuntimeError(
                "torch.compile compiled again during a step, whose time includes that; TORCH_LOGS=recompiles shows why"
            )

    return check


def _find_vector_instructions():
    """Inductor tries each set of vector instructions that the processor has: it compiles a small library, which it
    keeps, and loads it in a process that imports torch. This takes longer than a small compilation. Here, this process
    loads the libraries."""
    from torch._inductor import cpu_vec_isa

    def check_call(command, **options):
        exec(command[command.index("-c") + 1], {})

    before = cpu_vec_isa.subprocess
    cpu_vec_isa.subprocess = types.SimpleNamespace(check_call=check_call, DEVNULL=None)
    try:
        cpu_vec_isa.valid_vec_isa_list()  # keeps its result
    finally:
        cpu_vec_isa.subprocess = before


def _timed(run, call, calls):
    """The time of some calls, in seconds."""
    from . import tensors

    tensors.synchronize(run)
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    tensors.synchronize(run)
    return time.perf_counter() - begin


def _counted(utils):
    """The metrics of Dynamo since its counters were cleared."""
    frames = utils.get_compilation_metrics()
    breaks = utils.counters["graph_break"]
    limits = sum(times for reason, times in breaks.items() if "recompile limit" in reason)
    return {
        "compiled_frames": utils.counters["frames"]["ok"],
        "compiled_graphs": utils.counters["stats"]["unique_graphs"],
        "graph_breaks": sum(breaks.values()) - limits,
        "recompilations": sum(frame.recompile_reason is not None for frame in frames),
        "recompile_limit_hits": limits,
    }


@contextlib.contextmanager
def _empty_cache():
    """Lets Inductor and Triton use an empty cache folder, which is removed afterwards; loaded code stays in memory."""
    from torch._inductor.utils import clear_caches

    clear_caches()  # code that an earlier run loaded
    names = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
    before = {name: os.environ.get(name) for name in names}
    with tempfile.TemporaryDirectory(prefix="kymo-compile-", ignore_cleanup_errors=True) as folder:
        os.environ.update({name: os.path.join(folder, name) for name in names})
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
