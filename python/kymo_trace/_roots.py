# SPDX-License-Identifier: Apache-2.0
"""Names of root modules, which the program calls outside of other modules.

A root has the name of its class. If the program has other modules of that class, it has the name of its variable or
attribute in the calling functions, or, if there is none, a number. The name of a module is determined once.
"""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

_MAX_FRAMES = 12  # calling functions to search
_MAX_ELEMENTS = 64  # of a list or dict to search
_IS_FUNCTION = 1  # CO_OPTIMIZED: the frame of a function
_HAS_SNAPSHOT = sys.version_info < (3, 13)  # f_locals is a dict that keeps its values alive
# Reports omit numbers at the end of names, which belong to repeated modules.
_NUMBERED = re.compile(r"(?:^|[_.])\d+(?:\.|$)")
_INDEX = re.compile(r"\.(\d+)(?=\.|$)")
_FIRST_INDEX = re.compile(r"^(\d+)(?=\.|$)")


def class_name(module: Any) -> str:
    return type(getattr(module, "_orig_mod", module)).__name__


def part_name(name: str, kind: str) -> str:
    """The name of a module within the one that calls it. The modules of a Sequential are only numbered, and reports
    omit numbers, so these names begin with the class."""
    return f"{kind}_{name}" if name.isdigit() else name


class RootNames:
    """Unique names of the modules that exist."""

    def __init__(self, torch: Any) -> None:
        self.module = torch.nn.Module
        self._holders: dict[str, weakref.ref[Any]] = {}

    def name(self, root: Any, caller: FrameType | None) -> str:
        """The name of a root that has none yet. `caller`: the frame from which the calling functions are searched."""
        base = self._variable(root, caller) or class_name(root)
        name, number = base, 1
        while self._is_taken(name):
            number += 1
            name = f"{base}#{number}"
        self._holders[name] = weakref.ref(root)
        return name

    def _is_taken(self, name: str) -> bool:
        holder = self._holders.get(name)
        return holder is not None and holder() is not None

    def _variable(self, root: Any, caller: FrameType | None) -> str | None:
        """The variable of the root, if there is another module of its class among the same variables."""
        try:
            for frame in _program_frames(caller):
                for name in self._names_in(frame, root):
                    if name and not _NUMBERED.search(name):
                        return name
        except Exception:  # for example, another thread changes a dict
            pass
        return None

    def _names_in(self, frame: FrameType, root: Any) -> Iterator[str | None]:
        """The names of the root in the object whose method the frame runs, in its local and in its global variables."""
        variables = _local_variables(frame)
        code = frame.f_code
        owner = variables.pop(code.co_varnames[0], None) if code.co_argcount else None
        if self._is_module(owner):
            yield self._part(root, owner)
        elif owner is not None:
            yield self._among(root, _attributes(owner))
        yield self._among(root, variables)
        yield self._among(root, frame.f_globals)

    def _part(self, root: Any, owner: Any) -> str | None:
        """The path of the root in a module that is not called itself, if several of its submodules have parameters."""
        if sum(next(part.parameters(), None) is not None for part in self._parts(owner)) < 2:
            return None
        path = next((path for path, module in owner.named_modules() if module is root), "")
        return _INDEX.sub(r"[\1]", path)

    def _parts(self, owner: Any) -> Iterator[Any]:
        for part in owner.children():
            if type(part).forward is self.module.forward:  # a ModuleList or ModuleDict
                yield from self._parts(part)
            else:
                yield part

    def _among(self, root: Any, variables: dict[str, Any]) -> str | None:
        """The name of the root as a variable or as an element of one, if the variables contain another module of its
        class, or as a submodule."""
        name, element = None, None
        own: list[Any] = []  # modules among the variables themselves
        elements: list[Any] = []
        for variable, value in list(variables.items()):
            if self._is_module(value):
                own.append(value)
                name = variable if value is root and name is None else name
            elif type(value) in (list, tuple, dict) and len(value) <= _MAX_ELEMENTS:
                for key, each in value.items() if type(value) is dict else enumerate(value):
                    if self._is_module(each):
                        elements.append(each)
                        element = f"{variable}[{key}]" if each is root else element
        if name and self._has_other_of_class(root, own):
            return name
        # The variable of a loop over modules is the same for each of them.
        if self._has_other_of_class(root, elements):
            return element or name
        parts = (
            (variable, self._part(root, value)) for variable, value in list(variables.items()) if self._is_module(value)
        )
        return next((_FIRST_INDEX.sub(rf"{variable}[\1]", part) for variable, part in parts if part), None)

    def _is_module(self, value: Any) -> bool:
        return issubclass(type(value), self.module)  # isinstance() can call functions of the program

    def _has_other_of_class(self, root: Any, modules: list[Any]) -> bool:
        """Whether another one of the modules has the class of the root, and neither contains the other."""
        others = [each for each in modules if each is not root and class_name(each) == class_name(root)]
        parts = {id(part) for part in root.modules()} if others else set()
        return any(id(each) not in parts and all(part is not root for part in each.modules()) for each in others)


def _program_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The innermost frames of functions that are neither torch's nor kymo's."""
    remaining = _MAX_FRAMES
    while frame is not None and remaining > 0:
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in ("torch", "kymo_trace"):
            remaining -= 1
            yield frame
        frame = frame.f_back


def _attributes(owner: Any) -> dict[str, Any]:
    """The instance attributes of an object, read without calling functions of the program."""
    try:
        attributes = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return attributes if type(attributes) is dict else {}


def _local_variables(frame: FrameType) -> dict[str, Any]:
    """The local variables of a function; empty for module-level code."""
    if not frame.f_code.co_flags & _IS_FUNCTION:
        return {}
    snapshot = frame.f_locals
    variables = dict(snapshot)
    # The snapshot would keep tensors alive after the function has deleted their variables. It is cleared unless it has
    # another owner, because the program has called locals() itself.
    if _HAS_SNAPSHOT and sys.getrefcount(snapshot) <= 3:
        snapshot.clear()
    return variables
