# SPDX-License-Identifier: Apache-2.0
"""Checks that every #include follows the dependencies between the components, and that external headers are included
only where allowed: {base, abi} <- event <- {measure, analysis <- store, collect} <- host; abi <- sdk <- plugins. The
collector modules do not include each other: {event_log, stacks} <- {cuda, torch, torch_cuda}. The units below host (a
header with its source) do not include each other in a circle."""

import graphlib
import re
import sys
from pathlib import Path

from problems import report

ROOT = Path(__file__).resolve().parent.parent

# Component (directory below core/ or host/) -> other components that it may include.
MAY_INCLUDE = {
    "base": set(),
    "abi": set(),
    "sdk": {"abi"},
    "event": {"base", "abi"},
    "measure": {"base", "event"},
    "analysis": {"base", "event", "measure"},
    "collect": {"base", "event", "measure", "abi"},
    "store": {"base", "event", "measure", "analysis", "schemas"},
    "catalog": {"base", "event", "measure", "abi"},
    "worker": {"base", "event", "measure", "analysis", "collect", "store", "catalog", "abi"},
    "engine": {"base", "event", "measure", "collect", "worker", "abi"},
    "supervisor": {"base", "event", "measure", "store", "catalog"},
    "report": {"base", "event", "measure", "store"},
    "export": {"base", "event", "measure", "store", "report"},
    "plan": {"base", "measure", "store", "catalog", "worker", "supervisor"},
    "terminal": {"base", "measure", "store", "supervisor", "report", "plan"},
    "cli": {
        *("base", "event", "measure", "store", "catalog", "worker", "supervisor"),
        *("plan", "terminal", "report", "export", "analysis"),
    },
}

# Directories below core/collect that any other one may include. The collector modules are loaded one by one, so they
# share code only through libraries.
COLLECT_LIBRARIES = {"event_log", "stacks"}

# Prefix of an external header -> directories that may include it.
OUTSIDE = {
    "CLI/": ["host/cli"],
    "sqlite3.h": ["core/store"],
    "SQLiteCpp/": ["core/store"],
    "boost/dll": ["host/catalog", "host/worker", "core/collect"],
    "boost/asio": ["host/supervisor", "host/worker"],
    "boost/interprocess": ["core/measure"],
    "toml++/": ["core/base"],
    "torch/": ["core/sdk/torch", "core/sdk/comm", "core/collect/torch", "plugins"],
    "ATen/": ["core/sdk/torch", "core/sdk/comm", "core/collect/torch", "plugins"],
    "c10/": ["core/sdk/torch", "core/sdk/comm", "core/collect/torch", "plugins"],
    "cuda": ["core/collect/cuda", "core/collect/torch_cuda", "core/sdk/torch", "core/sdk/comm", "plugins"],
    "gloo/": ["core/sdk/comm"],
    "nccl": ["core/sdk/comm"],
    "cupti": ["core/collect/cuda"],
    "nvml": ["core/collect/cuda"],
}

COLLECT = ROOT / "core" / "collect"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = {".cpp", ".hpp", ".h", ".cu", ".cuh"}


def collect_folder_of(path):
    """Returns the directory below core/collect that contains the file, or None."""
    parts = path.relative_to(COLLECT).parts if path.is_relative_to(COLLECT) else ()
    return parts[0] if len(parts) > 1 else None


def collect_problem(path, header):
    """Returns a line if the header is in a directory below core/collect that the file may not include."""
    beside = path.parent / header
    target = collect_folder_of((beside if beside.exists() else ROOT / "core" / header).resolve())
    source = collect_folder_of(path)
    allowed = {source} if source in COLLECT_LIBRARIES else COLLECT_LIBRARIES | {source}
    if target is None or target in allowed:
        return None
    return f'{path.relative_to(ROOT)}: may not include "{header}", which belongs to core/collect/{target}'


def problems_of(path):
    """Yields one line for each invalid include of a file."""
    relative = path.relative_to(ROOT).as_posix()
    parts = relative.split("/")
    is_plugin = parts[0] == "plugins"
    component = parts[1]
    for bracket, header in INCLUDE.findall(path.read_text(encoding="utf-8")):
        for start, homes in OUTSIDE.items():
            if bracket == "<" and header.startswith(start) and not any(relative.startswith(home) for home in homes):
                yield f"{relative}: <{header}> may be included only in {', '.join(homes)}"
        first = header.split("/")[0]
        if bracket == '"' and (problem := collect_problem(path, header)):
            yield problem
        if bracket == '"' and (path.parent / header).exists():
            continue
        if is_plugin and first in MAY_INCLUDE:
            yield f'{relative}: a plugin may only include <kymo/...>, not "{header}"'
        if (
            not is_plugin
            and "/" in header
            and first in MAY_INCLUDE
            and first != component
            and first not in MAY_INCLUDE[component]
        ):
            allowed = ", ".join(sorted(MAY_INCLUDE[component])) or "no other component"
            yield f'{relative}: component {component} may not include "{header}"; it may include {allowed}'


def circle_of_units():
    """Returns a line if units below host include each other in a circle."""
    includes = {}
    for path in (ROOT / "host").rglob("*.?pp"):
        unit = path.relative_to(ROOT / "host").with_suffix("").as_posix()
        included = {header.rsplit(".", 1)[0] for bracket, header in INCLUDE.findall(path.read_text()) if bracket == '"'}
        includes.setdefault(unit, set()).update(included - {unit})
    try:
        graphlib.TopologicalSorter(includes).prepare()
    except graphlib.CycleError as error:
        return ["host: these units include each other in a circle: " + " <- ".join(error.args[1])]
    return []


def main():
    problems = circle_of_units()
    for top in ("core", "host", "plugins"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in SOURCES:
                problems.extend(problems_of(path))
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
