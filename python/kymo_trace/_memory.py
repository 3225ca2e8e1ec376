# SPDX-License-Identifier: Apache-2.0
"""Categories of memory: the parameters of the root modules, their gradients, and the state of optimizers."""

from __future__ import annotations

import weakref
from typing import Any

from . import _program


class Tags:
    """Tells the pass what blocks of memory contain, if it wants to know."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.wanted = False  # by the pass; otherwise, nothing is called
        self.roots: dict[int, weakref.ref[Any]] = {}

    def root(self, module: Any) -> None:
        """A root module is called: tags its parameters and buffers the first time."""
        known = self.roots.get(id(module))
        if known is not None and known() is module:
            return
        self.roots[id(module)] = weakref.ref(module)
        for tensor in [*module.parameters(), *module.buffers()]:
            self._tag(tensor, _program.PARAMETER)

    def gradients(self) -> None:
        """A backward pass ends."""
        for reference in self.roots.values():
            module = reference()
            for parameter in module.parameters() if module is not None else ():
                self._tag(parameter.grad, _program.GRADIENT)

    def optimizer(self, optimizer: Any) -> None:
        """A step of an optimizer ends."""
        for state in optimizer.state.values():
            for value in state.values() if isinstance(state, dict) else ():
                self._tag(value, _program.OPTIMIZER_STATE)

    def _tag(self, tensor: Any, category: int) -> None:
        if not isinstance(tensor, self.torch.Tensor) or tensor.layout is not self.torch.strided:
            return
        try:
            storage = tensor.untyped_storage()
            address, size = storage.data_ptr(), storage.nbytes()
        except (RuntimeError, NotImplementedError):  # it has no memory of its own
            return
        if size:
            _program.tag(address, size, category)
