# SPDX-License-Identifier: Apache-2.0
"""docs/examples/make.py writes a report if there is a database; otherwise it explains how to create one, or creates
it. docs/examples contains what decision 0019 allows."""

import re
import shlex
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from kymo_tool import HANG_S, KYMO, PLUGINS, KymoTest

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "examples" / "make.py"

# Replacement for kymo: logs its arguments and creates the database of a suite as an empty file.
STAND_IN = """#!/bin/sh
printf '%s\\n' "$*" >>calls
case "$*" in
  *"suite run"*) touch out/examples/quick.db; exit ${SUITE_CODE:-0} ;;
  report*)
    mkdir -p out/examples/quick/figures
    echo first >out/examples/quick/figures/first.svg
    echo second >out/examples/quick/figures/second.svg
    printf '![First.](figures/first.svg)\n\n**Figure 1.** First.\n\n' >out/examples/quick/report.md
    printf '![Second.](figures/second.svg)\n\n**Figure 2.** Second.\n' >>out/examples/quick/report.md ;;
esac
"""
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


class ExamplesTest(KymoTest):
    def make(self, *words, kymo=KYMO, script=SCRIPT, code=0, **environment):
        """Without `kymo`, the script looks for the program itself."""
        program = ["--kymo", str(kymo)] if kymo else []
        done = subprocess.run(
            [sys.executable, script, *program, *map(str, words)],
            cwd=self.work,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=HANG_S,
            check=False,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def stand_in(self):
        program = self.work / "stand-in"
        program.write_text(STAND_IN)
        program.chmod(0o755)
        return program

    def calls(self):
        log = self.work / "calls"
        return log.read_text().splitlines() if log.exists() else []

    def test_a_database_becomes_a_report_in_all_formats(self):
        self.kymo("run", PLUGINS / "probe.so", "--steps", "1", "--warmup", "0", "--no-verify")
        self.make("quick=kymo.db", "--out", "made")
        for suffix in ("md", "html", "tex", "typ"):
            self.assertGreater((self.work / "made" / "quick" / f"report.{suffix}").stat().st_size, 0)

    def test_a_database_without_runs_of_its_suite_is_an_error(self):
        self.kymo("run", PLUGINS / "probe.so", "--steps", "1", "--warmup", "0", "--no-verify")
        done = self.make("cs336=kymo.db", code=1)
        self.assertIn("no run of the suite 'cs336'", done.stderr)

    def test_without_a_database_it_says_how_to_make_one(self):
        done = self.make("cs336-distributed", "cs336", kymo=self.stand_in())
        distributed, whole = done.stdout.splitlines()
        self.assertIn("two NVIDIA H100 or H200", distributed)
        _, _, commands = distributed.rpartition(": ")
        self.assertEqual(
            [shlex.split(command)[3:] for command in commands.split(" && ")],
            [
                ["cs336", "--filter", "ddp|sharding|collectives-nccl", "--db", "out/examples/cs336-distributed.db"],
                ["cs336", "--filter", "collectives-gloo", "--db", "out/examples/cs336-distributed.db"],
            ],
        )
        self.assertIn("one NVIDIA H100 or H200", whole)
        self.assertEqual(self.calls(), [])

    def test_what_any_machine_can_make_is_made(self):
        kymo = self.stand_in()
        done = self.make(kymo=kymo)
        self.assertEqual(
            self.calls(),
            [
                "suite run quick --db out/examples/quick.db --resume",
                "report quick --db out/examples/quick.db --out out/examples/quick "
                "--format markdown,html,latex,typst,csv",
            ],
        )
        self.assertEqual(sum(line.startswith("cs336") for line in done.stdout.splitlines()), 2)

    def test_a_failed_suite_still_has_its_report(self):
        done = self.make("quick", kymo=self.stand_in(), code=1, SUITE_CODE="3")
        self.assertIn("failed with exit code 3", done.stderr)
        self.assertEqual([call.split()[0] for call in self.calls()], ["suite", "report"])

    def copy_script(self):
        """Copies the script to another repository, so that it reads and writes files there."""
        script = self.work / "docs" / "examples" / "make.py"
        script.parent.mkdir(parents=True)
        shutil.copy(SCRIPT, script)
        return script

    def test_a_tracked_report_has_the_figures_that_pages_show(self):
        script = self.copy_script()
        tracked = script.parent / "quick"
        (tracked / "figures").mkdir(parents=True)
        (tracked / "figures" / "former.svg").touch()
        readme = self.work / "README.md"
        readme.write_text("![Shown](docs/examples/quick/figures/second.svg)\n")
        self.make("quick", "--track", kymo=self.stand_in(), script=script)
        self.assertEqual(
            (tracked / "report.md").read_text(),
            "**Figure 1.** First. *Omitted from the repository; `docs/examples/make.py` generates it.*\n\n"
            "![Second.](figures/second.svg)\n\n**Figure 2.** Second.\n",
        )
        self.assertEqual([file.name for file in (tracked / "figures").iterdir()], ["second.svg"])
        self.assertEqual((tracked / "figures" / "second.svg").read_text(), "second\n")

        readme.write_text("![Gone](docs/examples/quick/figures/third.svg)\n")
        done = self.make("quick", "--track", kymo=self.stand_in(), script=script, code=1)
        self.assertIn("figures/third.svg", done.stderr)

    def test_the_repository_contains_only_figures_that_pages_show(self):
        root = SCRIPT.parents[2]
        written = [root / "README.md", *(page for page in (root / "docs").rglob("*.md") if page.name != "report.md")]
        shown = {(page.parent / image).resolve() for page in written for image in IMAGE.findall(page.read_text())}
        folders = [report.parent for report in SCRIPT.parent.glob("*/report.md")]
        self.assertEqual(len(folders), 2)
        pages = 0
        for folder in folders:
            report = folder / "report.md"
            figures = {(folder / image).resolve() for image in IMAGE.findall(report.read_text())}
            self.assertEqual(figures, {image for image in shown if image.is_relative_to(folder.resolve())})
            others = {file.resolve() for file in folder.rglob("*") if file.is_file()} - figures - {report.resolve()}
            self.assertLessEqual({file.name for file in others}, {"report.html"})
            pages += len(others)
        self.assertEqual(pages, 1)

    def test_the_built_program_is_used_by_default(self):
        script = self.copy_script()
        built = self.work / "build" / "bin" / "kymo"
        built.parent.mkdir(parents=True)
        shutil.move(self.stand_in(), built)
        self.make("quick", kymo=None, script=script)
        self.assertEqual([call.split()[0] for call in self.calls()], ["suite", "report"])

    def test_a_report_that_fails_is_an_error(self):
        (self.work / "x.db").write_text("no database")
        self.make("cs336=x.db", code=1, kymo="/bin/false")

    def test_wrong_arguments(self):
        for words, says in (
            (["nothing"], "unknown example 'nothing'; choose from quick, cs336"),
            (["cs336=missing.db"], "database 'missing.db' not found"),
            (["quick", "quick"], "given more than once"),
            (["--kymo", "./missing"], "kymo not found"),
            (["--track", "quick"], "--track accepts only examples in docs/examples: cs336, cs336-distributed"),
        ):
            done = self.make(*words, kymo="/bin/true", code=2)
            self.assertIn(says, done.stderr)
        self.assertEqual(list(self.work.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
