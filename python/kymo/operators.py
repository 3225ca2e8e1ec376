# SPDX-License-Identifier: Apache-2.0
"""kymo's operators for LibTorch, attention and fused layers, in any program in Python:

    import kymo.operators

    kymo.operators.load()
    out = torch.ops.kymo.attention(q, k, v, causal=True)

docs/attention.md and docs/fused-layers.md describe them. Importing this module does not import torch.
"""

from __future__ import annotations

import pathlib
import re

from ._build import TORCH_VERSION
from ._describe import LIBRARY

_RELEASE = re.compile(r"(\d+\.\d+)\.\d+(?:\+.*)?")
_OTHERS = "torch-"  # begins the names of directories of libraries for versions other than that of the build


def _minor(version: str) -> str:
    """ "2.12" of "2.12.1" and "2.12.1+cu130"; empty if the version is not that of a release."""
    release = _RELEASE.fullmatch(version)
    return release[1] if release else ""


def library(version: str) -> pathlib.Path:
    """The library with the operators for a version of torch.

    Raises ImportError, which names the versions for which this installation has operators, if there is none.
    """
    installation = pathlib.Path(LIBRARY)
    others = {
        folder.name.removeprefix(_OTHERS): folder / "libkymo_ops.so"
        for folder in (installation / "operators").glob(f"{_OTHERS}*")
    }
    libraries = {_minor(TORCH_VERSION): installation / "plugins" / "libkymo_ops.so", **others}
    minors = sorted((minor for minor, file in libraries.items() if minor and file.exists()), key=_numbers)
    if _minor(version) in minors:
        return libraries[_minor(version)]
    known = f"has them for releases of torch {', '.join(minors)}" if minors else "was built without torch"
    raise ImportError(f"no operators for torch {version}: kymo in {installation} {known}")


def _numbers(minor: str) -> list[int]:
    return [int(number) for number in minor.split(".")]


def load() -> None:
    """Registers the operators as torch.ops.kymo. A second call changes nothing.

    Raises ImportError if there are no operators for the imported torch, and OSError if they cannot be loaded, as
    without the CUDA runtime of torch's wheels for CUDA 13.
    """
    import torch

    torch.ops.load_library(str(library(str(torch.__version__))))
