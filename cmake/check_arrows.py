# SPDX-License-Identifier: Apache-2.0
"""Checks that every #include follows the dependencies between the components, and that external headers are included
only where allowed: base <- event <- {measure, analysis, collect, store} <- host; abi <- sdk <- plugins."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Component (directory below core/ or host/) -> other components that it may include.
MAY_INCLUDE = {
    "base": set(),
    "abi": set(),
    "sdk": {"abi"},
    "event": {"base"},
    "measure": {"base", "event"},
    "analysis": {"base", "event", "measure"},
    "collect": {"base", "event", "measure", "abi"},
    "store": {"base", "event", "measure", "schemas"},
    "catalog": {"base", "event", "measure", "abi"},
    "worker": {"base", "event", "measure", "analysis", "collect", "store", "catalog", "abi"},
    "supervisor": {"base", "event", "measure", "store", "catalog"},
    "report": {"base", "event", "measure", "store"},
    "export": {"base", "event", "measure", "store", "report"},
    "cli": {"base", "event", "measure", "store", "catalog", "worker", "supervisor", "report", "export", "analysis"},
}

# Prefix of an external header -> directories that may include it.
OUTSIDE = {
    "CLI/": ["host/cli"],
    "sqlite3.h": ["core/store"],
    "SQLiteCpp/": ["core/store"],
    "boost/dll": ["host/catalog", "host/worker", "core/collect"],
    "boost/asio": ["host/supervisor", "host/worker"],
    "boost/interprocess": ["core/measure"],
    "toml++/": ["core/base"],
    "spdlog/": ["core/base"],
    "torch/": ["core/sdk/torch", "core/sdk/comm", "core/collect/torch", "plugins"],
    "ATen/": ["core/sdk/torch", "core/sdk/comm", "core/collect/torch", "plugins"],
    "c10/": ["core/sdk/torch", "core/sdk/comm", "core/collect/torch", "plugins"],
    "cuda": ["core/collect/cuda", "core/collect/torch_cuda", "core/sdk/torch", "core/sdk/comm", "plugins"],
    "gloo/": ["core/sdk/comm"],
    "nccl": ["core/sdk/comm"],
    "cupti": ["core/collect/cuda"],
    "nvml": ["core/collect/cuda"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = {".cpp", ".hpp", ".h", ".cu", ".cuh"}


def problems_of(path):
    """Yields one line for each invalid include of a file."""
    relative = path.relative_to(ROOT).as_posix()
    parts = relative.split("/")
    is_plugin = parts[0] == "plugins"
    room = parts[1]
    for bracket, header in INCLUDE.findall(path.read_text(encoding="utf-8")):
        for start, homes in OUTSIDE.items():
            if bracket == "<" and header.startswith(start) and not any(relative.startswith(home) for home in homes):
                yield f"{relative}: <{header}> may be included only in {', '.join(homes)}"
        first = header.split("/")[0]
        if bracket == '"' and (path.parent / header).exists():
            continue
        if is_plugin and first in MAY_INCLUDE:
            yield f'{relative}: a plugin may only include <kymo/...>, not "{header}"'
        if (
            not is_plugin
            and "/" in header
            and first in MAY_INCLUDE
            and first != room
            and first not in MAY_INCLUDE[room]
        ):
            allowed = ", ".join(sorted(MAY_INCLUDE[room])) or "no other component"
            yield f'{relative}: component {room} may not include "{header}"; it may include {allowed}'


def main():
    problems = []
    for top in ("core", "host", "plugins"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in SOURCES:
                problems.extend(problems_of(path))
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
