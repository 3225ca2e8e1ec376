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
from ._unused import parameters_of

_DEPTH = 4  # of containers in the state of an optimizer, such as that of LBFGS


class Tags:
    """Tells the pass what blocks of memory contain, if it wants to know."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.wanted = False  # by the pass; otherwise, nothing is called
        self.roots: dict[int, weakref.ref[Any]] = {}
        self.optimizers: dict[int, weakref.ref[Any]] = {}

    def root(self, module: Any) -> None:
        """A root module is called: tags its parameters and buffers the first time."""
        known = self.roots.get(id(module))
        if known is not None and known() is module:
            return
        self.roots[id(module)] = weakref.ref(module)
        for tensor in [*module.parameters(), *module.buffers()]:
            self._tag(tensor, "parameter")

    def gradients(self) -> None:
        """A backward pass ends."""
        for module in _existing(self.roots):
            for parameter in module.parameters():
                self._tag(parameter.grad, "gradient")
        for parameter in parameters_of(_existing(self.optimizers)):
            self._tag(parameter.grad, "gradient")

    def optimizer(self, optimizer: Any) -> None:
        """A step of an optimizer ends. Its parameters need not be those of modules."""
        self.optimizers[id(optimizer)] = weakref.ref(optimizer)
        for parameter in parameters_of([optimizer]):
            self._tag(parameter, "parameter")
        for value in _elements(optimizer.state, _DEPTH):
            self._tag(value, "optimizer_state")

    def gathered(self, parameter: Any) -> None:
        """fully_shard has gathered a parameter."""
        for tensor in getattr(parameter, "all_gather_outputs", ()):
            self._tag(tensor, "communication")

    def to_reduce(self, parameters: Any) -> None:
        """fully_shard will reduce the gradients of gathered parameters."""
        for parameter in parameters:
            gathered = getattr(parameter, "_unsharded_param", None)
            for gradient in (getattr(gathered, "grad", None), getattr(parameter, "unsharded_accumulated_grad", None)):
                self._tag(gradient, "communication")

    def _tag(self, tensor: Any, category: str) -> None:
        if not isinstance(tensor, self.torch.Tensor) or tensor.layout is not self.torch.strided:
            return
        if hasattr(tensor, "__tensor_flatten__"):  # a subclass around other tensors, such as DTensor
            for name in tensor.__tensor_flatten__()[0]:
                self._tag(getattr(tensor, name), category)
            return
        try:
            storage = tensor.untyped_storage()
            address, size = storage.data_ptr(), storage.nbytes()
        except (RuntimeError, NotImplementedError):  # it has no memory of its own
            return
        if size:
            _program.tag(address, size, _program.MEMORY_CATEGORIES[category])


def _existing(references: dict[int, weakref.ref[Any]]) -> Iterator[Any]:
    for reference in references.values():
        if (found := reference()) is not None:
            yield found


def _elements(value: Any, depth: int) -> Iterator[Any]:
    """What dicts and lists within each other contain."""
    if depth == 0 or not isinstance(value, (dict, list, tuple)):
        yield value
        return
    for each in value.values() if isinstance(value, dict) else value:
        yield from _elements(each, depth - 1)


def watch_fully_shard(tags: Tags) -> None:
    """Tells `tags` of the memory that fully_shard uses besides the shards, once torch's module for it is imported, and
    the pass when what it gathers is needed."""
    watch_gathers()

    def attempt(tag: Callable[[Any], None], what: Any) -> None:
        if tags.wanted:
            try:
                tag(what)
            except Exception:  # another version of torch, which is not the program's concern
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
