# SPDX-License-Identifier: Apache-2.0
"""What sweeps derive from their command line, and the table of their shards."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import fake_host  # noqa: F401  (finds the built package)
import kymo
from kymo_commands import UsageError, _sweep_folder, shard
from kymo_commands._clusters import minutes_of, parallelism, settings_of
from kymo_commands._shard_table import text_of
from kymo_commands._sweep_folder import Attempt, Shard
from kymo_commands.sweep import shard_words


class SweepTest(unittest.TestCase):
    def test_the_words_of_a_shard_lack_what_belongs_to_the_sweep(self):
        line = (
            "kymo run w --on slurm --axis 'a=x y,2' --shards=3 --db out.db --resume --on-option time=1 --label it\\'s"
        )
        self.assertEqual(shard_words(line), ["run", "w", "--axis", "a=x y,2", "--label", "it's"])
        line = "kymo suite run s --on=local --on-option=exclusive --db=x.db --json --wide --markdown --profile small"
        self.assertEqual(shard_words(line), ["suite", "run", "s", "--profile", "small"])

    def test_settings(self):
        self.assertEqual(
            settings_of(["partition=gpu", "--cpus_per_task=4", "exclusive", "setup=a", "setup=b=c", "export=ALL,X=1"]),
            {"setup": ["a", "b=c"], "partition": "gpu", "cpus-per-task": "4", "exclusive": True, "export": "ALL,X=1"},
        )
        for text in ("=gpu", "ntasks=2", "job_name=mine", "--output=x"):
            with self.assertRaises(UsageError, msg=text):
                settings_of([text])

    def test_times_are_those_of_sbatch(self):
        for text, minutes in (
            *(("30", 30), ("2:30", 2.5), ("1:02:30", 62.5), ("1-0", 1440), ("2-03:04", 3064), ("1-00:00:30", 1440.5)),
        ):
            self.assertEqual(minutes_of(text), minutes, text)
        for text in ("soon", "1:2:3:4", "-1", ""):
            with self.assertRaises(UsageError, msg=text):
                minutes_of(text)

    def test_parallelism(self):
        self.assertEqual(parallelism({}, 7), 7)
        self.assertEqual(parallelism({"array-parallelism": "2"}, 7), 2)
        for value in ("0", "all", True):
            with self.assertRaises(UsageError, msg=value):
                parallelism({"array-parallelism": value}, 7)

    def test_time_left_as_squeue_prints_it(self):
        for text, seconds in (("1:05", 65), ("2:00:00", 7200), ("1-00:00:01", 86401), ("UNLIMITED", float("inf"))):
            self.assertEqual(shard._seconds(text), seconds, text)

    def test_what_cannot_be_merged_is_kept(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            kept = Shard(folder, 1)
            for content in (b"", b"damaged"):
                local = folder / "local"
                local.mkdir()
                attempt = Attempt(node="here", folder=str(local), process=1, output="")
                kept.write([attempt])
                (local / "shard.db").write_bytes(content)
                with mock.patch.object(_sweep_folder, "_call", side_effect=kymo.Error("not a database")):
                    kept.save(attempt, -9)
                self.assertFalse(local.exists())
                self.assertFalse(kept.database.exists())
                self.assertEqual(kept.attempts()[0].exit_code, -9)
                self.assertEqual(kept.left.exists(), content != b"")
            self.assertEqual((kept.left / "1-shard.db").read_bytes(), b"damaged")

    def test_a_small_terminal_shows_the_shards_that_run(self):
        rows = [(str(index), "ended", "node1", "3/3", "0") for index in range(1, 21)]
        rows[14] = ("15", "running", "node2", "1/3", "1")
        rows[15] = ("16", "pending (Resources)", "", "", "")
        text = text_of(rows, 30, most=5)
        self.assertEqual(
            text.splitlines(),
            [
                "shard  state                no",
                "   15  running              no",
                "   16  pending (Resources)",
                "    1  ended                no",
                "and 17 more shards",
            ],
        )
        self.assertEqual(text_of(rows, 80).count("\n"), 20)


if __name__ == "__main__":
    unittest.main()
