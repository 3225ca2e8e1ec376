#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generate the example reports in all formats, each from its results database.

For each example, write the report to OUT/NAME if its database exists. Otherwise run the suite first if the example
runs on any machine, or print the required machine and the commands that create the database. Without arguments,
process all examples."""

import argparse
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACKED = ROOT / "docs" / "examples"
FORMATS = "markdown,html,latex,typst,csv"
FIGURE = re.compile(r"^!\[.*\]\((figures/[^)]+)\)\n\n(\*\*Figure \d+\.\*\*.*)$", re.MULTILINE)
OMITTED = "*Omitted from the repository; `docs/examples/make.py` generates it.*"


@dataclasses.dataclass
class Example:
    suite: str  # the report has the same name
    machine: str = ""  # empty: any machine, with or without a GPU
    filters: tuple = ()  # one `kymo suite run` per filter; empty: the whole suite

    def runs(self, kymo, database):
        """Return the commands that create the database."""
        words = [kymo, "suite", "run", self.suite]
        return [[*words, *more, "--db", database] for more in ([["--filter", f] for f in self.filters] or [[]])]


EXAMPLES = {
    "quick": Example("quick"),
    "cs336": Example("cs336", "one NVIDIA H100 or H200"),
    "cs336-distributed": Example(
        "cs336", "two NVIDIA H100 or H200 with NVLink", ("ddp|sharding|collectives-nccl", "collectives-gloo")
    ),
}


def parse(words):
    parser = argparse.ArgumentParser(
        prog="make.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "examples",
        nargs="*",
        metavar="NAME[=DATABASE]",
        help=f"one of {', '.join(EXAMPLES)}; DATABASE defaults to OUT/NAME.db",
    )
    parser.add_argument("--track", action="store_true", help="also update the report in docs/examples/NAME")
    parser.add_argument("--out", default="out/examples", help="output directory [%(default)s]")
    parser.add_argument("--kymo", help="path of the kymo program [build/bin/kymo if it exists, otherwise kymo on PATH]")
    arguments = parser.parse_args(words)
    arguments.databases = {}
    for word in arguments.examples or EXAMPLES:
        name, given, database = word.partition("=")
        if name not in EXAMPLES:
            parser.error(f"unknown example '{name}'; choose from {', '.join(EXAMPLES)}")
        if name in arguments.databases:
            parser.error(f"example '{name}' is given more than once")
        if given and not os.path.isfile(database):
            parser.error(f"{name}: database '{database}' not found")
        arguments.databases[name] = database
    built = ROOT / "build" / "bin" / "kymo"
    arguments.kymo = shutil.which(arguments.kymo or (str(built) if built.exists() else "kymo"))
    if arguments.kymo is None:
        parser.error("kymo not found; build it with './dev build' or pass its path with --kymo")
    if arguments.track and not all((TRACKED / name).is_dir() for name in arguments.databases):
        tracked = [name for name in EXAMPLES if (TRACKED / name).is_dir()]
        parser.error(f"--track accepts only examples in docs/examples: {', '.join(tracked)}")
    return arguments


def shown_figures(tracked):
    """Return the paths of the figures in the folder `tracked` that README.md or a page in docs shows."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    images = [
        (page.parent / image).resolve()
        for page in pages
        if page.parent != tracked
        for image in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    ]
    return {str(image.relative_to(tracked)) for image in images if image.is_relative_to(tracked)}


def track(report, tracked):
    """Write the Markdown report in `report` to the folder `tracked`, with the figures that other pages show."""
    shown = shown_figures(tracked)
    text = (report / "report.md").read_text(encoding="utf-8")
    found = {image for image, _ in FIGURE.findall(text)}
    if missing := shown - found:
        raise SystemExit(f"make.py: pages show figures that {report / 'report.md'} does not have: {sorted(missing)}")
    text = FIGURE.sub(lambda figure: figure[0] if figure[1] in shown else f"{figure[2]} {OMITTED}", text)
    pictures = {image: (report / image).read_bytes() for image in shown}
    shutil.rmtree(tracked / "figures", ignore_errors=True)
    (tracked / "report.md").write_text(text, encoding="utf-8")
    for image, content in pictures.items():
        (tracked / image).parent.mkdir(exist_ok=True)
        (tracked / image).write_bytes(content)


def call(words):
    """Run a command and return its exit code; print an error if it is not 0."""
    print(f"+ {shlex.join(words)}", flush=True)
    code = subprocess.run(words, check=False).returncode
    if code != 0:
        print(f"make.py: '{shlex.join(words)}' failed with exit code {code}", file=sys.stderr, flush=True)
    return code


def make(name, given, arguments):
    """Generate the report of one example. Return True if no command failed."""
    example, out = EXAMPLES[name], os.path.join(arguments.out, name)
    database = given or f"{out}.db"
    ok = True
    if not given and not example.machine:  # complete the results of an interrupted invocation
        os.makedirs(arguments.out, exist_ok=True)
        codes = [call([*run, "--resume"]) for run in example.runs(arguments.kymo, database)]
        ok = not any(codes)
    if not os.path.isfile(database):
        if example.machine:
            runs = " && ".join(shlex.join(run) for run in example.runs("kymo", database))
            print(f"{name}: {database} not found; to create it, run on {example.machine}: {runs}")
        return ok
    words = [arguments.kymo, "report", example.suite, "--db", database, "--out", out, "--format", FORMATS]
    ok = call(words) == 0 and ok
    if ok and arguments.track:
        track(pathlib.Path(out), TRACKED / name)
    return ok


def main():
    arguments = parse(sys.argv[1:])
    done = [make(name, database, arguments) for name, database in arguments.databases.items()]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
