# SPDX-License-Identifier: Apache-2.0
"""A job on two machines: two network namespaces joined by a virtual cable, each with its own name and clocks. The
second machine's clocks are hours ahead. Skipped if namespaces are not permitted."""

import os
import subprocess
import unittest

from kymo_tool import KYMO
from launcher_tool import PROBE, LaunchTest

MACHINES = ("a", "b")
AHEAD_S = {"a": 0, "b": 10_000}
PORT = 29500  # in its own network namespace every port is free


def run(*words):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


class TwoMachinesTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.networks = {machine: f"kymo-{os.getpid()}-{machine}" for machine in MACHINES}
        self.addresses = {machine: f"10.77.0.{number + 1}" for number, machine in enumerate(MACHINES)}
        try:
            self.plug()
        except (OSError, RuntimeError) as reason:
            self.skipTest(f"no networks of their own here: {reason}")

    def plug(self):
        for machine in MACHINES:
            self.needed("ip", "netns", "add", self.networks[machine])
            self.addCleanup(run, "ip", "netns", "del", self.networks[machine])
        first, second = self.networks.values()
        self.needed("ip", "-n", first, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", second)
        for machine in MACHINES:
            self.needed(
                "ip", "-n", self.networks[machine], "addr", "add", self.addresses[machine] + "/24", "dev", "cable"
            )
            for link in ("lo", "cable"):
                self.needed("ip", "-n", self.networks[machine], "link", "set", link, "up")
            self.needed(*self.on(machine), "true")

    @staticmethod
    def needed(*words):
        done = run(*words)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")

    def on(self, machine):
        """Command prefix that runs a command on this machine."""
        ahead = str(AHEAD_S[machine])
        return [
            "ip",
            "netns",
            "exec",
            self.networks[machine],
            "unshare",
            "--uts",
            "--time",
            "--monotonic",
            ahead,
            "--boottime",
            ahead,
            "--fork",
            "sh",
            "-c",
            'hostname "$0" && exec "$@"',
            f"machine-{machine}",
        ]

    def launch(self, *words):
        """Ranks 0 and 1 on the first machine, rank 2 on the second."""
        tasks = (("a", 0, 2), ("a", 1, 2), ("b", 0, 1))
        return [
            self.start(
                *self.on(machine),
                KYMO,
                *words,
                RANK=str(rank),
                WORLD_SIZE="3",
                LOCAL_RANK=str(local),
                LOCAL_WORLD_SIZE=str(count),
                MASTER_ADDR=self.addresses["a"],
                MASTER_PORT=str(PORT),
            )
            for rank, (machine, local, count) in enumerate(tasks)
        ]

    def test_ranks_of_both_train_together(self):
        for process in self.launch(
            "run", "ddp_bucketed", "--device", "cpu", "--steps", "4", "--passes", "verify,trace", "--set", "model=toy"
        ):
            self.ended(process, 0)
        self.assertEqual(self.rows("SELECT status, verification FROM run"), [("ok", "passed")])
        self.assertEqual(
            self.rows("SELECT DISTINCT rank, host FROM rank ORDER BY rank"),
            [(0, "machine-a"), (1, "machine-a"), (2, "machine-b")],
        )
        # If the machines' clocks are aligned, an all-reduce cannot end anywhere before it has started everywhere.
        calls = self.rows(
            "SELECT count(*), min(transfer_us + clock_error_us), max(clock_error_us) FROM collective_call "
            "WHERE operation = 'all_reduce' GROUP BY communicator, call_number"
        )
        self.assertGreaterEqual(len(calls), 4)
        for ranks, early_us, clock_error_us in calls:
            self.assertEqual(ranks, 3)
            self.assertGreaterEqual(early_us, 0)
            self.assertLess(clock_error_us, 50_000)

    def test_a_machine_that_vanishes_is_named(self):
        leader, neighbour, far = self.launch(
            "run", PROBE, "--device", "cpu", "--warmup", "1", "--steps", "2000", "--no-verify", "--set", "sleep=50000"
        )
        self.workers(3, leader, neighbour, far)
        self.needed("ip", "-n", self.networks["b"], "link", "set", "cable", "down")
        self.ended(leader, 3)
        self.ended(neighbour, 3)
        self.assertIn(f"rank 0 at {self.addresses['a']}", self.ended(far, 1)[1])
        ((status, rank, detail),) = self.rows("SELECT status, failed_rank, detail FROM run")
        self.assertEqual((status, rank), ("crashed", 2), detail)
        self.assertIn("machine-b", detail)
        self.workers(0)


if __name__ == "__main__":
    unittest.main()
