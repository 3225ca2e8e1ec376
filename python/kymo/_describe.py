# SPDX-License-Identifier: Apache-2.0
"""Imports a file with workloads, finds them and describes them as JSON."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import os
import re
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any, NamedTuple

from . import _engine
from ._errors import FileRejected
from ._workload import Workload, ranks_of

#: The directory lib/kymo of the installation that this package belongs to.
LIBRARY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Torch(NamedTuple):
    """The torch package of this interpreter. Empty texts if there is none."""

    folder: str = ""
    version: str = ""
    cuda: str = ""


def find_torch() -> Torch:
    """Finds the torch package without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return Torch()
    folder = next(iter(spec.submodule_search_locations))
    facts: dict[str, str] = {}
    try:
        with open(os.path.join(folder, "version.py"), encoding="utf-8") as file:
            facts = dict(re.findall(r"^(__version__|cuda)\b[^=\n]*= *'([^']*)'", file.read(), re.MULTILINE))
    except (OSError, ValueError):
        pass
    return Torch(folder, facts.get("__version__", "").split("+")[0], facts.get("cuda", ""))


class _Loader(SourceFileLoader):
    """Compiles exactly the bytes that were hashed, and leaves no bytecode next to the file."""

    def __init__(self, name: str, file: str, source: bytes) -> None:
        super().__init__(name, file)
        self.source = source

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.source, self.path)


def import_file(file: str, sha256: str = "") -> ModuleType:
    """Imports the file, which finds modules as if it were run with `python FILE`. Raises FileRejected if it cannot be
    read or if its hash is not `sha256`, and whatever the file raises."""
    try:
        with open(file, "rb") as opened:
            source = opened.read()
    except OSError as error:
        raise FileRejected(f"{file} cannot be read: {error.strerror}") from None
    if sha256 and hashlib.sha256(source).hexdigest() != sha256:
        raise FileRejected(f"{file} changed since it was described; run again")
    sys.argv = [file]
    sys.path.insert(0, os.path.dirname(file))
    name = os.path.splitext(os.path.basename(file))[0]
    if name in sys.modules or name in sys.stdlib_module_names:  # such as queue.py
        name = f"kymo_file_{name}"
    spec = importlib.util.spec_from_file_location(name, file, loader=_Loader(name, file, source))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def workloads_of(module: ModuleType) -> dict[str, type[Workload]]:
    """Returns the workloads that a module defines, by name, in order of definition. Raises FileRejected if there are
    none, two of the same name, or one without a step."""
    found: dict[str, type[Workload]] = {}
    for value in vars(module).values():
        if not isinstance(value, type) or not issubclass(value, Workload) or value.__module__ != module.__name__:
            continue
        if value.__name__.startswith("_") or value in found.values():
            continue
        name = str(value.name)
        if name in found:
            raise FileRejected(f"it contains two workloads named '{name}': set the attribute `name` of one of them")
        if value.step is Workload.step and not hasattr(value, "_function"):
            raise FileRejected(
                f"workload '{name}' defines no step(self, run); the name of a class that is only a base class begins "
                f"with an underscore"
            )
        found[name] = value
    if not found:
        raise FileRejected(
            "it contains no workload: derive a class from kymo.Workload or decorate a function with @kymo.workload"
        )
    return found


def imports_torch(file: str) -> bool:
    """True if the file imports torch anywhere, also within a function that has not been called."""
    with open(file, "rb") as opened:
        tree = ast.parse(opened.read())
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if any(each.split(".")[0] == "torch" for each in names):
            return True
    return False


def describe(file: str) -> dict[str, Any]:
    """Returns the description of a file as a plugin. Raises FileRejected, and whatever the file raises."""
    torch = find_torch()
    module = import_file(file)
    workloads = workloads_of(module)
    declared = any(workload.framework for workload in workloads.values())
    if declared and not torch.version:
        raise FileRejected(f'a workload declares framework = "torch", but {sys.executable} has no torch')
    used = torch if declared or "torch" in sys.modules or imports_torch(file) else Torch()
    return {
        "name": os.path.splitext(os.path.basename(file))[0],
        "version": str(getattr(module, "__version__", "")),
        "file": "",
        "sha256": "",
        "libraries": {},
        "abi_major": _engine.ABI_MAJOR,
        "abi_minor": _engine.ABI_MINOR,
        "framework": "libtorch" if used.version else "",
        "framework_version": used.version,
        "cuda_version": used.cuda,
        "compiler": f"CPython {sys.version.split()[0]}",
        "cxx_abi": "",
        "torch": used.folder,
        "workloads": [_describe_workload(workload, bool(used.version)) for workload in workloads.values()],
    }


def _describe_workload(workload: type[Workload], uses_torch: bool) -> dict[str, Any]:
    least, most = ranks_of(workload)
    devices = workload.devices or (("cpu", "cuda") if uses_torch else ("cpu",))
    return {
        "name": workload.name,
        # Lines of a paragraph are joined: where they end says nothing.
        "documentation": re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(workload.__doc__ or "")),
        "devices": list(devices),
        "min_ranks": least,
        "max_ranks": most,
        "asynchronous_step": workload.asynchronous,
        "title": workload.name if workload.title is None else workload.title,
        "family": workload.family or "",
        "family_order": workload.family_order,
        "phases": list(workload.phases),
        "parameters": [parameter.describe(name) for name, parameter in workload._parameters.items()],
    }
