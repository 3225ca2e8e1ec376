# SPDX-License-Identifier: Apache-2.0
"""Writes docs/cli.md from the tool's own help, or checks that it is up to date.

document_cli.py KYMO FILE           writes FILE
document_cli.py --check KYMO FILE   fails if FILE is not what would be written
"""

import subprocess
import sys

COMMANDS = [
    [],
    ["list"],
    ["describe"],
    ["run"],
    ["suite", "list"],
    ["suite", "run"],
    ["report"],
    ["compare"],
    ["sql"],
    ["export", "perfetto"],
    ["export", "memory-viz"],
    ["export", "csv"],
    ["merge"],
    ["verify"],
    ["doctor"],
    ["new"],
    ["build"],
]

EXIT_CODES = """## Exit codes

| code | meaning |
| --- | --- |
| 0 | done; every run is ok, skipped or out of memory |
| 1 | the tool itself could not go on |
| 2 | the command line asks for something that cannot be; nothing was done |
| 3 | some run failed (with `--fail-on-oom` also one that was out of memory), or, with `compare --fail-on-slower`, \
a case is slower |
| 130, 143 | ended by SIGINT or SIGTERM; what was measured is stored |

Tables go to standard output; progress, logs and errors go to standard error, each error in one line.
Colour is used on a terminal only, and not if `NO_COLOR` is set.
"""


def help_of(kymo, words):
    run = subprocess.run([kymo, *words, "--help"], capture_output=True, text=True, check=True)
    return "\n".join(line.rstrip() for line in run.stdout.strip().splitlines())


def document(kymo):
    parts = ["<!-- Made by the target cli_docs from the tool's own help; do not edit. -->\n# The command line\n"]
    for words in COMMANDS:
        parts.append(f"## {' '.join(['kymo', *words])}\n\n```text\n{help_of(kymo, words)}\n```\n")
    parts.append(EXIT_CODES)
    return "\n".join(parts)


def main(arguments):
    check = arguments[:1] == ["--check"]
    kymo, file = arguments[1:] if check else arguments
    text = document(kymo)
    if not check:
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        return 0
    with open(file, encoding="utf-8") as found:
        if found.read() == text:
            return 0
    print(f"{file} is not what the tool's help says; build the target cli_docs", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
