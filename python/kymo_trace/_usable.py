# SPDX-License-Identifier: Apache-2.0
"""Whether the torch of a program is the one that kymo was built for."""

from __future__ import annotations

import importlib.util
import os
from typing import Any


class Unusable(Exception):
    """The program cannot be observed. The message says why."""


def _build_facts(library: str) -> Any:
    """The module kymo._build, without the package around it."""
    file = os.path.join(library, "python", "kymo", "_build.py")
    spec = importlib.util.spec_from_file_location("kymo_trace._build", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_version(torch: Any, library: str) -> None:
    """`library` is the folder lib/kymo. Raises Unusable."""
    built_for = _build_facts(library).TORCH_VERSION
    version = str(torch.__version__).split("+")[0]
    if version != built_for:
        raise Unusable(f"the program uses torch {version}, but kymo was built for torch {built_for or 'none'}")
