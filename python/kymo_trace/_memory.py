# SPDX-License-Identifier: Apache-2.0
"""Categories of memory: the parameters of root modules and of optimizers, their gradients, the state of optimizers, and
what fully_shard gathers and reduces."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

from . import _program, after_import
from ._gathers import watch_gathers
from ._replacement import in_place_of
from ._unused_optimizers import parameters_of

_DEPTH = 4  # of containers in the state of an optimizer, such as that of LBFGS


class Tags:
    """Tags blocks of memory with their categories."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.enabled = False  # whether the pass records categories; otherwise, no function is called
        self.roots: dict[int, weakref.ref[Any]] = {}
        self.optimizers: dict[int, weakref.ref[Any]] = {}

    def root(self, module: Any) -> None:
        """Tags the parameters and buffers of a root module at its first call."""
        reference = self.roots.get(id(module))
        if reference is not None and reference() is module:
            return
        self.roots[id(module)] = weakref.ref(module)
        for tensor in [*module.parameters(), *module.buffers()]:
            self._tag(tensor, "parameter")

    def gradients(self) -> None:
        """Tags the gradients at the end of a backward pass."""
        for module in _existing(self.roots):
            for parameter in module.parameters():
                self._tag(parameter.grad, "gradient")
        for parameter in parameters_of(_existing(self.optimizers)):
            self._tag(parameter.grad, "gradient")

    def optimizer(self, optimizer: Any) -> None:
        """Tags the state and the parameters of an optimizer at the end of its step."""
        self.optimizers[id(optimizer)] = weakref.ref(optimizer)
        for parameter in parameters_of([optimizer]):
            self._tag(parameter, "parameter")
        for value in _elements(optimizer.state, _DEPTH):
            self._tag(value, "optimizer_state")

    def gathered(self, parameter: Any) -> None:
        """Tags a parameter that fully_shard has gathered."""
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
        except (RuntimeError, NotImplementedError):  # a tensor without memory
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

    def attempt(tag: Callable[[Any], None], tensors: Any) -> None:
        if tags.enabled:
            try:
                tag(tensors)
            except Exception:  # another version of torch must not make the program fail
                return

    def replace_parameter(module: Any) -> None:
        def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
            def to_unsharded(self: Any) -> Any:
                result = original(self)
                attempt(tags.gathered, self)
                return result

            return in_place_of(original, to_unsharded)

        module.FSDPParam.to_unsharded = wrap(module.FSDPParam.to_unsharded)

    def replace_group(module: Any) -> None:
        def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
            def post_backward(self: Any, *unused: Any) -> Any:
                attempt(tags.to_reduce, self.fsdp_params)
                return original(self, *unused)

            return in_place_of(original, post_backward)

        module.FSDPParamGroup.post_backward = wrap(module.FSDPParamGroup.post_backward)

    after_import("torch.distributed.fsdp._fully_shard._fsdp_param", replace_parameter)
    after_import("torch.distributed.fsdp._fully_shard._fsdp_param_group", replace_group)
