# SPDX-License-Identifier: Apache-2.0
"""Commands of kymo that are implemented in Python, because the libraries that they use are.

Each module has a function `main(options)` that returns the exit code. host/cli declares and checks the options.
"""

import importlib
import sys

import kymo


class UsageError(kymo.Error):
    """An invalid command line or input; nothing was done."""


def sql_text(text):
    """A text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def require(module, package, purpose):
    """Import a module of an optional package. Raises UsageError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise UsageError(
            f"{purpose} needs the Python package {package}: run '{sys.executable} -m pip install {package}', or pass "
            "--python with an interpreter that has it"
        ) from None
