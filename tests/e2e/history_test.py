# SPDX-License-Identifier: Apache-2.0
"""The commits of measured projects: stored with runs, shown as a history with change points, and bisected."""

import json
import sqlite3
import unittest

from kymo_tool import KymoTest, rows_of
from repository import WORKLOAD, Repository

COPIED = {"run": "run_id", "statistic": "run_id", "rank": "run_id", "param": "run_id"}


class HistoryTest(KymoTest):
    def repository(self, name="lab"):
        return Repository(self.work / name)

    def measure(self, folder, *words):
        self.kymo("run", str(folder / "bench.py"), "--steps", "3", "--warmup", "0", "--no-verify", *words)

    def plain_folder(self):
        """A folder with the workload, in no repository."""
        folder = self.work / "plain"
        folder.mkdir()
        (folder / "bench.py").write_text(WORKLOAD)
        (folder / "pause.py").write_text("PAUSE_S = 0.001\n")
        return folder

    def commits(self):
        return rows_of(
            self.work / "kymo.db",
            "SELECT c.run_id, c.project, c.hash, c.parents, c.branch, c.dirty FROM source_commit c ORDER BY c.run_id",
        )

    def test_runs_have_the_commit_of_the_file_of_their_workload(self):
        repository = self.repository()
        first = repository.commit("one", {"bench.py": WORKLOAD, "pause.py": "PAUSE_S = 0.001\n"})
        self.measure(repository.folder)
        second = repository.commit("two", {"other": ""})
        (repository.folder / "pause.py").write_text("PAUSE_S = 0.002\n")
        self.measure(repository.folder)
        self.measure(self.plain_folder())
        one, two = self.commits()  # none for the third run, which measured no repository
        self.assertEqual(one[:5], (1, "lab", first, "", "main"))
        self.assertEqual(two[:5], (2, "lab", second, first, "main"))
        self.assertIn(one[5], (0, None))  # NULL if git was too slow on this machine
        self.assertIn(two[5], (1, None))

    def test_a_folder_can_be_named_as_the_project(self):
        repository = self.repository()
        commit = repository.commit("one", {"README": ""})
        plain = self.plain_folder()
        self.measure(plain, "--project", str(repository.folder))
        self.assertEqual([row[1:3] for row in self.commits()], [("lab", commit)])
        done = self.kymo("run", str(plain / "bench.py"), "--project", str(plain), code=2)
        self.assertIn("is in no git working tree", done.stderr)

    def synthetic(self, times, changes=(), slowdown=None, first_steps=10):
        """A database with five runs for each of the times, one commit each, whose commits have the same commit time:
        only their parents tell the order. `changes` are statements that follow. `slowdown(commit, run)` is by how much
        the machine was slower in the first steps of a run, and in the others of its 20; its median is that of the
        slower ones."""
        self.measure(self.plain_folder())
        connection = sqlite3.connect(self.work / "kymo.db")
        try:
            connection.execute("DELETE FROM source_commit")
            columns = {
                table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] != "run_id"]
                for table in COPIED
            }
            run_id = 1
            for position, time_ns in enumerate(times):
                for repetition in range(5):
                    run_id += 1
                    for table, names in columns.items():
                        values = ["run_id"] + names
                        chosen = [
                            str(run_id)
                            if name == "run_id"
                            else f"{run_id}"
                            if (table, name) == ("run", "sequence")
                            else name
                            for name in values
                        ]
                        connection.execute(
                            f"INSERT INTO {table} ({', '.join(values)}) SELECT {', '.join(chosen)} FROM {table} "
                            "WHERE run_id = 1"
                        )
                    # Runs and commits vary by some tenths of a percent, in an order without a trend.
                    shift = 1 + 0.002 * ((7 * position + 3 * repetition) % 5 - 2)
                    median_ns = fastest_ns = time_ns * shift
                    if slowdown:
                        parts = slowdown(position, repetition)
                        self.add_steps(connection, run_id, median_ns, parts, first_steps)
                        fastest_ns *= min(parts)
                        median_ns *= max(parts)
                    connection.execute(
                        "UPDATE statistic SET (median_ns, mean_ns, min_ns, represented_by) = (?1, ?1, ?2, 'median') "
                        "WHERE run_id = ?3",
                        (median_ns, fastest_ns, run_id),
                    )
                    connection.execute(
                        "INSERT INTO source_commit VALUES (?, 'lab', ?, ?, '2026-03-01T00:00:00Z', 'main', 0)",
                        (run_id, self.hash(position), self.hash(position - 1) if position else ""),
                    )
            for statement in changes:
                connection.execute(statement)
            connection.commit()
        finally:
            connection.close()

    @staticmethod
    def add_steps(connection, run_id, time_ns, parts, first_steps):
        """The steps of a run, and the reference loop before, within and after them."""
        connection.executemany(
            "INSERT INTO step_duration (run_id, phase, step, warmup, throttled, ranks, host_ns) "
            "VALUES (?, 'step', ?, 0, 0, 1, ?)",
            [(run_id, step, round(time_ns * parts[step >= first_steps])) for step in range(20)],
        )
        connection.executemany(
            "INSERT INTO reference_loop VALUES (?, 0, 'time', ?, ?)",
            [
                (run_id, step, round(10_000 * factor))
                for step, factor in ((-1, parts[0]), (first_steps - 1, min(parts)), (19, parts[1]))
            ],
        )

    @staticmethod
    def hash(position):
        """Hashes whose alphabetical order is not that of the commits."""
        return f"{(7 * position + 3) % 31:x}".zfill(2) * 20

    def history(self, *words, code=0):
        return json.loads(self.kymo("history", "--json", *words, code=code).stdout)

    def test_a_change_is_found_at_its_commit(self):
        self.synthetic([1e6] * 12 + [1.05e6] * 8)
        found = self.history("--fail-on-slower", code=3)
        (series,) = found["series"]
        self.assertEqual([commit["hash"] for commit in series["commits"]], [self.hash(each) for each in range(20)])
        (change,) = series["changes"]
        self.assertEqual((change["commit"], change["verdict"]), (12, "SLOWER"))
        self.assertAlmostEqual(change["ratio"], 1.05, delta=0.005)
        self.assertEqual([each["runs"] for each in found["without_commit"]], [1])
        shown = self.kymo("history", "--commits")
        self.assertIn("1 change point", shown.stdout)
        self.assertIn("5.0 % slower", shown.stdout)
        self.assertIn(self.hash(12)[:10], shown.stdout)
        self.assertIn("1 run outside of a git repository left out: pause", shown.stderr)

    def test_no_change_is_found_without_one(self):
        self.synthetic([1e6] * 20)
        (series,) = self.history("--fail-on-slower")["series"]
        self.assertEqual(series["changes"], [])
        self.assertIn("no change point", self.kymo("history").stdout)

    def without_loops(self):
        """The same times, if the state of the machine were unknown."""
        connection = sqlite3.connect(self.work / "kymo.db")
        try:
            with connection:
                connection.execute("DELETE FROM reference_loop")
        finally:
            connection.close()

    def test_a_busy_machine_is_no_change(self):
        self.synthetic([1e6] * 20, slowdown=lambda commit, run: [1.8 if commit >= 10 else 1] * 2)
        found = self.history("--fail-on-slower")
        (series,) = found["series"]
        self.assertEqual((series["changes"], series["busy_runs"], series["enough_runs"]), ([], 50, True))
        self.assertEqual([each["runs"] for each in found["busy"]], [50])
        self.assertEqual([commit["time_ns"] is None for commit in series["commits"]], [False] * 10 + [True] * 10)
        shown = self.kymo("history", "--commits")
        self.assertIn("machine busy in 50 of them, no change point", shown.stdout)
        self.assertEqual(shown.stdout.count("5 of 5 runs"), 10)
        self.assertIn("50 runs measured on a busy machine left out", shown.stderr)
        self.without_loops()
        (change,) = self.history("--fail-on-slower", code=3)["series"][0]["changes"]
        self.assertEqual(change["commit"], 10)

    def test_a_change_is_found_although_the_machine_was_busy_at_a_third_of_the_commits(self):
        self.synthetic([1e6] * 12 + [1.05e6] * 8, slowdown=lambda commit, run: [1.8 if commit % 3 == 1 else 1] * 2)
        (series,) = self.history("--fail-on-slower", code=3)["series"]
        (change,) = series["changes"]
        self.assertEqual((change["commit"], change["begin"], change["end"], change["verdict"]), (12, 0, 19, "SLOWER"))
        self.assertAlmostEqual(change["ratio"], 1.05, delta=0.005)
        self.assertEqual(series["busy_runs"], 35)
        self.assertIn("machine busy in 35 of them, 1 change point", self.kymo("history").stdout)
        self.without_loops()
        self.assertNotEqual([each["commit"] for each in self.history()["series"][0]["changes"]], [12])

    def test_the_steps_without_a_busy_machine_represent_a_run(self):
        self.synthetic([1e6] * 12 + [1.05e6] * 8, slowdown=lambda commit, run: [1 + 0.8 * ((commit + run) % 2), 1])
        found = self.history("--fail-on-slower", code=3)
        self.assertEqual(found["busy"], [])
        (series,) = found["series"]
        self.assertEqual([change["commit"] for change in series["changes"]], [12])
        self.assertLess(max(time for commit in series["commits"] for time in commit["times_ns"]), 1.06e6)
        self.without_loops()
        self.assertGreater(max(self.history()["series"][0]["commits"][0]["times_ns"]), 1.7e6)

    @staticmethod
    def mostly_busy(commit, run):
        """Four of the twenty steps of a run are quiet; those of each third run share their core with a process."""
        return [1.5, 1.9] if (commit + run) % 3 == 0 else [1, 1.4 + 0.1 * ((3 * commit + run) % 7)]

    def test_of_a_machine_that_was_mostly_busy_the_fastest_steps_are_compared(self):
        self.synthetic([1e6] * 12 + [1.05e6] * 8, slowdown=self.mostly_busy, first_steps=4)
        (series,) = self.history("--fail-on-slower", code=3)["series"]
        self.assertEqual((series["statistic"], series["busy_runs"], series["enough_runs"]), ("fastest", 100, True))
        (change,) = series["changes"]
        self.assertEqual((change["commit"], change["verdict"]), (12, "SLOWER"))
        self.assertAlmostEqual(change["ratio"], 1.05, delta=0.005)
        shown = self.kymo("history", "--commits")
        self.assertIn(
            "machine busy in 100 of them, fastest steps of 67 undisturbed runs compared, 1 change point",
            " ".join(shown.stdout.split()),
        )
        self.assertIn("fastest step", shown.stdout)
        self.assertIn("33 runs measured on a busy machine left out", " ".join(shown.stderr.split()))
        self.kymo("report", "history", "--format", "markdown", "--out", "out")
        self.assertIn("fastest step", (self.work / "out" / "report.md").read_text(encoding="utf-8"))

    def test_commits_none_of_whose_runs_were_undisturbed_are_left_out(self):
        def slowdown(commit, run):
            return [1.4, 1.9] if commit in (4, 15, 16) else self.mostly_busy(commit, run)

        self.synthetic([1e6] * 12 + [1.05e6] * 8, slowdown=slowdown, first_steps=4)
        # Their loops do not tell.
        connection = sqlite3.connect(self.work / "kymo.db")
        with connection:
            connection.execute("UPDATE reference_loop SET duration_ns = 10000 WHERE step = 3")
        connection.close()
        (series,) = self.history("--fail-on-slower", code=3)["series"]
        self.assertEqual([change["commit"] for change in series["changes"]], [12])
        without = [at for at, commit in enumerate(series["commits"]) if commit["time_ns"] is None]
        self.assertEqual(without, [4, 15, 16])

    def test_a_large_regression_of_three_commits_is_found_on_a_busy_machine(self):
        self.synthetic([1e6] * 10 + [1.3e6] * 3 + [1e6] * 7, slowdown=self.mostly_busy, first_steps=4)
        (series,) = self.history()["series"]
        self.assertEqual([change["commit"] for change in series["changes"]], [10, 13])

    def test_the_fastest_steps_show_no_change_without_one(self):
        self.synthetic([1e6] * 20, slowdown=self.mostly_busy, first_steps=4)
        (series,) = self.history("--fail-on-slower")["series"]
        self.assertEqual((series["statistic"], series["changes"], series["enough_runs"]), ("fastest", [], True))

    def test_a_machine_that_was_always_busy_gives_no_verdict(self):
        self.synthetic([1e6] * 20, slowdown=lambda commit, run: [1.2 + 0.04 * ((7 * commit) % 20)] * 2)
        (series,) = self.history()["series"]
        self.assertEqual((series["changes"], series["busy_runs"], series["enough_runs"]), ([], 85, False))
        shown = self.kymo("history")
        self.assertIn("machine busy in 85 of them, too few others for a change point", shown.stdout)
        self.assertNotIn("no change point", shown.stdout)
        self.kymo("report", "history", "--format", "markdown", "--out", "out")
        text = (self.work / "out" / "report.md").read_text(encoding="utf-8")
        self.assertIn("too few runs for a change point. The machine was busy in 85 runs.", text)
        self.assertEqual(text.count("5 of 5 runs"), 17)

    def test_runs_of_changed_files_are_named_and_left_out(self):
        self.synthetic([1e6] * 6, [f"UPDATE source_commit SET dirty = 1 WHERE hash = '{self.hash(5)}'"])
        found = self.history()
        self.assertEqual(len(found["series"][0]["commits"]), 5)
        self.assertEqual([each["runs"] for each in found["dirty"]], [5])

    def test_a_case_that_does_not_occur_is_an_error(self):
        self.synthetic([1e6])
        self.assertIn("no finished run matches", self.kymo("history", "matmul", code=2).stderr)

    def test_the_report_shows_the_change(self):
        self.synthetic([1e6] * 12 + [1.05e6] * 8)
        self.kymo("report", "history", "--format", "html,markdown", "--out", "out")
        for file in (self.work / "out").glob("report.*"):
            with self.subTest(file=file.name):
                text = file.read_text(encoding="utf-8")
                self.assertIn("1 change point", text)
                self.assertIn(self.hash(12)[:10], text)
        self.assertIn("takes its runs from", self.kymo("report", "history", "--label", "a", code=2).stderr)

    def bisect(self, repository, *words, code=0):
        return self.kymo(
            "bisect", "--db", str(self.work / "kymo.db"), "--json", *words, code=code, folder=repository.folder
        )

    def test_bisect_finds_the_slow_commit_and_leaves_the_working_tree_alone(self):
        repository = self.repository()
        hashes = []
        for number in range(6):
            pause = 0.02 if number >= 3 else 0.002
            files = {"bench.py": WORKLOAD, "pause.py": f"PAUSE_S = {pause}\n", "number": str(number)}
            hashes.append(repository.commit(f"commit {number}", files))
        (repository.folder / "pause.py").write_text("broken")
        done = self.bisect(repository, "HEAD~5", "HEAD", "--workload", "bench.py", "--", "test", "-e", "number")
        found = json.loads(done.stdout)
        self.assertEqual(found["first_bad"], [{"hash": hashes[3], "subject": "commit 3"}])
        self.assertEqual((repository.folder / "pause.py").read_text(), "broken")
        self.assertEqual(repository.git("rev-parse", "--abbrev-ref", "HEAD"), "main")
        self.assertEqual(len(repository.git("worktree", "list").splitlines()), 1)
        self.assertEqual(repository.git("for-each-ref", "refs/bisect"), "")

    def test_bisect_skips_commits_whose_build_fails_and_names_what_is_left(self):
        repository = self.repository()
        hashes = []
        for number in range(4):
            files = {"bench.py": WORKLOAD, "pause.py": f"PAUSE_S = {0.02 if number == 3 else 0.002}\n"}
            files["builds"] = "no" if number == 2 else "yes"
            hashes.append(repository.commit(f"commit {number}", files))
        done = self.bisect(
            repository, hashes[0], hashes[3], "--workload", "bench.py", "--", "grep", "-q", "yes", "builds", code=3
        )
        found = json.loads(done.stdout)
        self.assertEqual({each["hash"] for each in found["first_bad"]}, {hashes[2], hashes[3]})

    def test_bisect_needs_a_slower_commit(self):
        repository = self.repository()
        for number in range(3):
            repository.commit(str(number), {"bench.py": WORKLOAD, "pause.py": "PAUSE_S = 0.002\n", "n": str(number)})
        done = self.bisect(repository, "HEAD~2", "HEAD", "--workload", "bench.py", "--max-time", "20", code=2)
        self.assertIn("is not measured to be slower", done.stderr)


if __name__ == "__main__":
    unittest.main()
