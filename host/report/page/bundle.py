# SPDX-License-Identifier: Apache-2.0
"""bundle.py START.js OUTPUT.js: joins a module and the modules that it imports into one script, each after those that
it imports. Their top-level names must differ, because they share the scope of the script."""

import re
import sys
from pathlib import Path

IMPORT = re.compile(r'^import \{[^}]*\} from "\./(?P<name>[\w.]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function)\b)", re.MULTILINE)
DECLARED = re.compile(r"^(?:async )?(?:class|const|let|function) (\w+)", re.MULTILINE)
MODULE_SYNTAX = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def modules_of(file, importing=()):
    """Yields the paths of the modules that `file` imports, then its own; a path can come again. Raises ValueError."""
    if file in importing:
        raise ValueError(f"{' imports '.join(each.name for each in (*importing, file))}: modules import each other")
    for imported in IMPORT.finditer(file.read_text(encoding="utf-8")):
        yield from modules_of(file.parent / imported["name"], (*importing, file))
    yield file


def script_of(file):
    """Returns a module as a part of a script. Raises ValueError."""
    script = EXPORT.sub("", IMPORT.sub("", file.read_text(encoding="utf-8")))
    if rest := MODULE_SYNTAX.search(script):
        raise ValueError(f"{file.name}: only imports of names and exported declarations can be joined: {rest[0]}")
    return script


def bundled(start):
    """Returns the script. Raises ValueError."""
    declared = {}
    scripts = []
    for file in dict.fromkeys(modules_of(start)):
        script = script_of(file)
        for name in DECLARED.findall(script):
            if name in declared:
                raise ValueError(f"{file.name} and {declared[name]} both declare {name}")
            declared[name] = file.name
        scripts.append(script)
    return "\n".join(scripts)


if __name__ == "__main__":
    try:
        Path(sys.argv[2]).write_text(bundled(Path(sys.argv[1])), encoding="utf-8")
    except (OSError, ValueError) as error:
        sys.exit(f"bundle.py: {error}")
