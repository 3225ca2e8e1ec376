# SPDX-License-Identifier: Apache-2.0
"""Calls of modules and backward passes, which _program observes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _program
from ._discarded import DiscardedResults
from ._replacement import in_place_of, skipped_frames
from ._supported import Unsupported


def watch_modules(torch: Any, results: DiscardedResults) -> None:
    """Replaces Module.__call__ and passes its return values to `results` while these are enabled. The original calls
    _wrapped_call_impl, which only chooses between two functions. The replacement chooses itself, because one more
    Python frame would be most of the cost of a call that is not a root call."""
    Module = torch.nn.Module
    original = Module.__call__
    if original.__code__.co_names != ("_compiled_call_impl", "_call_impl"):
        raise Unsupported("torch.nn.Module.__call__ is another function than kymo expects")
    compiling = torch.compiler.is_dynamo_compiling
    enter, leave = _program.enter, _program.leave

    def _wrapped_call_impl(self: Any, *args: Any, **kwargs: Any) -> Any:
        compiled = self._compiled_call_impl
        call = self._call_impl if compiled is None else compiled
        if compiling() or not enter(self):
            return call(*args, **kwargs)
        try:
            result = call(*args, **kwargs)
        finally:
            leave()
        if results.enabled:
            results.returned(result)
        return result

    Module.__call__ = in_place_of(original, _wrapped_call_impl)


def watch_backward(torch: Any, returns_gradients: Callable[[bool, Any], None]) -> None:
    """Replaces autograd.backward and autograd.grad. Each autograd.grad calls returns_gradients(again, inputs) with
    whether its results may be differentiated again."""
    autograd = torch.autograd
    compiling = torch.compiler.is_dynamo_compiling
    begins, ends = _program.backward_begins, _program.backward_ends

    def wrap(original: Callable[..., Any], accumulates: bool) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if compiling():
                return original(*args, **kwargs)
            begun = begins()
            try:
                result = original(*args, **kwargs)
                if not accumulates:
                    again = bool(kwargs.get("create_graph")) and _are_differentiable(torch, result)
                    returns_gradients(again, kwargs["inputs"] if "inputs" in kwargs else args[1])
                return result
            finally:
                ends(begun)

        return skipped_frames.add(in_place_of(original, call))

    autograd.backward = wrap(autograd.backward, accumulates=True)
    autograd.grad = wrap(autograd.grad, accumulates=False)


def _are_differentiable(torch: Any, gradients: tuple[Any, ...]) -> bool:
    """Whether gradients that were computed with create_graph may be differentiated. torch.func.grad and vjp always
    create a graph, but only an enclosing transform uses it."""
    functorch = torch._C._functorch
    active = functorch.get_interpreter_stack() or ()
    is_outermost = sum(each.key() == functorch.TransformType.Grad for each in active) == 1
    return not is_outermost and any(each is not None and each.requires_grad for each in gradients)


def watch_captures(torch: Any, begins: Callable[[], None], ends: Callable[[], None]) -> None:
    """Replaces make_graphed_callables, which runs modules and backward passes before it captures them."""
    original = torch.cuda.make_graphed_callables

    def make_graphed_callables(*args: Any, **kwargs: Any) -> Any:
        begins()
        try:
            return original(*args, **kwargs)
        finally:
            ends()

    torch.cuda.make_graphed_callables = in_place_of(original, make_graphed_callables)
    torch.cuda.graphs.make_graphed_callables = torch.cuda.make_graphed_callables
