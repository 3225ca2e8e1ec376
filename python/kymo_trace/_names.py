# SPDX-License-Identifier: Apache-2.0
"""Names of modules, for their scopes."""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from typing import Any

from ._roots import RootNames, class_name, part_name


class Names:
    """Scope names by id of the module. Nothing is stored in the modules themselves, and they are not kept alive."""

    def __init__(self, torch: Any) -> None:
        self.by_id: dict[int, str | None] = {}
        self.torch = torch
        self.root: weakref.ref[Any] | None = None
        self.roots = RootNames(torch)
        self._references: dict[int, weakref.ref[Any]] = {}

    def set_root(self, module: Any) -> None:
        """Sets the root module, relative to which modules are named."""
        if self.root is None or self.root() is not module:
            self.root = weakref.ref(module)

    def add(self, module: Any) -> None:
        """Names a module. A submodule of the current root has the name of its attribute, relative to the innermost
        surrounding module with a scope; others have the name of their class."""
        if self.root is None and not self._is_graph(module):
            self.set_root(module)
        root = self.root() if self.root else None
        caller = sys._getframe().f_back
        if root is not None and id(root) not in self.by_id:
            self._add_tree(root, caller)
        if id(module) not in self.by_id and root is not None:
            self._add_tree(root, caller)  # the module may be new in the root
        if id(module) not in self.by_id:
            self._set(module, None if self._is_graph(module) else type(module).__name__)

    def _add_tree(self, root: Any, caller: FrameType | None) -> None:
        called: dict[str, bool] = {}  # by qualified name: whether the module has a scope
        for name, module in root.named_modules():
            parts = name.split(".") if name else []
            around = len(parts)
            while around > 0:
                around -= 1
                if called.get(".".join(parts[:around]), False):
                    break
            has_scope = not name or not (self._is_container(module) or self._is_original(name, root))
            called[name] = has_scope
            if id(module) in self.by_id:
                continue
            scope = part_name(".".join(part for part in parts[around:] if part != "_orig_mod"), class_name(module))
            if not name:
                scope = self.roots.name(root, caller)
            self._set(module, (scope or class_name(module)) if has_scope else None)

    def _set(self, module: Any, name: str | None) -> None:
        key = id(module)

        def forget(_: Any) -> None:  # another module may get the same id
            self.by_id.pop(key, None)
            self._references.pop(key, None)

        self._references[key] = weakref.ref(module, forget)
        self.by_id[key] = name

    def _is_original(self, name: str, root: Any) -> bool:
        """Whether this is the module in the wrapper that torch.compile returns. The wrapper has its name."""
        return name == "_orig_mod" and hasattr(root, "_orig_mod")

    def _is_container(self, module: Any) -> bool:
        """Whether the module cannot be called, such as a ModuleList."""
        forward = getattr(type(module), "forward", None)
        return forward is self.torch.nn.Module.forward

    def _is_graph(self, module: Any) -> bool:
        return isinstance(module, self.torch.fx.GraphModule)
