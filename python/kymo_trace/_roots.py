# SPDX-License-Identifier: Apache-2.0
"""Names of root modules, which the program calls outside of other modules.

A root has the name of its class. If the program has other modules of that class, that would not tell them apart: then
it has the name of the variable or attribute that it is called by, if one can be seen in the calling functions,
otherwise a number. A name is looked up once for each module.
"""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

_MOST_FRAMES = 12  # calling functions that are searched
_MOST_ELEMENTS = 64  # of a list or dict that is searched
_IS_FUNCTION = 1  # CO_OPTIMIZED: the variables of the frame are no dict
_HAS_SNAPSHOT = sys.version_info < (3, 13)  # f_locals keeps what it contains alive
# Reports leave numbers at the end out of names: those of repeated modules.
_NUMBERED = re.compile(r"(?:^|[_.])\d+(?:\.|$)")
_INDEX = re.compile(r"\.(\d+)(?=\.|$)")
_FIRST_INDEX = re.compile(r"^(\d+)(?=\.|$)")


def class_name(module: Any) -> str:
    return type(getattr(module, "_orig_mod", module)).__name__


def part_name(name: str, kind: str) -> str:
    """The name of a module within the one that calls it. Reports leave out numbers, which is all that the parts of a
    Sequential are named by: these have their class, too."""
    return f"{kind}_{name}" if name.isdigit() else name


class RootNames:
    """Different names for different modules, for as long as these exist."""

    def __init__(self, torch: Any) -> None:
        self.module = torch.nn.Module
        self._holders: dict[str, weakref.ref[Any]] = {}

    def name(self, root: Any, caller: FrameType | None) -> str:
        """The name of a root that has none yet. `caller`: where the function that calls it is searched from."""
        wanted = self._variable(root, caller) or class_name(root)
        name, number = wanted, 1
        while self._is_taken(name):
            number += 1
            name = f"{wanted}#{number}"
        self._holders[name] = weakref.ref(root)
        return name

    def _is_taken(self, name: str) -> bool:
        holder = self._holders.get(name)
        return holder is not None and holder() is not None

    def _variable(self, root: Any, caller: FrameType | None) -> str | None:
        """What the program calls the root, if another module that it could be taken for is beside it."""
        try:
            for frame in _program_frames(caller):
                for name in self._names_in(frame, root):
                    if name and not _NUMBERED.search(name):
                        return name
        except Exception:  # such as a dict that another thread changes
            pass
        return None

    def _names_in(self, frame: FrameType, root: Any) -> Iterator[str | None]:
        """In the object whose method the frame runs, in its function, and in its file."""
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
        """The path of the root in a module that is not called itself, if that has several parts with parameters."""
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
        """The name of the root among variables, also as an element of one, if there is another module like it, or as a
        part of a module."""
        name, element = None, None
        own: list[Any] = []  # modules that are variables
        elements: list[Any] = []
        for variable, value in list(variables.items()):
            if self._is_module(value):
                own.append(value)
                name = variable if value is root and name is None else name
            elif type(value) in (list, tuple, dict) and len(value) <= _MOST_ELEMENTS:
                for key, each in value.items() if type(value) is dict else enumerate(value):
                    if self._is_module(each):
                        elements.append(each)
                        element = f"{variable}[{key}]" if each is root else element
        if name and self._has_double(root, own):
            return name
        # The variable of a loop over modules is the same for each of them.
        if self._has_double(root, elements):
            return element or name
        parts = (
            (variable, self._part(root, value)) for variable, value in list(variables.items()) if self._is_module(value)
        )
        return next((_FIRST_INDEX.sub(rf"{variable}[\1]", part) for variable, part in parts if part), None)

    def _is_module(self, value: Any) -> bool:
        return issubclass(type(value), self.module)  # isinstance() can call functions of the program

    def _has_double(self, root: Any, modules: list[Any]) -> bool:
        """Whether one of the modules has the class of the root, and neither contains the other."""
        doubles = [each for each in modules if each is not root and class_name(each) == class_name(root)]
        parts = {id(part) for part in root.modules()} if doubles else set()
        return any(id(each) not in parts and all(part is not root for part in each.modules()) for each in doubles)


def _program_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The innermost calls of functions that are neither torch's nor kymo's."""
    left = _MOST_FRAMES
    while frame is not None and left > 0:
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in ("torch", "kymo_trace"):
            left -= 1
            yield frame
        frame = frame.f_back


def _attributes(owner: Any) -> dict[str, Any]:
    """Those of the object itself, without calling functions of the program."""
    try:
        attributes = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return attributes if type(attributes) is dict else {}


def _local_variables(frame: FrameType) -> dict[str, Any]:
    """Those of a function; none at the level of a file."""
    if not frame.f_code.co_flags & _IS_FUNCTION:
        return {}
    seen = frame.f_locals
    variables = dict(seen)
    # The frame would keep tensors alive for which the function has no variable any more, unless the program has called
    # locals() itself: then the dict has another owner than the frame and this function.
    if _HAS_SNAPSHOT and sys.getrefcount(seen) <= 3:
        seen.clear()
    return variables
