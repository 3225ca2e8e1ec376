# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/extend.md and the pages that it names apply to a copy of the sources, touch as few files as
stated, and work.

Called with a directory, this script applies all recipes to the source tree there, which can then be built and tested
as a whole.
"""

import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

from kymo_tool import BUILD, KYMO, KymoTest, needs_torch_parts

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("core", "host", "plugins", "python", "reports", "schemas")
BLOCK = re.compile(r"^## (?P<section>[^\n]*)$|^```(?P<language>\w+) (?P<file>\S+)\n(?P<text>.*?)^```$", re.M | re.S)
PAGES = ("extend.md", "attention.md", "workloads.md")
FILES = {
    "A data-parallel strategy": 2,
    "A collector": 2,
    "A table with its view": 4,
    "A report section": 2,
    "A memory category": 2,
    "A method setting": 2,
    "An attention kernel": 3,
    "A command": 2,
}
MODULE = "core/collect/faults/module.cpp"  # not counted for the table, which any collector may fill


def recipes():
    """The blocks of each section: {section: [(language, file, text)]}."""
    found, section = {}, None
    for block in BLOCK.finditer("".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES)):
        section = block["section"] or section
        if block["file"]:
            found.setdefault(section, []).append((block["language"], block["file"], block["text"]))
    return found


def edit(path, difference):
    """Replaces the lines of a block that begin with '-' or a space by those that begin with '+' or a space."""
    lines = [line or " " for line in difference.splitlines()]
    before = "".join(line[1:] + "\n" for line in lines if line[0] != "+")
    after = "".join(line[1:] + "\n" for line in lines if line[0] != "-")
    text = path.read_text(encoding="utf-8")
    if text.count(before) != 1:
        raise AssertionError(f"these lines of a recipe occur {text.count(before)} times in {path}:\n{before}")
    path.write_text(text.replace(before, after), encoding="utf-8")


def follow(section, root):
    for language, file, text in recipes()[section]:
        path = root / file
        if language == "diff":
            edit(path, text)
            continue
        if path.exists():
            raise AssertionError(f"a recipe creates {file}, which exists")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def build_commands(target):
    """The shell commands that build a target in the build directory."""
    ninja = re.search(r"CMAKE_MAKE_PROGRAM:\w+=(.*)", (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"))[1]
    listing = subprocess.run([ninja, "-C", BUILD, "-t", "commands", target], check=True, capture_output=True, text=True)
    return listing.stdout.splitlines()


class ExtendTest(KymoTest):
    def sources(self, *sections):
        """A copy of the sources after these recipes."""
        root = self.folder / "source"
        for folder in SOURCES:
            shutil.copytree(ROOT / folder, root / folder)
        for section in sections:
            follow(section, root)
        return root

    def call(self, *words):
        done = subprocess.run(list(map(str, words)), cwd=BUILD, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stderr}")

    def compile(self, root, source, like, *to):
        """Compiles a file of the copy with the options of an object file of the build whose name ends with `like`."""
        target, end = like
        (command,) = (
            part
            for line in build_commands(target)
            for part in line.split(" && ")
            if " -c " in part and re.search(rf" -o \S*{re.escape(end)}( |$)", part)
        )
        words = shlex.split(command)
        words = words[next(i for i, word in enumerate(words) if re.search(r"/(c\+\+|nvcc)$", word)) :]
        kept, skip = [], 0
        for word in words:
            skip = max(skip, 2 if word in ("-MT", "-MF", "-o", "-c", "-include") else 0)
            if skip == 0:
                kept.append(re.sub(f"^-I{ROOT}/(?=({'|'.join(SOURCES)})(/|$))", f"-I{root}/", word))
            skip = max(0, skip - 1)
        self.call(
            *(word for word in kept if word not in ("-MD", "-Winvalid-pch")),
            *(to or ("-fsyntax-only",)),
            "-c",
            root / source,
        )

    def test_each_touches_few_files(self):
        self.assertEqual(set(recipes()), set(FILES))
        for section, blocks in recipes().items():
            files = {file for _, file, _ in blocks}
            if section == "A table with its view":
                files.discard(MODULE)
            self.assertEqual(len(files), FILES[section], section)
        self.assertEqual({Path(file).parent for _, file, _ in recipes()["A collector"]}, {Path(MODULE).parent})

    @needs_torch_parts
    def test_strategy(self):
        root = self.sources("A data-parallel strategy")
        naive = "lib/kymo/plugins/ddp_naive.so"
        compiled, plugin = self.folder / "ddp_reverse.o", self.work / "ddp_reverse.so"
        self.compile(
            root,
            "plugins/ddp_reverse/ddp_reverse.cpp",
            (naive, "ddp_naive.dir/Unity/unity_0_cxx.cxx.o"),
            "-o",
            compiled,
        )
        link = build_commands(naive)[-1].replace(f" -o {naive} ", f" -o {plugin} ")
        self.call("sh", "-c", re.sub(r" \S*/ddp_naive\.dir/\S+\.o ", f" {compiled} ", link))
        for library in (BUILD / "lib" / "kymo" / "plugins").glob("libkymo_*.so"):
            (self.work / library.name).symlink_to(library)
        self.environment["GLOO_SOCKET_IFNAME"] = "lo"  # as in ddp_test.py
        self.kymo("run", plugin, "--device", "cpu", "--ranks", "2", "--passes", "verify", "--set", "model=toy")
        self.assertEqual(self.rows("SELECT status, verification FROM run"), [("ok", "passed")])

    def test_collector(self):
        root = self.sources("A collector")
        good = "tests/modules/collect_good.so"
        installation = self.folder / "installation"
        modules = installation / "lib" / "kymo" / "modules"
        modules.mkdir(parents=True)
        (installation / "lib" / "kymo" / "plugins").symlink_to(BUILD / "lib" / "kymo" / "plugins")
        (installation / "share").mkdir()
        (installation / "share" / "kymo").symlink_to(BUILD / "share" / "kymo")
        (installation / "bin").mkdir()
        shutil.copy(KYMO, installation / "bin" / "kymo")
        compiled = self.folder / "module.o"
        self.compile(root, MODULE, (good, "good.cpp.o"), "-o", compiled)
        self.call("c++", "-shared", "-o", modules / "kymo_faults.so", compiled)
        (modules / "kymo_faults.json").write_text(
            '{"device": "any", "needs_torch": false, "passes": ["time"], "order": 0}', encoding="utf-8"
        )
        subprocess.run(
            [installation / "bin" / "kymo", "run", "saxpy", "--steps", "3", "--no-verify"],
            cwd=self.work,
            env=self.environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        steps = self.rows("SELECT m.step, m.value FROM metric m WHERE m.name = 'page_faults' ORDER BY m.step")
        self.assertGreaterEqual(len(steps), 3)
        self.assertTrue(all(count >= 0 for _, count in steps))

    def test_table_and_view(self):
        root = self.sources("A collector", "A table with its view")
        database = sqlite3.connect(":memory:")
        for script in sorted((root / "schemas" / "migrations").glob("*.sql")):
            database.executescript(script.read_text(encoding="utf-8"))
        database.executescript((root / "schemas" / "views" / "page_faults.sql").read_text(encoding="utf-8"))
        database.executemany("INSERT INTO page_fault VALUES (1, 0, 'time', ?, ?, ?)", [(0, 10, 0), (1, 20, 2)])
        self.assertEqual(database.execute("SELECT * FROM page_fault_summary").fetchall(), [(1, 2, 15.0, 2)])
        self.compile(root, "core/store/measurement_tables.cpp", ("bin/kymo", "kymo_store.dir/Unity/unity_0_cxx.cxx.o"))
        self.compile(root, MODULE, ("tests/modules/collect_good.so", "good.cpp.o"))

    def test_report_section(self):
        root = self.sources("A collector", "A table with its view", "A report section")
        self.kymo("run", "saxpy", "--steps", "1", "--no-verify")
        database = sqlite3.connect(self.work / "kymo.db")
        added = next((root / "schemas" / "migrations").glob("*_page_fault.sql"))
        for script in (added, root / "schemas" / "views" / "page_faults.sql"):
            database.executescript(script.read_text(encoding="utf-8"))
        database.execute("INSERT INTO page_fault VALUES (1, 0, 'time', 0, 12345, 0)")
        database.commit()
        database.close()
        self.kymo("report", root / "reports" / "quick", "--out", "report", "--format", "markdown")
        text = (self.work / "report" / "report.md").read_text(encoding="utf-8")
        section = text[text.index("### Page faults") :]
        self.assertIn("12\u202f345", section.split("\n#")[0])

    @needs_torch_parts
    def test_kernel(self):
        root = self.sources("An attention kernel")
        folder = "plugins/lib/ops/cuda"
        library = "lib/kymo/plugins/libkymo_kernels.so"
        self.compile(root, f"{folder}/choice.cpp", (library, "choice.cpp.o"))
        self.compile(
            root,
            f"{folder}/portable_forward_d192.cu",
            (library, "portable_forward.cu.o"),
            "-o",
            self.folder / "kernel.o",
        )

    def test_command(self):
        root = self.sources("A command")
        like = ("bin/kymo", "kymo_cli.dir/Unity/unity_0_cxx.cxx.o")
        self.compile(root, "host/cli/faults.cpp", like)
        self.compile(root, "host/cli/app.cpp", like)


if __name__ == "__main__":
    if len(sys.argv) == 2 and os.path.isdir(sys.argv[1]):
        for each in FILES:
            follow(each, Path(sys.argv[1]))
    else:
        unittest.main()
