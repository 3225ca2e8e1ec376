# SPDX-License-Identifier: Apache-2.0
"""Adversarial input: for every invalid request, kymo prints one line that describes the problem and writes nothing."""

import csv
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import unittest

from kymo_tool import BUILD, HANG_S, KYMO, KymoTest

PLUGINS = BUILD / "tests" / "plugins"
PROBE = PLUGINS / "probe.so"
QUICK = ["--set", "n=10", "--warmup", "0", "--steps", "2", "--no-verify"]
NOBODY = 65534
# Characters that can control a terminal or disguise text: control characters, C1 control characters, marks that
# reorder.
UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

HOSTILE = [
    "<script>alert(1)</script>",
    "\\input{/etc/passwd}",
    "=cmd|'/C calc'!A0",
    "a\x1b[31mred\x07\x9b31m",
    "line\nbreak\ttab",
    "`code` | **b** [x](javascript:y) ![i](http://e)",
    "'\"; DROP TABLE run; --",
    "\u202eevil",
    "\x7fdel",
    "%s%n",
    "$x_1^2$ & # ~",
    "\\end{document}\\write18{id}",
    "+1+1",
    "@SUM(A1)",
]

OPTIONS = [
    ("--ranks", "0"),
    ("--ranks", "-1"),
    ("--ranks", "1000000"),
    ("--steps", "0"),
    ("--steps", "9223372036854775807"),
    ("--warmup", "-1"),
    ("--warmup", "9223372036854775807"),
    ("--until", "0"),
    ("--until", "nan"),
    ("--until", "100%"),
    ("--timeout", "nan"),
    ("--timeout", "1e400"),
    ("--host-memory", "1XB"),
    ("--host-memory", "99999999999G"),
    ("--repeat", "0"),
    ("--repeat", "100001"),
    ("--shard", "3/2"),
    ("--shard", "1/0"),
    ("--filter", "["),
    ("--filter", "(" * 100000),
    ("--filter", "(" * 1000 + ")" * 1000),
    ("--filter", "((((a{900}){900}){900}){900})"),
    ("--seed", "-1"),
    ("--sync", "never"),
    ("--timing", "x"),
    ("--passes", ""),
    ("--device", "tpu"),
    ("--wrap", "/nonexistent/program"),
    ("--db", ""),
    ("--plugin", ""),
    ("--bogus", "1"),
    ("--set", "n"),
    ("--set", "n="),
    ("--set", "n=1.5e0"),
    ("--set", "n=99999999999999999999"),
    ("--set", "a=nan"),
    ("--set", "n\x1b[31m=1"),
    ("--trust=a\x1b[31m", "--plan"),
    ("--axis", "n="),
    ("--axis", "n=1,,2"),
    ("--axis", "n=8..1*2"),
    ("--axis", "n=1..8+0"),
    ("--axis", "n=1..8*1"),
    ("--axis", "n=0..8*2"),
    ("--axis", "n=1..9223372036854775808*2"),
    ("--axis", "n=1..9223372036854775807+1"),
    ("--axis", "a=0..1+1e-30"),
    ("--axis", "a=nan..1+1"),
    ("--axis", "a=1,1.0"),
    ("--axis", "precision=fp32..fp64+1"),
]

SUITES = [
    ("x = [", "1:"),
    ("", "no [[case]]"),
    ('[[case]]\nname = "a"\n', "'workload'"),
    ('[[case]]\nname = "a"\nworkload = 3\n', "'workload'"),
    ('[[case]]\nname = "a"\nworkload = "saxpy"\n"st\\u001b[31m" = 1\n', "unknown key"),
    ("case = 3\n", "no [[case]]"),
    ("case = [3]\n", "must be a table"),
    ('[[case]]\nname = "a"\nworkload = "saxpy"\nranks = 5000000000\n', "4096"),
    ('[[case]]\nname = "a"\nworkload = "saxpy"\nranks = []\n', "empty"),
    ('[[case]]\nname = "a"\nworkload = "saxpy"\nsteps = 9223372036854775807\n', "'steps'"),
    ('[[case]]\nname = "a"\nworkload = "saxpy"\nset = { n = [1] }\n', "'n'"),
    ('[[case]]\nname = "a"\nworkload = "saxpy"\naxes = { n = {} }\n', "'n'"),
    ('[[case]]\nname = "a"\nworkload = "saxpy"\n[[case]]\nname = "a"\nworkload = "saxpy"\n', "defined twice"),
    ('[[case]]\nname = "a"\nworkload = "sax\\npy"\n', "no workload"),
    ("x = " + "[" * 100000, ":"),
    ('"\x01" = 1', ":"),
]


class BadInputTest(KymoTest):
    def contents(self):
        found = {}
        for path in self.work.rglob("*"):
            kind = path.lstat().st_mode
            name = str(path.relative_to(self.work))
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(kind) else stat.S_IFMT(kind)
        return found

    def call(self, *words, **how):
        return subprocess.run(
            [str(KYMO), *map(str, words)],
            cwd=how.pop("cwd", self.work),
            env=self.environment,
            capture_output=True,
            timeout=HANG_S,
            stdin=subprocess.DEVNULL,
            check=False,
            **how,
        )

    def expect_rejected(self, *words, says="", codes=(1, 2), **how):
        """The call must print one line of printable text that contains `says` and nothing else, and must not write
        files."""
        before = self.contents()
        done = self.call(*words, **how)
        error = done.stderr.decode()
        self.assertIn(done.returncode, codes, (words, error))
        self.assertRegex(error, r"\Akymo: [^\n]+\n\Z", words)
        self.assertNotRegex(error, UNSAFE, words)
        self.assertNotIn("filesystem error", error)
        self.assertIn(says, error, words)
        self.assertEqual(done.stdout, b"", words)
        self.assertEqual(self.contents(), before, words)
        return error

    def make_database(self, name="good.db"):
        self.kymo("run", "saxpy", *QUICK, "--axis", "a=1,2", "--db", name)
        return self.work / name

    def test_options_and_axes(self):
        for option, value in OPTIONS:
            with self.subTest(option=option, value=value[:40]):
                self.expect_rejected("run", "saxpy", option, value, codes=(2,))
        self.assertEqual(self.contents(), {})

    def test_names(self):
        database = self.make_database()
        for words in (["run"], ["describe"], ["verify"], ["suite", "run"], ["report", "--db", database]):
            for name in ("nope", "no\x1b[31m\npe", "<script>", "./missing"):
                self.expect_rejected(*words, name, codes=(2,), says="no")
        for word in ("n=4096", "a='x y'", "n\x1b[31m=1"):
            self.expect_rejected("run", "saxpy", word, codes=(2,), says="--set ")
        self.expect_rejected("report", "quick", "--db", database, "--out", "", codes=(2,), says="--out")
        self.expect_rejected(
            "report", "quick", "--db", database, "--format", "docx", "--out", "a/b", codes=(2,), says="docx"
        )
        self.expect_rejected(
            "report", "quick", "--db", database, "--label", "none", "--out", "a/b", codes=(2,), says="good.db"
        )
        self.expect_rejected("new", "../x", codes=(2,))
        self.expect_rejected("merge", "", database, codes=(2,))

    def test_plan_needs_no_database(self):
        done = self.kymo("run", "saxpy", "--plan", "--resume", "--db", "missing.db")
        self.assertIn("saxpy", done.stdout)
        self.assertEqual(self.contents(), {})

    def test_filter_ends_and_never_crashes(self):
        words = ["run", PROBE, "--plan", "--filter"]
        self.expect_rejected(*words, "(.|x)*bb", "--set", "label=" + "a" * 120000, codes=(2,), says="--filter")
        self.expect_rejected(*words, "label=(a*)*bb", "--set", "label=" + "a" * 3000, codes=(2,), says="--filter")

    def test_suite_files(self):
        for text, says in SUITES:
            with self.subTest(text=text[:60]):
                (self.work / "s.toml").write_text(text)
                self.expect_rejected("suite", "run", "./s.toml", codes=(2,), says=says)

    def make_bad_databases(self):
        good = self.make_database().read_bytes()

        def edit(name, *statements):
            (self.work / name).write_bytes(good)
            connection = sqlite3.connect(self.work / name)
            for statement in statements:
                connection.execute(statement)
            connection.commit()
            connection.close()

        edit(
            "newer.db",
            "UPDATE meta SET value = '99' WHERE key = 'compatible_version'",
            "UPDATE meta SET value = '9' || char(10, 27, 155) || '[31m' WHERE key = 'kymo_version'",
        )
        edit("not_a_version.db", "UPDATE meta SET value = '' WHERE key = 'compatible_version'")
        edit("foreign.db", "PRAGMA application_id = 77")
        other = sqlite3.connect(self.work / "other.db")
        other.execute("CREATE TABLE cookies (value)")
        other.commit()
        other.close()
        for name, content in (
            ("text.db", b"important notes\n" * 500),
            ("byte.db", b"x"),
            ("cut.db", good[: len(good) // 2]),
            ("head.db", good[:100]),
            ("zeroed.db", good[:4096] + bytes(len(good) - 4096)),
        ):
            (self.work / name).write_bytes(content)
        (self.work / "folder.db").mkdir()
        os.mkfifo(self.work / "fifo.db")
        (self.work / "loop.db").symlink_to("loop.db")

    def test_databases(self):
        self.make_bad_databases()
        for file in sorted(self.work.glob("*.db")):
            if file.name == "good.db":
                continue
            with self.subTest(file=file.name):
                for words in (
                    ["sql", "SELECT 1", "--db", file.name],
                    ["report", "quick", "--out", "a/b", "--db", file.name],
                    ["merge", "new.db", file.name],
                    ["merge", file.name, "good.db"],
                    ["run", "saxpy", *QUICK, "--db", file.name],
                    ["run", "saxpy", "--resume", "--db", file.name],
                ):
                    self.expect_rejected(*words, codes=(1,), says=file.name)
        for words in (["sql", "SELECT 1"], ["report", "quick"]):
            self.expect_rejected(*words, "--db", "missing\n.db", codes=(2,), says="missing")
        self.expect_rejected("merge", "new.db", "missing.db", codes=(2,), says="missing")
        self.expect_rejected("run", "saxpy", "--db", "nowhere/x.db", codes=(1,), says="nowhere")

    def test_plugin_files(self):
        (self.work / "open").mkdir()
        shutil.copy(PROBE, self.work / "open" / "probe.so")
        (self.work / "open").chmod(0o777)
        shutil.copy(PROBE, self.work / "writable.so")
        (self.work / "writable.so").chmod(0o666)
        (self.work / "text.so").write_text("hello")
        (self.work / "empty.so").write_bytes(b"")
        (self.work / "head.so").write_bytes(PROBE.read_bytes()[:80])
        (self.work / "folder.so").mkdir()
        os.mkfifo(self.work / "fifo.so")
        (self.work / "e\x1b[31m\n.so").write_text("x")
        for name in (
            "open/probe.so",
            "writable.so",
            "text.so",
            "empty.so",
            "head.so",
            "folder.so",
            "fifo.so",
            "e\x1b[31m\n.so",
            "missing.so",
        ):
            with self.subTest(name=name):
                says = name.split("\x1b", maxsplit=1)[0]
                for words in (
                    ["run", "./" + name],
                    ["describe", "./" + name],
                    ["run", "saxpy", *QUICK, "--plugin", name],
                ):
                    self.expect_rejected(*words, says=says)
        self.expect_rejected(
            "run", "saxpy", "--plan", "--plugin", PLUGINS / "hostile_name.so", codes=(1,), says="hostile_name"
        )

    def as_nobody(self):
        """Command prefix that runs kymo as a user to whom file permissions apply."""
        if os.geteuid() != 0:
            return {}
        self.environment["XDG_CACHE_HOME"] = str(
            self.folder / "nocache"
        )  # not writable for user nobody; must not be needed
        self.folder.chmod(0o755)
        how = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        # Checked with the system instead of kymo, because the skip would hide a failure of kymo.
        try:
            reachable = (
                subprocess.run(["test", "-r", KYMO, "-a", "-x", KYMO], cwd="/", check=False, **how).returncode == 0
            )
        except OSError:
            reachable = False
        if not reachable:
            self.skipTest("another user cannot reach the built tool here")
        self.assertEqual(self.call("--version", cwd="/", **how).returncode, 0)
        return how

    def test_without_permission(self):
        database = self.make_database()
        (self.work / "locked").mkdir()
        shutil.copy(database, self.work / "locked" / "x.db")
        how = self.as_nobody()
        self.addCleanup(self.work.chmod, 0o755)
        self.work.chmod(0o555)
        self.assertEqual(self.call("sql", "SELECT count(*) FROM run", "--db", database, **how).returncode, 0)
        for words in (
            ["run", "saxpy", *QUICK, "--db", "good.db"],
            ["run", "saxpy", *QUICK, "--db", "new.db"],
            ["merge", "new.db", "good.db"],
        ):
            self.expect_rejected(*words, codes=(1,), says="not writable", **how)
        for out in ("out", "out/of/reach"):
            self.expect_rejected(
                "report", "quick", "--db", "good.db", "--out", out, codes=(1,), says="Permission denied", **how
            )
        self.addCleanup((self.work / "locked").chmod, 0o755)
        before = self.contents()
        (self.work / "locked").chmod(0o000)
        for words in (["sql", "SELECT 1", "--db"], ["merge", "new.db"], ["run", "saxpy", "--resume", "--db"]):
            done = self.call(*words, "locked/x.db", **how)
            self.assertEqual(done.returncode, 1, done)
            self.assertRegex(done.stderr, rb"\Akymo: [^\n]*locked/x.db[^\n]*Permission denied[^\n]*\n\Z")
        (self.work / "locked").chmod(0o755)
        self.assertEqual(self.contents(), before)

    def on_small_disk(self, size, *words):
        """Exit code, standard error and files left by the call on a disk of this size."""
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        script = (
            'mount -t tmpfs -o size=$0 tmpfs "$1" || exit 99; cd "$1"; shift; "$@"; code=$?; '
            'find . -mindepth 1 -printf "%p %s\\n"; exit $code'
        )
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        done = subprocess.run(
            ["unshare", *user, "--mount", "sh", "-c", script, size, str(disk), str(KYMO), *map(str, words)],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=HANG_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 99 or "unshare" in done.stderr:
            self.skipTest("a small disk cannot be mounted here")
        return done.returncode, done.stderr, done.stdout

    @unittest.skipIf(shutil.which("unshare") is None, "there is no unshare")
    def test_full_disk(self):
        database = self.make_database()
        for size, words in (
            ("4k", ["run", "saxpy", *QUICK]),
            ("64k", ["run", "saxpy", *QUICK]),
            ("64k", ["merge", "m.db", database]),
            ("8k", ["report", "quick", "--db", database, "--out", "a/b", "--format", "markdown,latex,typst,html,csv"]),
            ("24k", ["report", "quick", "--db", database, "--format", "markdown,latex,typst,html,csv"]),
        ):
            with self.subTest(size=size, words=words[:2]):
                code, error, left = self.on_small_disk(size, *words)
                self.assertEqual((code, left), (1, ""), error)
                self.assertRegex(error, r"\Akymo: [^\n]*(disk is full|No space left)[^\n]*\n\Z")
        # Enough space for the tables but not for the measurements: the run reports why it failed.
        code, error, _ = self.on_small_disk("320k", "run", "saxpy", "--set", "n=10", "--steps", "2000", "--no-verify")
        self.assertIn(code, (1, 3), error)
        self.assertIn("disk is full", error)

    def test_hostile_texts_are_harmless(self):
        cases = "".join(
            f"[[case]]\nname = {json.dumps(text)}\nworkload = {json.dumps(str(PROBE))}\n"
            'warmup = 0\nsteps = 1\npasses = ["time"]\n'
            f"set = {{ sleep = 1, label = {json.dumps(text)} }}\n"
            for text in HOSTILE
        )
        (self.work / "s.toml").write_text(cases.replace("\x7f", "\\u007f"))
        name = "d\x1b[31m\x9b.db"
        shown = [
            self.call("suite", "run", "./s.toml", "--label", HOSTILE[3], "--db", name),
            self.call("suite", "run", "./s.toml", "--plan"),
            self.call("suite", "run", "./s.toml", "--plan", "--json"),
            self.call("suite", "run", "./s.toml", "--resume", "--db", name),
        ]
        query = (
            'SELECT p.value, r.suite_case, r.label, char(27, 155, 8238) AS "c\x1b\x9b" '
            "FROM run r JOIN param p USING (run_id) WHERE p.name = 'label'"
        )
        results = {form: self.call("sql", query, "--db", name, *form) for form in ((), ("--json",), ("--csv",))}
        shown += [*results.values(), self.call("merge", "m\x1b[1m.db", name), self.call("merge", "n.db", name)]
        out = "re\x1b[31mport"
        shown.append(
            self.call("report", "quick", "--db", name, "--out", out, "--format", "markdown,latex,typst,html,csv")
        )
        for done in shown:
            self.assertEqual(done.returncode, 0, done)
            self.assertNotRegex(done.stdout.decode() + done.stderr.decode(), UNSAFE)
        self.assertEqual([row["value"] for row in json.loads(results["--json",].stdout)], HOSTILE)
        for row in csv.reader(io.StringIO(results["--csv",].stdout.decode(), newline="")):
            self.assertFalse(row[0].startswith(("=", "+", "-", "@")), row)
        self.check_report(self.work / out)
        for text in HOSTILE:
            self.expect_rejected("sql", text, "--db", name, codes=(2,))

    def check_report(self, folder):
        page, markdown, latex, typst = (
            (folder / ("report." + suffix)).read_text() for suffix in ("html", "md", "tex", "typ")
        )
        for text in (page, markdown, latex, typst):
            self.assertNotRegex(text, UNSAFE)
        for text in (page, markdown, *[figure.read_text() for figure in folder.glob("figures/*.svg")]):
            self.assertNotIn("<script>alert", text)
        self.assertNotIn("\\input{/etc", latex)
        self.assertNotIn("\\write18{", latex)
        self.assertEqual(latex.count("\\end{document}"), 1)
        self.assertNotIn("[x](javascript", markdown)
        self.assertNotRegex(markdown, r"(?<!\\)`code(?<!\\)`")
        tables = list(folder.glob("tables/*.csv"))
        self.assertTrue(tables)
        for table in tables:
            text = table.read_text()
            self.assertNotRegex(text, UNSAFE)
            for row in csv.reader(io.StringIO(text, newline="")):
                for cell in row:
                    self.assertFalse(
                        cell.startswith(("=", "@")) or re.match(r"[+-][^\d.]|\+1\+1", cell), (table.name, cell)
                    )


if __name__ == "__main__":
    unittest.main()
