# SPDX-License-Identifier: Apache-2.0
"""Categories of memory: the parameters of root modules and of optimizers, their gradients, the state of optimizers, and
what fully_shard gathers and reduces."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

from . import _program, after_import
from ._exceptions import describe
from ._gathers import watch_gathers
from ._replacement import in_place_of, without_dynamo
from ._unused_optimizers import parameters_of

_DEPTH = 4  # of containers in the state of an optimizer, such as that of LBFGS


class Tags:
    """Tags blocks of memory with their categories, in every step, because a program may replace parameters, for example
    when it converts a module."""

    def __init__(self, torch: Any, report: Callable[[str], None]) -> None:
        """`report`: stores that a part of the program cannot be observed."""
        self.torch = torch
        self.report = report
        self.enabled = False  # whether the pass records categories; otherwise, the functions do nothing
        self.roots: dict[int, weakref.ref[Any]] = {}
        self.called: set[int] = set()  # ids of the root modules that this step has called
        self.optimizers: dict[int, weakref.ref[Any]] = {}
        self.sharded: dict[int, weakref.ref[Any]] = {}  # parameters that fully_shard has gathered at least once
        self.errors: set[str] = set()
        for function in (self.root, self.gradients, self.optimizer, self.gathered, self.to_reduce):
            setattr(self, function.__name__, self._guarded(function))

    def _guarded(self, function: Callable[..., None]) -> Callable[..., None]:
        """A function whose errors do not become those of the program."""
        uncompiled = without_dynamo(function)

        def call(*arguments: Any) -> None:
            if not self.enabled:
                return
            try:
                uncompiled(*arguments)
            except Exception as error:  # for example, of another version of torch
                text = f"categories of memory: {describe(error, '')}"
                if text not in self.errors:
                    self.errors.add(text)
                    self.report(text)

        return call

    def step_begins(self) -> None:
        self.called.clear()

    def root(self, module: Any) -> None:
        """Tags the parameters and buffers of a root module at its first call in a step."""
        reference = self.roots.get(id(module))
        if reference is None or reference() is not module:
            self.roots[id(module)] = weakref.ref(module)
        elif id(module) in self.called:
            return
        self.called.add(id(module))
        gathered = {id(getattr(each, "_unsharded_param", None)) for each in _existing(self.sharded)}
        for tensor in [*module.parameters(), *module.buffers()]:
            if id(tensor) not in gathered:
                self._tag(tensor, "parameter")

    def gradients(self) -> None:
        """Tags the gradients at the end of a backward pass."""
        parameters = {id(each): each for module in _existing(self.roots) for each in module.parameters()}
        parameters.update((id(each), each) for each in parameters_of(_existing(self.optimizers)))
        for parameter in parameters.values():
            self._tag(parameter.grad, "gradient")

    def optimizer(self, optimizer: Any) -> None:
        """Tags the state of an optimizer, and its parameters and their gradients, at the end of its step."""
        self.optimizers[id(optimizer)] = weakref.ref(optimizer)
        for parameter in parameters_of([optimizer]):
            self._tag(parameter, "parameter")
            self._tag(parameter.grad, "gradient")
        for value in _elements(optimizer.state, _DEPTH):
            self._tag(value, "optimizer_state")

    def gathered(self, parameter: Any) -> None:
        """Tags a parameter that fully_shard has gathered."""
        self.sharded[id(parameter)] = weakref.ref(parameter)
        for tensor in getattr(parameter, "all_gather_outputs", ()):
            self._tag(tensor, "communication")

    def to_reduce(self, parameters: Any) -> None:
        """Tags the gradients of gathered parameters, before fully_shard reduces them."""
        for parameter in parameters:
            gathered = getattr(parameter, "_unsharded_param", None)
            for gradient in (getattr(gathered, "grad", None), getattr(parameter, "unsharded_accumulated_grad", None)):
                self._tag(gradient, "communication")

    def _tag(self, tensor: Any, category: str) -> None:
        if not isinstance(tensor, self.torch.Tensor):
            return
        if tensor.layout is self.torch.sparse_coo:
            self._tag(tensor._values(), category)  # the indices may be an input, as in the gradient of an embedding
            return
        if tensor.layout is not self.torch.strided:
            return
        if hasattr(tensor, "__tensor_flatten__"):  # a subclass around other tensors, such as DTensor
            for name in tensor.__tensor_flatten__()[0]:
                self._tag(getattr(tensor, name), category)
            return
        try:
            storage = tensor.untyped_storage()
            address, size = storage.data_ptr(), storage.nbytes()
        except (RuntimeError, ValueError):  # a tensor without memory, such as a parameter of a LazyModule
            return
        if size:
            _program.tag(address, size, _program.MEMORY_CATEGORIES[category])


def _existing(references: dict[int, weakref.ref[Any]]) -> Iterator[Any]:
    for reference in references.values():
        if (found := reference()) is not None:
            yield found


def _elements(value: Any, depth: int) -> Iterator[Any]:
    """The elements of nested dicts and lists."""
    if depth == 0 or not isinstance(value, (dict, list, tuple)):
        yield value
        return
    for each in value.values() if isinstance(value, dict) else value:
        yield from _elements(each, depth - 1)


def watch_fully_shard(tags: Tags) -> None:
    """Tags the memory that fully_shard uses besides the shards, and reports when gathered parameters are needed, once
    its module is imported."""
    watch_gathers()

    def replace_parameter(module: Any) -> None:
        def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
            def to_unsharded(self: Any) -> Any:
                result = original(self)
                tags.gathered(self)
                return result

            return in_place_of(original, to_unsharded)

        module.FSDPParam.to_unsharded = wrap(module.FSDPParam.to_unsharded)

    def replace_group(module: Any) -> None:
        def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
            def post_backward(self: Any, *unused: Any) -> Any:
                tags.to_reduce(self.fsdp_params)
                return original(self, *unused)

            return in_place_of(original, post_backward)

        module.FSDPParamGroup.post_backward = wrap(module.FSDPParamGroup.post_backward)

    after_import("torch.distributed.fsdp._fully_shard._fsdp_param", replace_parameter)
    after_import("torch.distributed.fsdp._fully_shard._fsdp_param_group", replace_group)
