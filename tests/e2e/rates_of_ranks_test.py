# SPDX-License-Identifier: Apache-2.0
"""Rates of runs with several ranks are per rank. The bandwidth of collectives is that of nccl-tests in the table, in
JSON, in `kymo show`, in the views and in reports: this test computes it from the measured steps."""

import csv
import json
import re
import statistics
import unittest

from kymo_tool import KymoTest, needs_torch_parts

REQUESTED = 1_000_003
CALLS = 3
ELEMENT = 4
TOLERANCE = 0.02
SLOWEST = """
SELECT run_id, max(host_ns) FROM sample WHERE pass = 'time' AND phase = 'step' AND NOT warmup GROUP BY run_id, step
"""
PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}


def bus_bandwidth(operation, ranks, algorithm_bandwidth):
    """As in doc/PERFORMANCE.md of nccl-tests."""
    if operation == "broadcast":
        return algorithm_bandwidth
    if operation == "all_reduce":
        return algorithm_bandwidth * 2 * (ranks - 1) / ranks
    return algorithm_bandwidth * (ranks - 1) / ranks


def bytes_per_s(cell):
    """The number of a cell such as "1.25 GB/s"."""
    number, prefix = re.fullmatch(r"([\d.e+]+) ([kMG]?)B/s", cell).groups()
    return float(number) * PREFIXES[prefix]


def rows_of_table(text):
    """The rows of the Markdown table at the beginning of a text, by header."""
    lines = [line.strip("| \n").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


@needs_torch_parts
class CollectiveTest(KymoTest):
    def setUp(self):
        super().setUp()
        # Without this, Gloo resolves the host name, which may fail on a machine without a network.
        self.environment["GLOO_SOCKET_IFNAME"] = "lo"

    def expected(self):
        """(algbw, busbw) in B/s by run, from the steps, the requested size and the number of ranks."""
        steps = {}
        for run_id, ns in self.rows(SLOWEST):
            steps.setdefault(run_id, []).append(ns)
        found = {}
        for run_id, ranks, operation in self.rows(
            "SELECT r.run_id, r.ranks, p.value FROM run r JOIN param p USING (run_id) WHERE p.name = 'operation'"
        ):
            message = REQUESTED // (ELEMENT * ranks) * ELEMENT * ranks
            algorithm = CALLS * message / (statistics.median(steps[run_id]) / 1e9)
            found[run_id] = (algorithm, bus_bandwidth(operation, ranks, algorithm))
        return found

    def assert_bandwidth(self, found, expected):
        for value, right in zip(found, expected, strict=True):
            self.assertLess(abs(value - right), TOLERANCE * right, (found, expected))

    def assert_rows(self, rows, expected, giga=1e9):
        self.assertEqual(len(rows), len(expected))
        for run_id, *bandwidth in rows:
            self.assert_bandwidth([giga * value for value in bandwidth], expected[run_id])

    def test_bandwidth_is_that_of_nccl_tests_in_every_place(self):
        for ranks in (2, 4):
            done = self.kymo(
                "run",
                "all_reduce",
                "--ranks",
                ranks,
                "--device",
                "cpu",
                "--passes",
                "time",
                "--warmup",
                1,
                "--steps",
                5,
                "--set",
                f"bytes={REQUESTED}",
                "--set",
                f"calls={CALLS}",
                "--axis",
                "operation=all_reduce,reduce_scatter,all_gather,broadcast",
                "--markdown",
            )
            table = rows_of_table(done.stdout.split("\n\n")[0])
            self.assertEqual(len(table), 4)
            self.assertFalse([name for row in table for name in row if name.startswith(("B/s", "FLOP/s"))])
            expected = self.expected()
            for row in table:
                self.assert_bandwidth([bytes_per_s(row["algbw"]), bytes_per_s(row["busbw"])], expected[int(row["run"])])
        expected = self.expected()
        self.assertEqual(len(expected), 8)

        listed = [
            (run["run_id"], run["phases"]["step"]["algbw_gb_s"], run["phases"]["step"]["busbw_gb_s"])
            for run in json.loads(self.kymo("runs", "--json").stdout)
        ]
        self.assert_rows(listed, expected)
        view = self.rows("SELECT run_id, algbw_gb_s, busbw_gb_s FROM all_reduce_bandwidth")
        self.assert_rows(view, expected)

        shown = self.kymo("show", "8", "--wide").stdout
        step = next(line for line in shown.splitlines() if line.startswith("step "))
        found = [bytes_per_s(text) for text in re.findall(r"[\d.e+]+ [kMG]?B/s", step)]
        self.assert_bandwidth(found, expected[8])

        self.kymo("report", "quick", "--out", "report", "--format", "csv")
        with (self.work / "report" / "tables" / "all-reduce.csv").open(encoding="utf-8", newline="") as file:
            reported = list(csv.DictReader(file))
        runs = self.rows(
            "SELECT p.value, r.ranks, r.run_id FROM run r JOIN param p USING (run_id) WHERE p.name = 'operation'"
        )
        run_of = {(operation, str(ranks)): run_id for operation, ranks, run_id in runs}
        rows = [
            (run_of[row["operation"], row["ranks"]], float(row["algbw (GB/s)"]), float(row["busbw (GB/s)"]))
            for row in reported
        ]
        self.assert_rows(rows, expected)

    def test_traced_calls_follow_the_same_convention(self):
        """The transfer of each call, from the start of the last rank to the end of the last rank."""
        self.kymo(
            "run",
            "all_reduce",
            "--ranks",
            2,
            "--device",
            "cpu",
            "--passes",
            "trace",
            "--observed-steps",
            4,
            "--set",
            f"bytes={REQUESTED}",
            "--axis",
            "operation=all_reduce,reduce_scatter,all_gather,broadcast",
        )
        calls = {}
        for run_id, operation, size, us in self.rows(
            "SELECT run_id, operation, max(bytes), max(call_transfer_us) FROM collective_call "
            "WHERE measured AND communicator = 'world' AND call_transfer_us > 0 "
            "GROUP BY run_id, communicator, call_number"
        ):
            calls.setdefault((run_id, operation), []).append((size, us))
        summary = self.rows(
            "SELECT run_id, operation, algbw_gb_s, busbw_gb_s FROM collective_summary WHERE communicator = 'world'"
        )
        self.assertEqual(len(summary), 4)
        for run_id, operation, algorithm, bus in summary:
            made = calls[run_id, operation]
            self.assertEqual({size for size, _ in made}, {1_000_000})
            right = sum(size for size, _ in made) / sum(us for _, us in made) / 1e3
            self.assert_bandwidth((algorithm, bus), (right, bus_bandwidth(operation, 2, right)))


class DeclaredWorkTest(KymoTest):
    def test_is_named_and_counted_per_rank(self):
        words = ["run", "saxpy", "--no-verify", "--set", "n=1000", "--warmup", 1, "--steps", 3]
        alone = self.kymo(*words).stdout
        self.assertRegex(alone, r" FLOP/s +B/s ")
        together = self.kymo(*words, "--ranks", 2).stdout
        self.assertRegex(together, r" FLOP/s per rank +B/s per rank")
        one, two = sorted(json.loads(self.kymo("runs", "--json").stdout), key=lambda run: run["run_id"])
        for run in (one, two):
            step = run["phases"]["step"]
            self.assertEqual(step["flops"], 2 * 1000)
            self.assertAlmostEqual(step["flops_per_s"] * step["median_ns"] / 1e9, 2 * 1000)
        self.assertEqual(one["phases"]["step"]["bytes"], two["phases"]["step"]["bytes"])
        self.assertRegex(self.kymo("show", "2", "--wide").stdout, r" FLOP/s per rank +B/s per rank\n")
        against = self.kymo(*words, "--ranks", 2, "--against", "saxpy:precision=fp64", "--wide").stdout
        self.assertRegex(against, r" FLOP/s per rank +B/s per rank ")
        work = "SELECT ranks, flops FROM throughput WHERE phase = 'step' AND run_id < 3 ORDER BY run_id"
        self.assertEqual(self.rows(work), [(1, 2000), (2, 2000)])


if __name__ == "__main__":
    unittest.main()
