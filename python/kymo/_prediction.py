# SPDX-License-Identifier: Apache-2.0
"""Pass predict: a workload computes with tensors that have shapes and no values, and code is compiled but not
generated. What they would allocate is recorded by the collector kymo_prediction."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

# A thread that compiles excludes this dispatch key: the collector does not count what it allocates.
_COMPILES = "CustomRNGKeyId"

Functions = tuple[Callable[..., Any] | None, ...]


class Unpredictable(RuntimeError):
    """An operator without whose values the rest of a step, or the shape of its result, is unknown."""


class Prediction:
    """Makes the functions of one workload compute with FakeTensors."""

    def __init__(self, torch: Any) -> None:
        from torch._subclasses.fake_tensor import FakeTensorMode

        has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key

        class Mode(FakeTensorMode):
            def cpp_meta_supports_symint(self, func: Any) -> bool:
                """Prefers kernels that compute the shape alone to compositions of operators, such as that of
                silu_backward, whose intermediate results no device allocates."""
                return has_kernel(func.name(), "Meta") or super().cpp_meta_supports_symint(func)

        self.torch = torch
        self.mode = Mode(allow_non_fake_inputs=True)

    def of(self, functions: Functions) -> Functions:
        """The same functions; prepare() may return further ones."""
        return tuple(function and self._of(function) for function in functions)

    def _of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def predicted() -> Any:
            with _graphs_instead_of_code(self.torch), self._tensors_that_swap(), self.mode:
                try:
                    result = function()
                except Exception as error:
                    if reason := _why_unpredictable(error):
                        # The traceback has the line of the workload.
                        raise Unpredictable(reason).with_traceback(error.__traceback__) from None
                    raise
            return self.of(result) if isinstance(result, tuple) else result

        return predicted

    @contextlib.contextmanager
    def _tensors_that_swap(self) -> Iterator[None]:
        """Converts modules, as .to(dtype) does: it swaps their FakeTensors with converted ones, which weak references
        prevent. The mode has some, to recognize the tensors that it made."""
        original = self.torch.utils.swap_tensors
        made = self.mode.fake_tensor_converter.meta_converter.tensor_memo

        def swap(one: Any, other: Any) -> None:
            for key in [key for key, tensor in made.items() if tensor is one or tensor is other]:
                del made[key]
            original(one, other)

        self.torch.utils.swap_tensors = swap
        try:
            yield
        finally:
            self.torch.utils.swap_tensors = original


def _why_unpredictable(error: BaseException) -> str:
    """Names the operator that ended a prediction and what to do; empty for exceptions of other kinds."""
    cause: BaseException | None = error
    while cause is not None:  # the compiler wraps exceptions
        if found := _operator_without_values(cause):
            operator, reason = found
            return f"the memory cannot be predicted, because the operator {operator} {reason}"
        cause = cause.__cause__ or cause.__context__
    return ""


def _operator_without_values(error: BaseException) -> tuple[str, str] | None:
    from torch._subclasses import fake_tensor

    unregistered = "has no implementation for tensors without values: register one with torch.library.register_fake"
    if isinstance(error, fake_tensor.DataDependentOutputException):
        return str(error.func), "reads the values of a tensor: leave it out if run.has_values is False"
    if isinstance(error, fake_tensor.DynamicOutputShapeException):
        return str(error.func), (
            "returns a tensor whose shape depends on values: if run.has_values is False, use a tensor of the largest "
            "shape in its place"
        )
    if isinstance(error, fake_tensor.UnsupportedOperatorException):
        return str(error.func), unregistered
    # What torch.library.custom_op raises has no type of its own.
    if found := re.match(r"There was no fake impl registered for <CustomOpDef\((.*?)\)>", str(error)):
        return found[1], unregistered
    return None


@contextlib.contextmanager
def _graphs_instead_of_code(torch: Any) -> Iterator[None]:
    """torch.compile decides, as always, what is kept for the backward pass and what is computed again, but the graphs
    of both passes are interpreted: code that Inductor generates reads values."""
    from torch._dynamo.callback import callback_handler

    wrapper, exclude = torch._TorchCompileInductorWrapper, torch._C._dispatch_tls_set_dispatch_key_excluded
    original = wrapper.__call__
    wrapper.__call__ = _compile
    # The compiler traces with tensors of its own, which it keeps. Registered callbacks are dropped by its reset().
    callback_handler.run_start_callbacks = lambda _: exclude(_COMPILES, True)
    callback_handler.run_end_callbacks = lambda _: exclude(_COMPILES, False)
    try:
        yield
    finally:
        del callback_handler.run_start_callbacks, callback_handler.run_end_callbacks
        wrapper.__call__ = original


def _compile(self: Any, model: Any, inputs: Any) -> Any:
    from torch._functorch import config
    from torch._inductor.compile_fx import compile_fx

    with config.patch(enable_autograd_cache=False):  # which expects generated code
        return compile_fx(model, inputs, inner_compile=_interpreted, config_patches=self.config)


def _interpreted(graph: Any, _: Any, **__: Any) -> Callable[[list[Any]], Any]:
    def run(arguments: list[Any]) -> Any:
        values = list(arguments)
        arguments.clear()  # so that the graph frees them after their last use
        return graph.forward(*values)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run
