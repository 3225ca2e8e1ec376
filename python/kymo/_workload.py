# SPDX-License-Identifier: Apache-2.0
"""Workloads: classes, and functions that @workload turns into classes."""

from __future__ import annotations

import copy
import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ._parameters import Bool, Choice, Int, Parameter, Real, Text, name, text, texts
from ._verification import Verification

if TYPE_CHECKING:
    from ._run import Run

_MAX_FAMILY_ORDER = 999
_MAX_RANKS = 1 << 20


class Workload:
    """Base class of a workload: something with a repeatable step.

    Class attributes describe it. kymo creates one instance per pass, sets its parameters before __init__(), and calls
    prepare(), then before_step() and step() repeatedly (or verify() once), all on one thread. An exception ends the run
    as failed; MemoryError and torch.OutOfMemoryError end it as out of memory, kymo.Skip as skipped. The docstring of
    the class is its documentation. Classes whose name begins with an underscore are only base classes.
    """

    name: ClassVar[str | None] = None
    """Default: the name of the class in snake_case."""
    phases: ClassVar[Sequence[str]] = ()
    """Names of the phases that partition a step, in execution order."""
    optional_phases: ClassVar[bool] = False
    """True if the parameters decide which of the phases a step enters."""
    devices: ClassVar[Sequence[str] | None] = None
    """Supported devices: "cpu", "cuda". Default: "cpu", and "cuda" if the file uses torch."""
    ranks: ClassVar[int | tuple[int, int | None]] = 1
    """Number of ranks, or (minimum, maximum); a maximum of None means no limit."""
    asynchronous: ClassVar[bool] = False
    """True if a step only queues work on the device and never waits for it. Timings hot and cold require it."""
    title: ClassVar[str | None] = None
    """Beginning of the titles of runs. Default: the name. "": titles contain only parameters."""
    family: ClassVar[str | None] = None
    """Name of a group of workloads that reports compare."""
    family_order: ClassVar[int] = 0
    """Order in the family, 0 to 999. The workload with 0 is the baseline of speedups."""
    framework: ClassVar[str | None] = None
    """"torch" if the workload uses torch although neither the file nor what it imports contains an import of it.
    Default: detected."""

    _parameters: ClassVar[Mapping[str, Parameter[Any]]] = {}

    def prepare(self, run: Run) -> Any:
        """Allocates memory, initializes it and declares work. Not timed."""

    def before_step(self, run: Run) -> Any:
        """Runs before each step, for example to draw a batch. Not timed."""

    def step(self, run: Run) -> Any:
        """Runs one step. Timed."""
        raise NotImplementedError(f"workload '{type(self).name}' defines no step(self, run)")

    def verify(self, run: Run) -> Verification:
        """Compares the results with a reference. Runs after prepare(), without preceding steps. Not timed."""
        return Verification.unavailable("the workload has no reference")

    def __init_subclass__(cls, parameters: Mapping[str, Parameter[Any]] | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if vars(cls).get("name") is None:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()
        what = f"workload '{cls.name}'"
        cls._parameters = _checked_parameters(cls, what) if parameters is None else parameters
        if not cls.__name__.startswith("_"):
            name(cls.name, f"the name of {what}")
        cls.phases = tuple(name(each, f"{what}: a phase") for each in texts(cls.phases, f"{what}: phases"))
        if reserved := {"step", "other"} & set(cls.phases):
            raise ValueError(f"{what}: the phase '{reserved.pop()}' is reserved; choose another name")
        _check_properties(cls, what)

    def _bind(self, run: Run) -> tuple[Any, Any, Any, Any]:
        """Returns prepare, before_step, step and verify without arguments."""
        overridden = type(self).before_step is not Workload.before_step
        bound = [functools.partial(getattr(self, each), run) for each in ("prepare", "before_step", "step", "verify")]
        return bound[0], bound[1] if overridden else None, bound[2], functools.partial(_checks, bound[3])


_METHODS = ("prepare", "before_step", "step", "verify")
_ATTRIBUTES = (
    *("name", "phases", "optional_phases", "devices", "ranks", "asynchronous", "title", "family", "family_order"),
    "framework",
)


def _check_properties(cls: type[Workload], what: str) -> None:
    if cls.devices is not None:
        devices = texts(cls.devices, f"{what}: devices")
        if not devices or set(devices) - {"cpu", "cuda"}:
            raise ValueError(f'{what}: devices must contain "cpu" or "cuda" or both, not {cls.devices!r}')
    ranks_of(cls)
    if cls.title is not None:
        text(cls.title, f"{what}: title")
    if cls.family is not None:
        name(cls.family, f"{what}: family")
    if not isinstance(cls.family_order, int) or not 0 <= cls.family_order <= _MAX_FAMILY_ORDER:
        raise ValueError(f"{what}: family_order must be an int from 0 to {_MAX_FAMILY_ORDER}, not {cls.family_order!r}")
    if cls.framework not in (None, "torch"):
        raise ValueError(f'{what}: framework must be None or "torch", not {cls.framework!r}')
    for each in ("optional_phases", "asynchronous"):
        if not isinstance(getattr(cls, each), bool):
            raise TypeError(f"{what}: {each} must be True or False, not {getattr(cls, each)!r}")
    text(cls.__doc__ or "", f"the documentation of {what}")
    for each in _METHODS:
        if not callable(getattr(cls, each)):
            raise TypeError(f"{what}: {each} must be a method, not {getattr(cls, each)!r}")
        function = inspect.getattr_static(cls, each)
        if inspect.isfunction(function):
            check_function(function, f"{each}() of {what}", ("self", "run"))


def ranks_of(cls: type[Workload]) -> tuple[int, int]:
    """Returns the minimum and the maximum number of ranks; a maximum of 0 means no limit."""
    given = (cls.ranks, cls.ranks) if isinstance(cls.ranks, int) else cls.ranks
    if isinstance(given, Sequence) and len(given) == 2:
        least, most = given
        limits = (least, least if most is None else most)
        if all(type(each) is int and 1 <= each <= _MAX_RANKS for each in limits) and limits[0] <= limits[1]:
            return least, 0 if most is None else most
    raise ValueError(
        f"workload '{cls.name}': ranks must be a number from 1 on, or (minimum, maximum) with None for no maximum, "
        f"not {cls.ranks!r}"
    )


def check_function(function: Any, what: str, arguments: tuple[str, ...]) -> None:
    """Raises TypeError if calling the function with these arguments would fail or not run its body."""
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise TypeError(f"{what} must be a plain function: calling a generator or coroutine function does not run it")
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise TypeError(f"{what} must accept ({', '.join(arguments)}): {error}") from None
    except ValueError:  # a function without a signature
        pass


def _checked_parameters(cls: type[Workload], what: str) -> dict[str, Parameter[Any]]:
    """The parameters among the attributes of the class and its bases, base classes first."""
    declared: dict[str, Parameter[Any]] = {}
    for base in reversed(cls.__mro__):
        for attribute, value in vars(base).items():
            described = f"parameter '{attribute}' of {what}"
            if isinstance(value, type) and issubclass(value, Parameter):
                raise TypeError(f"{described} must be an instance: write {attribute} = kymo.{value.__name__}(default)")
            if not isinstance(value, Parameter):
                declared.pop(attribute, None)
                continue
            if hasattr(Workload, attribute):
                raise TypeError(f"{described}: the name is reserved; choose another one")
            name(attribute, f"the name of {described}")
            declared[attribute] = value.checked(described)
    return declared


def _checks(verify: Callable[[], Any]) -> tuple[Any, ...]:
    """Returns what the extension expects of verify()."""
    result = verify()
    if not isinstance(result, Verification):
        raise TypeError(
            f"verify() must return a kymo.Verification, such as kymo.Verification().compare(...), "
            f"not {type(result).__name__}"
        )
    if not result.checks:
        result = Verification.unavailable("verify() returned no checks")
    return tuple(tuple(check) for check in result.checks)


class _Function(Workload):
    """Base class of the workloads that @workload creates from functions."""

    _function: ClassVar[Callable[..., Any]]

    def _bind(self, run: Run) -> tuple[Any, Any, Any, Any]:
        def prepare() -> tuple[Any, Any, Any]:
            values = {each: vars(self)[each] for each in self._parameters}
            return _steps(type(self)._function(run, **values), f"workload '{type(self).name}'")

        return prepare, None, None, None


def _steps(result: Any, what: str) -> tuple[Any, Any, Any]:
    """Returns before_step, step and verify from what the function of a workload returned."""
    if isinstance(result, tuple) and len(result) == 2:
        result = {"step": result[0], "verify": result[1]}
    elif callable(result):
        result = {"step": result}
    if not isinstance(result, Mapping) or "step" not in result or result.keys() - {"before_step", "step", "verify"}:
        raise TypeError(
            f"{what} must return step, (step, verify) or a mapping with 'step' and, optionally, 'before_step' and "
            f"'verify', not {result!r}"
        )
    for each, function in result.items():
        if function is None and each != "step":
            continue
        if not callable(function):
            raise TypeError(f"{what}: {each} must be a function, not {function!r}")
        if inspect.isfunction(function):
            check_function(function, f"{each}() of {what}", ())
    verify = result.get("verify") or (lambda: Verification.unavailable("the workload has no reference"))
    return result.get("before_step"), result["step"], functools.partial(_checks, verify)


def workload(function: Callable[..., Any] | None = None, /, **attributes: Any) -> Any:
    """Creates a workload from a function: @kymo.workload or @kymo.workload(phases=("forward",), ...).

    `attributes` are those of kymo.Workload: name, phases, optional_phases, devices, ranks, asynchronous, title, family,
    family_order, framework. The name is that of the function by default, the documentation its docstring.

    The function takes the run and the parameters. It prepares the workload and returns step, (step, verify), or a
    mapping with step, before_step and verify: functions without arguments. Parameters are annotated with int, float,
    bool, str, Literal["a", "b"], kymo.Int or an object such as kymo.Int(minimum=1), and have a default value; or their
    default value is such an object, as in impl=kymo.Choice("a", ("a", "b")). Returns a class derived from
    kymo.Workload, whose __wrapped__ is the function. Raises TypeError or ValueError for anything else.
    """
    if unknown := attributes.keys() - set(_ATTRIBUTES):
        raise TypeError(f"kymo.workload() has no argument '{min(unknown)}'; it has {', '.join(_ATTRIBUTES)}")

    def decorate(decorated: Callable[..., Any]) -> type[Workload]:
        if not inspect.isfunction(decorated):
            raise TypeError(f"@kymo.workload decorates functions; derive {decorated!r} from kymo.Workload instead")
        what = f"workload '{attributes.get('name') or decorated.__name__}'"
        body = {
            **{each: getattr(decorated, each) for each in ("__doc__", "__module__", "__qualname__")},
            "__wrapped__": staticmethod(decorated),
            "_function": staticmethod(decorated),
            "name": decorated.__name__,
            **attributes,
        }
        parameters = _parameters_of(decorated, what)
        return types.new_class(
            decorated.__name__, (_Function,), {"parameters": parameters}, lambda space: space.update(body)
        )

    return decorate if function is None else decorate(function)


_BUILTIN: dict[Any, type[Parameter[Any]]] = {bool: Bool, int: Int, float: Real, str: Text}


def _parameters_of(function: Callable[..., Any], what: str) -> dict[str, Parameter[Any]]:
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise TypeError(f"{what} must be a plain function that returns a step function")
    try:
        given = list(inspect.signature(function, eval_str=True).parameters.values())
    except Exception as error:
        raise TypeError(f"{what}: its annotations cannot be evaluated: {error}") from error
    if not given or given[0].kind not in (given[0].POSITIONAL_ONLY, given[0].POSITIONAL_OR_KEYWORD):
        raise TypeError(f"{what} must accept the run: def {function.__name__}(run, ...)")
    parameters = {}
    for each in given[1:]:
        described = f"parameter '{name(each.name, f'the name of a parameter of {what}')}' of {what}"
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD, each.POSITIONAL_ONLY):
            raise TypeError(f"{described} must be an ordinary parameter, not {each}")
        parameters[each.name] = _parameter_of(each, described).checked(described)
    return parameters


def _parameter_of(each: inspect.Parameter, what: str) -> Parameter[Any]:
    default = None if each.default is each.empty else each.default
    if isinstance(default, Parameter):  # as in a class: n=kymo.Int(4, minimum=1)
        kind = type(default)
        if each.annotation not in (each.empty, kind, {Int: int, Real: float, Bool: bool}.get(kind, str)):
            raise TypeError(
                f"{what} has both an annotation and a kymo.{kind.__name__} as its default; write "
                f"{each.name}=kymo.{kind.__name__}({kind.example}), without an annotation"
            )
        return default
    annotation = type(default) if each.annotation is each.empty else each.annotation
    parameter = copy.copy(_parameter_from(annotation, what))
    if default is not None:
        parameter.default = default
    return parameter


def _parameter_from(annotation: Any, what: str) -> Parameter[Any]:
    for extra in getattr(annotation, "__metadata__", ()):  # of typing.Annotated
        if isinstance(extra, Parameter):
            return extra
    if typing.get_origin(annotation) is Literal:
        return Choice(choices=typing.get_args(annotation))
    if isinstance(annotation, Parameter):
        return annotation
    if isinstance(annotation, type) and issubclass(annotation, Parameter):
        return annotation()
    if isinstance(annotation, type) and annotation in _BUILTIN:
        return _BUILTIN[annotation]()
    raise TypeError(
        f"{what} needs a default value and may be annotated with kymo.Int, Real, Bool, Text, Choice, int, float, bool, "
        f"str or Literal[...], not {annotation!r}"
    )
