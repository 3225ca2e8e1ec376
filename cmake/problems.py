# SPDX-License-Identifier: Apache-2.0
"""How the checks of lint end."""

import sys


def report(problems):
    """Print the problems, one line each, and return the exit code."""
    found = list(problems)
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0
