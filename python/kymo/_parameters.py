# SPDX-License-Identifier: Apache-2.0
"""Parameters of workloads."""

from __future__ import annotations

import copy
import math
import operator
import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar, overload

T = TypeVar("T")
Self = TypeVar("Self")

NAME_RULE = "a name is a lowercase letter followed by up to 63 lowercase letters, digits and '_'"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class Parameter(Generic[T]):
    """A parameter of a workload: an Int, Real, Bool, Text or Choice, as a class attribute or an annotation.

    On an instance of the workload, the attribute is the value of the parameter.

    axis: values that a sweep suggests.
    unit: of the value, for display.
    doc: documentation.
    title: how titles of runs show the value, with {} for the value, such as "{} MiB"; "" if they do not. The braces may
        contain titles of choices that are spelled differently: "{cudnn=cuDNN|math=unfused}".
    title_at_default: titles also contain the parameter at its default.
    setting: runs are compared only if they agree on the parameter; other parameters distinguish variants.
    """

    kind: ClassVar[str] = ""
    example: ClassVar[str] = ""

    def __init__(
        self,
        default: T | None = None,
        *,
        axis: Iterable[T] = (),
        unit: str = "",
        doc: str = "",
        title: str = "",
        title_at_default: bool = False,
        setting: bool = False,
    ) -> None:
        self.default, self.axis = default, axis
        self.unit, self.doc, self.title = unit, doc, title
        self.title_at_default, self.setting = title_at_default, setting

    @overload
    def __get__(self: Self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        # kymo stores the value in the instance, which takes precedence; other instances have the default.
        return self if instance is None else self.default

    def checked(self: Self, what: str) -> Self:
        """Returns a copy with validated values. Raises TypeError or ValueError that begins with `what`."""
        result: Any = copy.copy(self)
        if not result.kind:
            raise TypeError(f"{what} must be a kymo.Int, Real, Bool, Text or Choice")
        if result.default is None:
            raise TypeError(f"{what} needs a default value, such as kymo.{type(self).__name__}({result.example})")
        for attribute in ("unit", "doc", "title"):
            text(getattr(result, attribute), f"{what}: {attribute}")
        if isinstance(result.axis, str) or not isinstance(result.axis, Iterable):
            raise TypeError(f"{what}: axis must be a sequence of values, not {result.axis!r}")
        result.check_limits(what)
        result.default = result.check(result.default, f"{what}: the default")
        result.axis = tuple(result.check(value, f"{what}: a value of axis") for value in result.axis)
        return result

    def check_limits(self, what: str) -> None:
        """Validates what the parameter requires of its values."""

    def check(self, value: Any, what: str) -> T:
        """Returns the value with the type of the parameter. Raises TypeError or ValueError that begins with `what`."""
        raise NotImplementedError

    def describe(self, name: str) -> dict[str, Any]:
        """The parameter as in the JSON that describes a plugin."""
        limits = {key: getattr(self, key, None) for key in ("minimum", "maximum", "choices")}
        return {
            "name": name,
            "type": self.kind,
            "unit": self.unit,
            "documentation": self.doc,
            "default": self.default,
            **{key: value for key, value in limits.items() if value is not None},
            "axis": [str(value).lower() if isinstance(value, bool) else str(value) for value in self.axis],
            "title": self.title,
            "titled_at_default": bool(self.title_at_default),
            "setting": bool(self.setting),
        }


class _Numeric(Parameter[T]):
    def __init__(self, default: T | None = None, *, minimum: Any = None, maximum: Any = None, **rest: Any) -> None:
        super().__init__(default, **rest)
        self.minimum, self.maximum = minimum, maximum

    def check_limits(self, what: str) -> None:
        for bound in ("minimum", "maximum"):
            if getattr(self, bound) is not None:
                setattr(self, bound, self.convert(getattr(self, bound), f"{what}: {bound}"))
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise ValueError(f"{what}: minimum {self.minimum} is greater than maximum {self.maximum}")

    def check(self, value: Any, what: str) -> T:
        number: Any = self.convert(value, what)
        if self.minimum is not None and number < self.minimum:
            raise ValueError(f"{what} is {number}; the minimum is {self.minimum}")
        if self.maximum is not None and number > self.maximum:
            raise ValueError(f"{what} is {number}; the maximum is {self.maximum}")
        return number

    def convert(self, value: Any, what: str) -> Any:
        raise NotImplementedError


class Int(_Numeric[int]):
    """An integer parameter, such as kymo.Int(1024, minimum=1). The bounds are inclusive."""

    kind = "int"
    example = "1024"

    def convert(self, value: Any, what: str) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{what} must be an int, not {value!r}") from None
        if isinstance(value, bool):
            raise TypeError(f"{what} must be an int, not {value!r}")
        if not -(1 << 63) <= number < 1 << 63:
            raise ValueError(f"{what} is {number}, which does not fit into 64 bits")
        return number


class Real(_Numeric[float]):
    """A floating-point parameter, such as kymo.Real(0.5, minimum=0, maximum=1). The bounds are inclusive."""

    kind = "real"
    example = "0.5"

    def convert(self, value: Any, what: str) -> float:
        if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
            raise TypeError(f"{what} must be a float, not {value!r}")
        if not math.isfinite(float(value)):
            raise ValueError(f"{what} is {value}; it must be finite")
        return float(value)


class Bool(Parameter[bool]):
    """A parameter that is true or false, such as kymo.Bool(False)."""

    kind = "bool"
    example = "False"

    def check(self, value: Any, what: str) -> bool:
        if not isinstance(value, bool):
            raise TypeError(f"{what} must be True or False, not {value!r}")
        return value


class Text(Parameter[str]):
    """A textual parameter, such as kymo.Text("gelu")."""

    kind = "text"
    example = '"gelu"'

    def check(self, value: Any, what: str) -> str:
        return text(value, what)


class Choice(Parameter[str]):
    """A parameter with a fixed set of values, such as kymo.Choice("fp32", ("fp32", "bf16"))."""

    kind = "choice"
    example = '"fp32", ("fp32", "bf16")'

    def __init__(self, default: str | None = None, choices: Sequence[str] = (), **rest: Any) -> None:
        super().__init__(default, **rest)
        self.choices = choices

    def check_limits(self, what: str) -> None:
        self.choices = texts(self.choices, f"{what}: choices")
        if not self.choices:
            raise ValueError(f"{what} needs choices, such as kymo.Choice({self.example})")

    def check(self, value: Any, what: str) -> str:
        if text(value, what) not in self.choices:
            raise ValueError(f"{what} is {value!r}; it must be one of {', '.join(map(repr, self.choices))}")
        return value


def text(value: Any, what: str) -> str:
    """Returns the value if it is a str that UTF-8 can represent. Raises TypeError or ValueError otherwise."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, not {value!r}")
    if "\0" in value or value.encode("utf-8", "replace").decode() != value:
        raise ValueError(f"{what} contains a null character or text that UTF-8 cannot represent")
    return value


def texts(values: Any, what: str) -> tuple[str, ...]:
    """Returns different texts as a tuple. Raises TypeError or ValueError for anything else."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{what} must be a tuple of str, such as ({values!r},), not {values!r}")
    result = tuple(text(value, f"{what}: an entry") for value in values)
    if len(set(result)) < len(result):
        raise ValueError(f"{what} contains the same entry twice: {result}")
    return result


def name(value: Any, what: str) -> str:
    """Returns the value if it is a valid name. Raises TypeError or ValueError otherwise."""
    if not _NAME.fullmatch(text(value, what)):
        raise ValueError(f"{what} is {value!r}; {NAME_RULE}")
    return value
