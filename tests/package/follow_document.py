#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the instructions of a document: writes its blocks of code that name a file, such as ```cpp FILE, and runs its
```sh blocks in order, in an empty directory.

  follow_document.py DOCUMENT KYMO_BINARY

The document assumes that `kymo` is on PATH and that Python imports the package `kymo`; here the directories of both are
added to PATH and PYTHONPATH, and `python3` is the interpreter that runs this script. Fails with the first
command that fails.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

# What `./dev test quick` follows; the others take a minute of processor time each.
QUICK = ("first-steps.md", "plugin-in-c.md", "write-a-report.md")
SKIPPED = 77
BLOCK = re.compile(r"^```(\w+)(?: ([\w./-]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main():
    document, kymo = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    if "KYMO_QUICK" in os.environ and document.name not in QUICK:
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="kymo-document") as folder:
        work = pathlib.Path(folder) / "work"
        work.mkdir()
        environment = dict(
            os.environ,
            PATH=f"{kymo.parent}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
            PYTHONPATH=str(kymo.parents[1] / "lib" / "kymo" / "python"),
            XDG_CACHE_HOME=f"{folder}/cache",
            OMP_NUM_THREADS="1",  # threads that spin while they wait for each other take most of the time
        )
        followed = 0
        for language, name, content in BLOCK.findall(document.read_text()):
            if name:
                (work / name).parent.mkdir(exist_ok=True)
                (work / name).write_text(content)
            elif language == "sh":
                followed += 1
                print(f"--- {content.strip()}", flush=True)
                result = subprocess.run(
                    ["bash", "-euo", "pipefail", "-c", content], cwd=work, env=environment, stdin=subprocess.DEVNULL
                )
                if result.returncode != 0:
                    print(
                        f"{document.name}: this command of the document failed with exit code "
                        f"{result.returncode}:\n{content}"
                    )
                    return 1
        if followed == 0:
            print(f"{document.name}: the document contains no commands")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
