# SPDX-License-Identifier: Apache-2.0
"""kymo on a disk that becomes full at every stage, and reading where nothing can be written.

KYMO_DISK_STEP=BYTES sets the distance between the points at which the disk becomes full.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

from fault_tool import BAD, FaultTest, damage_of
from kymo_tool import HANG_S, KYMO, rows_of

STEP = int(os.environ.get("KYMO_DISK_STEP", 96 << 10))
# Small enough that its largest transaction fails at several points, with rank files and output of the workers.
SHORT = ["--set", "sleep=1", "--warmup", "0", "--no-verify"]
RUN = ["run", BAD / "probe.so", *SHORT, "--axis", "factor=1,2", "--steps", "400"]
CAUSE = r"disk is full|No space left"
NOBODY = 65534


class SmallDiskTest(FaultTest):
    """A tmpfs at self.disk. Without the permission to mount, these tests are skipped, except in continuous
    integration."""

    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.database = self.disk / "kymo.db"
        self.disk.mkdir()
        self.mount("size=8m")
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.disk], check=True)

    def mount(self, options):
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.disk], capture_output=True, check=False
        )
        if done.returncode != 0:
            if os.environ.get("CI") == "true":
                self.fail(f"cannot mount a small disk: {done.stderr}")
            self.skipTest("may not mount a small disk here")

    def fill(self, left):
        """Leaves this many bytes of free space."""
        facts = os.statvfs(self.disk)
        with (self.disk / "fill").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, facts.f_bavail * facts.f_bsize - left))

    def call(self, *words, **how):
        """Runs kymo, which must neither crash nor hang."""
        done = subprocess.run(
            [str(KYMO), *map(str, words)],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=HANG_S,
            stdin=subprocess.DEVNULL,
            check=False,
            **how,
        )
        self.assertIn(done.returncode, (0, 1, 2, 3), (words, done.stderr))
        return done


class DiskFullTest(SmallDiskTest):
    def restart(self, origin):
        for path in self.disk.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if origin:
            shutil.copy(origin, self.database)

    def check_state(self, done):
        """Returns the number of runs with status ok."""
        query = "SELECT run_id, status, (SELECT count(*) FROM sample s WHERE s.run_id = r.run_id) AS samples FROM run r"
        shown = self.call("sql", query, "--json", "--db", self.database)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        runs = [tuple(row.values()) for row in json.loads(shown.stdout)]
        # A step and its three phases have a sample each.
        self.assertEqual(runs[0], (1, "ok", 16), "the finished run changed")
        for run in runs[1:]:
            self.assertTrue(run[1] != "ok" or run[2] == 1600, run)
        self.assertEqual(damage_of(self.database), [])
        (self.disk / "fill").unlink()
        # The next run closes and removes what the full disk left open.
        self.kymo("run", BAD / "raw_valid.so", "--warmup", "0", "--steps", "1", "--no-verify", "--db", self.database)
        left_open = rows_of(self.database, "SELECT run_id FROM run WHERE status = 'running'")
        self.assertEqual(left_open, [], done.stderr)
        self.assertEqual([path.name for path in self.disk.iterdir()], ["kymo.db"])
        return sum(status == "ok" for _, status, _ in runs)

    def test_a_run_at_every_stage(self):
        origin = self.folder / "origin.db"
        self.kymo(
            "run", BAD / "probe.so", "--set", "sleep=1", "--warmup", "0", "--steps", "4", "--no-verify", "--db", origin
        )
        codes = []
        left = 0
        while codes[-2:] != [0, 0]:
            with self.subTest(left=left):
                self.restart(origin)
                self.fill(left)
                done = self.call(*RUN, "--db", self.database)
                codes.append(done.returncode)
                if done.returncode != 0:
                    self.assertRegex(done.stderr + done.stdout, CAUSE)
                    self.assertIn(done.returncode, (1, 3))
                self.assertEqual(self.left_running(), [])
                self.assertEqual(self.check_state(done) == 3, done.returncode == 0)
            left += STEP
            self.assertLess(left, 8 << 20)
        self.assertTrue({0, 1} <= set(codes), codes)
        sys.stderr.write(f"{len(codes)} points, exit codes {sorted(set(codes))} ")

    def test_a_new_database(self):
        for left in (0, 4096, 32 << 10, 256 << 10):
            with self.subTest(left=left):
                self.restart(None)
                self.fill(left)
                done = self.call(*RUN, "--db", self.database)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, r"\Akymo: [^\n]*(" + CAUSE + r")[^\n]*\n\Z")
                self.assertEqual([path.name for path in self.disk.iterdir()], ["fill"])

    def test_new_leaves_no_partial_folder(self):
        codes = []
        for left in range(0, 32 << 10, 4096):
            self.restart(None)
            self.fill(left)
            done = self.call("new", "my_kernel", "--in", self.disk)
            codes.append(done.returncode)
            names = {path.name for path in self.disk.iterdir()}
            if done.returncode == 0:
                self.assertEqual(names, {"fill", "my_kernel"})
            else:
                self.assertEqual((done.returncode, names), (1, {"fill"}))
                self.assertRegex(done.stderr, r"\Akymo: [^\n]*No space left[^\n]*\n\Z")
        self.assertEqual(sorted(codes, reverse=True), codes)
        self.assertTrue({0, 1} <= set(codes), codes)


class OtherFoldersTest(SmallDiskTest):
    """The disk with the database has space; those of TMPDIR and of the cache in HOME have none, or do not exist."""

    def check(self, folder):
        self.environment |= {"HOME": str(folder), "TMPDIR": str(folder)}
        del self.environment["XDG_CACHE_HOME"]
        begun = ["--warmup", "0", "--steps", "2", "--no-verify", "--passes", "time,trace"]
        for words in (
            ["list"],
            ["run", BAD / "raw_valid.so", *begun],
            ["report", "quick", "--format", "markdown,html"],
            ["export", "perfetto", "-o", "trace.json"],
            ["merge", "merged.db", "kymo.db"],
        ):
            self.kymo(*words)
        self.environment.pop("HOME")
        self.kymo("list")

    def test_full(self):
        self.fill(0)
        self.check(self.disk)

    def test_missing(self):
        (self.disk / "file").touch()
        self.check(self.disk / "file" / "folder")  # which nobody can make


class HotJournalTest(SmallDiskTest):
    """The journal of a killed writer has to be rolled back before a database can be read."""

    def setUp(self):
        super().setUp()
        self.kymo("run", BAD / "raw_valid.so", "--warmup", "0", "--steps", "2", "--no-verify", "--db", self.database)
        self.committed = self.database.read_bytes()
        script = (
            "import os, signal, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
            "c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN IMMEDIATE'); "
            "c.execute('UPDATE sample SET host_ns = 0'); "
            "c.execute('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
            "INSERT INTO environment SELECT 1, i, i FROM n'); os.kill(os.getpid(), signal.SIGKILL)"
        )
        done = subprocess.run([sys.executable, "-c", script, str(self.database)], check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.journal = self.disk / "kymo.db-journal"
        self.assertTrue(self.journal.exists())
        self.before = (self.database.read_bytes(), self.journal.read_bytes())
        self.assertNotEqual(self.before[0], self.committed)

    def expect_read(self, cause, **how):
        out = self.folder / "out"
        out.mkdir(exist_ok=True)
        out.chmod(0o777)
        # Every command that reads.
        for words in (
            ["sql", "SELECT count(*) FROM sample WHERE host_ns > 0", "--db", self.database],
            ["report", "quick", "--db", self.database, "--out", out / "report"],
            ["export", "csv", "--table", "run", "-o", out / "run.csv", "--db", self.database],
            ["merge", out / "merged.db", self.database],
            ["run", BAD / "raw_valid.so", "--resume", "--plan", "--db", self.database],
            ["compare", "1", self.database, "--db", self.database],
        ):
            done = self.call(*words, **how)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
            self.assertRegex(done.stderr, r"\Akymo: warning: [^\n]*private copy[^\n]*" + cause, words)
            self.assertEqual((self.database.read_bytes(), self.journal.read_bytes()), self.before, words)
        self.assertEqual(rows_of(out / "merged.db", "SELECT count(*) FROM sample WHERE host_ns = 0"), [(0,)])

    def test_read_only_file_system(self):
        self.addCleanup(subprocess.run, ["mount", "-o", "remount,rw", self.disk], check=True)
        subprocess.run(["mount", "-o", "remount,ro", self.disk], check=True)
        self.expect_read("read-only")
        done = self.call("run", BAD / "raw_valid.so", "--db", self.database)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not writable", done.stderr)

    def test_another_user(self):
        how = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.folder.chmod(0o755)
        self.disk.chmod(0o555)
        self.environment["XDG_CACHE_HOME"] = "/nonexistent"
        try:
            reachable = subprocess.run(["test", "-x", KYMO], cwd="/", check=False, **how).returncode == 0
        except OSError:
            reachable = False
        if not reachable:
            self.skipTest("another user cannot reach the built tool here")
        self.expect_read("not writable", **how)

    def test_rolled_back_in_place_if_possible(self):
        self.assertEqual(self.call("sql", "SELECT 1", "--db", self.database).stderr, "")
        self.assertEqual(self.database.read_bytes(), self.committed)
        self.assertFalse(self.journal.exists())


if __name__ == "__main__":
    unittest.main()
