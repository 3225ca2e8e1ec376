# SPDX-License-Identifier: Apache-2.0
"""Damaged databases: every command ends with a documented exit code and a message that names the damage, and reading
modifies nothing.

    KYMO_BUILD=build tests/e2e/damaged_databases_test.py --copies 2000 [--seed N] [--minutes M]
"""

import collections
import contextlib
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fault_tool import BAD
from kymo_tool import HANG_S, KYMO, KymoTest

COPIES = int(os.environ.get("KYMO_DAMAGED_COPIES", "25"))
PAGE = 8192
PASSES = ["--passes", "verify,time,memory,trace,ops", "--observed-steps", "2", "--warmup", "0", "--steps", "3"]
QUICK = ["--warmup", "0", "--steps", "1", "--passes", "time"]
SUITE = f'[[case]]\nname = "c"\nworkload = "{BAD / "raw_valid.so"}"\nwarmup = 0\nsteps = 1\npasses = ["time"]\n'
# Whether the command reads x.db only.
COMMANDS = {
    "sql": (True, ["sql", "SELECT * FROM phase_time", "--db", "x.db"]),
    "report": (True, ["report", "quick", "--format", "markdown,html,csv", "--out", "out/r", "--db", "x.db"]),
    "compare": (True, ["compare", "x.db", "good.db"]),
    "export csv": (True, ["export", "csv", "--table", "sample", "-o", "out/s.csv", "--db", "x.db"]),
    "export perfetto": (True, ["export", "perfetto", "-o", "out/t.json", "--db", "x.db"]),
    "merge from": (True, ["merge", "out/m.db", "x.db"]),
    "run --resume --plan": (True, ["run", str(BAD / "raw_valid.so"), "--resume", "--plan", "--db", "x.db"]),
    "run": (False, ["run", str(BAD / "raw_valid.so"), *QUICK, "--db", "x.db"]),
    "merge into": (False, ["merge", "x.db", "good.db"]),
    "suite run --resume": (False, ["suite", "run", "./s.toml", "--resume", "--db", "x.db"]),
}
# What may be wrong with a damaged file.
CAUSES = (
    "damaged|not an SQLite database|not a results database|earlier, incompatible version|use the newer kymo|"
    "write-ahead log|contains none of kymo's tables|the file is empty|nothing was merged"
)
# Damage of the contents can make a query find nothing, or a database that SQLite accepts lack what a command needs.
EMPTY = "no run|no such|not found|contains no|has no|no events|none of|without|lacks|nothing"
WRONG_CAUSES = "disk is full|(free some|check free) space|not writable|permission|locked the file|out of memory"


def damage(content, choose):
    """A damaged copy of the bytes of a database."""
    data = bytearray(content)
    pages = len(data) // PAGE
    kind = choose.choice(("bits", "bits", "bits", "header", "random", "zero", "cut", "swap", "repeat"))
    page = choose.randrange(pages) * PAGE
    if kind in ("bits", "header"):
        for _ in range(choose.choice((1, 1, 2, 8))):
            end = 200 if kind == "header" else choose.choice((len(data), len(data), 2 * PAGE))
            data[choose.randrange(end)] ^= 1 << choose.randrange(8)
    elif kind == "cut":
        del data[choose.randrange(len(data)) :]
    elif kind == "swap":
        other = choose.randrange(pages) * PAGE
        data[page : page + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[page : page + PAGE]
    elif kind == "repeat":
        other = choose.randrange(pages) * PAGE
        data[page : page + PAGE] = data[other : other + PAGE]
    else:
        begin = choose.randrange(len(data))
        length = choose.choice((1, 16, 512, PAGE))
        end = min(len(data), begin + length)
        data[begin:end] = bytes(end - begin) if kind == "zero" else choose.randbytes(end - begin)
    return bytes(data)


class Sweep:
    """Runs the commands on damaged copies in folders of their own; `wrong` lists the violations."""

    def __init__(self, good, work, environment, seed):
        self.good, self.work, self.environment, self.seed = good, Path(work), environment, seed
        self.wrong = []
        self.codes = collections.Counter()

    def check(self, copy):
        folder = self.work / f"copy-{copy}"
        content = damage(self.good, random.Random(f"{self.seed} {copy}"))
        for name, (reads, words) in COMMANDS.items():
            (folder / "out").mkdir(parents=True)
            (folder / "good.db").write_bytes(self.good)
            (folder / "s.toml").write_text(SUITE, encoding="utf-8")
            (folder / "x.db").write_bytes(content)
            self.wrong += [
                f"copy {copy}: {name}: {what}" for what in self.problems(folder, name, reads, words, content)
            ]
            shutil.rmtree(folder)

    def problems(self, folder, name, reads, words, content):
        try:
            done = subprocess.run(
                [str(KYMO), *words],
                cwd=folder,
                env=self.environment,
                capture_output=True,
                timeout=HANG_S,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ["hangs"]
        self.codes[name, done.returncode] += 1
        error = done.stderr.decode(errors="replace")
        wrong = []
        if done.returncode not in ((0, 1, 2) if reads else (0, 1, 3)):
            wrong.append(f"exit code {done.returncode}: {error}")
        if done.returncode in (1, 2):
            progress = "" if reads else r"(run \d+: [^\n]+\n)?"  # of a run that was stored before the error
            if not re.fullmatch(progress + r"kymo: [^\n]+\n", error):
                wrong.append(f"not one line: {error}")
            if not re.search(f"{CAUSES}|{EMPTY}" if done.returncode == 2 or "x.db" not in error else CAUSES, error):
                wrong.append(f"does not name the damage: {error}")
            if re.search(WRONG_CAUSES, error.partition("; SQLite: ")[0]):  # SQLite quotes the damaged schema
                wrong.append(f"names a wrong cause: {error}")
        if reads or done.returncode == 1:
            left = {path.name for path in folder.iterdir()}
            if not reads and "are kept in" in error and list(folder.glob("x.db.scratch/*/RUN-*.kymo")):
                left.remove("x.db.scratch")
            if left != {"out", "good.db", "s.toml", "x.db"}:
                wrong.append(f"left files: {left}")
        if reads and (folder / "x.db").read_bytes() != content:
            wrong.append("modified the file")
        if (folder / "good.db").read_bytes() != self.good:
            wrong.append("modified the other database")
        merged = folder / "out" / "m.db"
        if merged.exists() and (trouble := integrity(merged)) != "ok":
            wrong.append(f"merged into a damaged database: {trouble}")
        return wrong


def integrity(database):
    connection = sqlite3.connect(database)
    try:
        return connection.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        connection.close()


class DamagedDatabasesTest(KymoTest):
    def sweep(self, copies, seed, minutes=None):
        for repetition in range(2):
            self.kymo(
                "run", BAD / "probe.so", "--set", "sleep=1", "--axis", "factor=1,2", *PASSES, "--label", repetition
            )
        good = (self.work / "kymo.db").read_bytes()
        sweep = Sweep(good, self.work, self.environment, seed)
        # Every command must succeed on the undamaged database.
        for name, (_, words) in COMMANDS.items():
            folder = self.work / "good"
            (folder / "out").mkdir(parents=True)
            (folder / "s.toml").write_text(SUITE, encoding="utf-8")
            for file in ("good.db", "x.db"):
                (folder / file).write_bytes(good)
            done = subprocess.run(
                [str(KYMO), *words], cwd=folder, env=self.environment, capture_output=True, timeout=HANG_S, check=False
            )
            self.assertEqual(done.returncode, 0, (name, done.stderr))
            shutil.rmtree(folder)
        end = time.monotonic() + 60 * minutes if minutes else float("inf")
        checked = 0

        def check(copy):
            nonlocal checked
            if time.monotonic() < end:
                sweep.check(copy)
                checked += 1

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(check, range(copies)))
        return sweep, checked

    def test_every_command(self):
        seed = random.randrange(1 << 30)
        sweep, _ = self.sweep(COPIES, seed)
        self.assertEqual(sweep.wrong, [], f"seed {seed}")
        codes = {code for _, code in sweep.codes}
        self.assertTrue({0, 1} <= codes, sweep.codes)


class WrongTypeTest(KymoTest):
    def test_a_value_of_a_wrong_type_is_named(self):
        self.kymo("run", BAD / "raw_valid.so", *QUICK)
        with contextlib.closing(sqlite3.connect(self.work / "kymo.db")) as database, database:
            database.execute("PRAGMA ignore_check_constraints = ON")
            database.execute("UPDATE run SET ranks = 'several'")
        done = self.kymo("show", "1", code=1)
        self.assertIn("must be number, but is string): the database is damaged", done.stderr)
        self.assertNotIn("json.exception", done.stderr)


def main():
    arguments = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    seed = int(arguments.get("--seed", random.randrange(1 << 30)))
    test = DamagedDatabasesTest()
    test.setUp()
    try:
        sweep, checked = test.sweep(int(arguments["--copies"]), seed, float(arguments.get("--minutes", "1e9")))
    finally:
        test.doCleanups()
    for name in COMMANDS:
        codes = {code: count for (command, code), count in sweep.codes.items() if command == name}
        print(f"{name}: {dict(sorted(codes.items()))}")
    print(f"seed {seed}: {checked} copies, {len(sweep.wrong)} faults", *sweep.wrong, sep="\n  ")
    return 1 if sweep.wrong else 0


if __name__ == "__main__":
    if "--copies" in sys.argv:
        sys.exit(main())
    unittest.main()
