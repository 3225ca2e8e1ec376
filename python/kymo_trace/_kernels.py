# SPDX-License-Identifier: Apache-2.0
"""Attributes the kernels that Inductor generates to modules.

While Inductor generates the code of a graph, it reports the graph nodes of each kernel call, in the order of the calls.
The metadata of the nodes, also of those of a backward pass, contain their modules. kymo stores the names of these
modules in the object of the compiled graph, and so also in Inductor's cache. The generated code is a Python function
that calls the kernels. When it is loaded, it is replaced by a function that surrounds each of these calls with a range.
Results and cache keys do not change. core/analysis/scope_finder.hpp parses the names of the ranges.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any

from . import _program
from ._roots import part_name

_MAX_NAMED = 12  # modules of one kernel
_ROOT = re.compile(r"^[LG]\['[^']*'\]")
_STEPS = re.compile(r"\._modules\['([^']+)'\]|\['([^']+)'\]|\[(\d+)\]")

Path = tuple[str, ...]


def module_path(stack: dict[str, tuple[str, Any]]) -> Path:
    """The modules around a node of a graph, named like scopes; empty within the compiled module itself.

    The stack contains each called module, from the outermost: the expression of Dynamo for it, such as
    `L['self'].layers.0`, and its class."""
    path: list[str] = []
    around = ""
    for expression, kind in stack.values():
        root = _ROOT.match(expression)
        rest = expression[root.end() :] if root else "." + expression
        name = (root[0] if root else "") + _STEPS.sub(lambda found: "." + next(filter(None, found.groups())), rest)
        name = ".".join(part for part in name.split(".") if part != "_orig_mod")
        class_name = getattr(kind, "__name__", None) or str(kind).rpartition(".")[2]
        if around and name.startswith(around + "."):
            path.append(part_name(name[len(around) + 1 :], class_name))
        elif root and name != root[0]:
            path.append(part_name(name[root.end() + 1 :], class_name))
        else:  # the frame that is compiled calls this module
            path.append(class_name)
        around = name
    return tuple(path)


def set_name(paths: Iterable[Path]) -> str:
    """The set of modules of a kernel, with their common path first: `layers.0/{norm, feed_forward/0}`."""
    unique = sorted(set(paths)) or [()]
    common = os.path.commonprefix(unique) if len(unique) > 1 else ()  # also of tuples
    names = ["/".join(each[len(common) :]) or "." for each in unique]
    if len(names) > _MAX_NAMED:
        names[_MAX_NAMED:] = [f"{len(names) - _MAX_NAMED} more"]
    return "".join(part + "/" for part in common) + "{" + ", ".join(names) + "}"


def _nodes(schedule: Any) -> Iterable[Any]:
    """The graph nodes of a kernel: those of a library call, or of fused scheduler nodes."""
    if not isinstance(schedule, (list, tuple)):
        return [schedule.origin_node] if schedule.origin_node is not None else schedule.origins
    parts = (getattr(part, "node", None) for part in schedule)
    return [origin for part in parts if part is not None for origin in part.origins]


def _path_of(node: Any) -> Path:
    return module_path(node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {})


class _Marker:
    """Surrounds the kernel calls in generated code with ranges, in their order."""

    def __init__(self, calls: list[tuple[str, str]]) -> None:
        self.names: dict[str, list[str]] = {}
        for kernel, modules in calls:
            self.names.setdefault(kernel, []).append(modules)
        self.found: Counter[str] = Counter()

    def mark(self, node: ast.AST, in_function: bool = False) -> None:
        """Surrounds the kernel calls in functions within the node."""
        in_function = in_function or isinstance(node, ast.FunctionDef)
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list):
                setattr(node, field, [new for each in statements for new in self._marked(each, in_function)])

    def is_complete(self) -> bool:
        return self.found == Counter({kernel: len(names) for kernel, names in self.names.items()})

    def _kernel(self, statement: ast.stmt) -> str | None:
        if not isinstance(statement, (ast.Expr, ast.Assign)):
            return None
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func).removesuffix(".run")
                if called in self.names:
                    return called
        return None

    def _marked(self, statement: ast.stmt, in_function: bool) -> list[ast.stmt]:
        kernel = self._kernel(statement) if in_function else None
        if kernel is None:
            self.mark(statement, in_function)
            return [statement]
        number = self.found[kernel]
        self.found[kernel] += 1
        names = self.names[kernel]
        if number >= len(names):
            return [statement]
        label = names[number] if "." in kernel else f"{kernel} {names[number]}"
        begin = ast.Expr(ast.Call(ast.Name("_kymo_begin", ast.Load()), [ast.Constant(label)], []))
        end = ast.Expr(ast.Call(ast.Name("_kymo_end", ast.Load()), [], []))
        guarded = ast.Try([statement], [], [], [end])
        return [ast.copy_location(each, statement) for each in (begin, guarded)]


def _codes(code: CodeType, inside: str = "") -> dict[str, CodeType]:
    """The code of functions and methods, by qualified name."""
    found: dict[str, CodeType] = {}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found[inside + each.co_name] = each
            found.update(_codes(each, inside + each.co_name + "."))
    return found


def mark_calls(function: FunctionType, source: str, calls: list[tuple[str, str]]) -> bool:
    """Replaces the code of the functions of a module that Inductor generated. Replaces nothing and returns False if the
    module does not contain exactly the given calls."""
    names = function.__globals__
    if "_kymo_begin" in names:
        return True
    marker = _Marker(calls)
    tree = ast.parse(source)
    marker.mark(tree)
    if not marker.is_complete():
        return False
    codes = _codes(compile(ast.fix_missing_locations(tree), function.__code__.co_filename, "exec", dont_inherit=True))
    names["_kymo_begin"], names["_kymo_end"] = _program.range_begin, _program.range_end
    for name, code in codes.items():
        kind, _, method = name.partition(".")
        owner = names.get(kind)
        target = vars(owner).get(method) if method and isinstance(owner, type) else owner
        if isinstance(target, FunctionType) and "_kymo_begin" in code.co_names:
            target.__code__ = code
    return True


class Kernels:
    """Follows Inductor through the generation of a graph's code and its loading."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self.report = report
        self.reported: set[str] = set()
        self.has_ranges = os.environ.get("KYMO_PASS") != "time"

    def _report_once(self, reason: str) -> None:
        if reason not in self.reported:
            self.reported.add(reason)
            self.report(f"modules of generated kernels: {reason}")

    def watch_generation(self, debug: Any) -> None:
        """Observes torch._inductor.debug."""
        try:
            trace = debug.set_kernel_post_grad_provenance_tracing
        except AttributeError as error:
            self._report_once(str(error))
            return

        def set_kernel_post_grad_provenance_tracing(schedule: Any, kernel: str, *args: Any, **kwargs: Any) -> Any:
            try:
                self._add_call(schedule, kernel)
            except Exception as error:  # must not become an error of the program
                self._report_once(f"{type(error).__name__}: {error}")
            return trace(schedule, kernel, *args, **kwargs)

        debug.set_kernel_post_grad_provenance_tracing = set_kernel_post_grad_provenance_tracing

    def _add_call(self, schedule: Any, kernel: str) -> None:
        from torch._inductor.virtualized import V

        calls = V.graph.__dict__.setdefault("_kymo_calls", [])
        calls.append((kernel, set_name(_path_of(node) for node in _nodes(schedule) if node.op == "call_function")))

    def watch_graphs(self, output_code: Any) -> None:
        """Observes torch._inductor.output_code."""
        try:
            graph_class = output_code.CompiledFxGraph
            init, load = graph_class.__init__, graph_class.post_compile
        except AttributeError as error:
            self._report_once(str(error))
            return

        def __init__(graph: Any, current_callable: Any, lowered: Any, *args: Any, **kwargs: Any) -> None:
            init(graph, current_callable, lowered, *args, **kwargs)
            graph._kymo_calls = lowered.__dict__.get("_kymo_calls", [])

        def post_compile(graph: Any, *args: Any, **kwargs: Any) -> Any:
            if self.has_ranges:
                try:
                    self._mark(graph)
                except Exception as error:  # must not become an error of the program
                    self._report_once(f"{type(error).__name__}: {error}")
            return load(graph, *args, **kwargs)

        graph_class.__init__, graph_class.post_compile = __init__, post_compile

    def _mark(self, graph: Any) -> None:
        function = getattr(graph.current_callable, "__func__", graph.current_callable)
        # With cpp_wrapper, the C++ source is a global variable of the function.
        if not isinstance(function, FunctionType) or "cpp_wrapper_src" in function.__globals__:
            self._report_once("unknown with cpp_wrapper, because compiled code calls the kernels")
            return
        calls = getattr(graph, "_kymo_calls", None)
        if calls is None:
            self._report_once(
                "unknown for what Inductor took from its cache and compiled without kymo; another "
                "TORCHINDUCTOR_CACHE_DIR lets it compile that again"
            )
            return
        with open(function.__code__.co_filename, encoding="utf-8") as file:
            source = file.read()
        if not mark_calls(function, source, calls):
            self._report_once("the calls in the code of a graph are not those of its kernels")
