# SPDX-License-Identifier: Apache-2.0
"""Started by kymo for a command that is implemented in Python.

kymo_command.py NAME OPTIONS   NAME: a module of kymo_commands; OPTIONS: a JSON object
"""

import importlib
import json
import os
import sys

if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit("kymo: this command requires Python 3.10 or later, not %d.%d" % sys.version_info[:2])  # noqa: UP031

# Python has added the folder with symbolic links resolved, and not at all with -P.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import kymo  # noqa: E402
from kymo_commands import UsageError  # noqa: E402

_TOOL_FAILED, _USAGE, _INTERRUPTED = 1, 2, 130

if __name__ == "__main__":  # processes that multiprocessing spawns run this file under another name
    try:
        code = importlib.import_module("kymo_commands." + sys.argv[1]).main(json.loads(sys.argv[2]))
        sys.stdout.flush()
    except kymo.Error as error:
        print(f"kymo: {error}", file=sys.stderr)
        sys.exit(_USAGE if isinstance(error, UsageError) else _TOOL_FAILED)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:  # of `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_TOOL_FAILED)
    sys.exit(code)
