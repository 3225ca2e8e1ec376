# SPDX-License-Identifier: Apache-2.0
"""One slow GPU, or one slow machine, among many that measured the same cases: simulated times, and merged databases."""

import random
import shutil
import sqlite3
import unittest

from kymo_tool import PLUGINS, KymoTest, needs_torch_parts

NODES, GPUS, STEPS = 100, 8, 3
CASES = {  # name: workload, family
    "bandwidth": ("peaks", "peak"),
    "matmul": ("peaks", "peak"),
    "all-reduce": ("all_reduce", "collective"),
    "training-parallel": ("ddp_overlap", "data_parallel"),
}
RUN = """INSERT INTO run (
  run_id, invocation_id, sequence, plugin_id, workload, family, case_key, settings_key, plan_key, suite, suite_case,
  label, repetition, ranks, device_kind, timing, sync, warmup, steps, passes, seed, status, detail, verification,
  failed_pass, failed_phase, started_at)
VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, 'node', ?, '', 0, ?, 'cuda', 'sync', 'step', 1, 3, 'time', 0, 'ok', '', '', '', '',
  '2026-03-01T00:00:00.000Z')"""


class FleetTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.kymo("run", PLUGINS / "probe.so", "--steps", "1", "--warmup", "0", "--no-verify")
        self.database = sqlite3.connect(self.work / "kymo.db", isolation_level=None)
        self.addCleanup(self.database.close)
        self.database.execute("PRAGMA synchronous = OFF")

    def simulate(self, seed, slow=None, nodes=NODES, gpus=GPUS, factor=1.1):
        """GPUs that differ by 0.4 %, on machines that differ by 0.2 %, in steps that vary by 0.2 %; the GPU `slow`, a
        pair of machine and rank, takes `factor` times as long. The slowest GPU determines the time of a machine."""
        noise = random.Random(seed)
        self.database.execute("BEGIN")
        for table in ("run", "device", "invocation", "environment", "planned_run", "rank", "sample", "statistic"):
            self.database.execute(f"DELETE FROM {table}")
        for node in range(nodes):
            self.database.execute(
                "INSERT INTO invocation (invocation_id, uuid, command, started_at) VALUES (?, ?, 'kymo', '2026')",
                (node + 1, f"u{node}"),
            )
            for gpu in range(gpus):
                device = (node * gpus + gpu + 1, f"GPU-{node}-{gpu}")
                self.database.execute(
                    "INSERT INTO device (device_id, uuid, kind, name, memory_bytes) VALUES (?, ?, 'cuda', 'H', 1)",
                    device,
                )
            of_node = noise.gauss(0, 0.002)
            for number, (case, (workload, family)) in enumerate(CASES.items()):
                run_id = node * len(CASES) + number + 1
                key = f"k{number}"
                self.database.execute(
                    RUN, (run_id, node + 1, number, workload, family, key, key, key, case, gpus)
                )  # fmt: skip
                times = [10 * (number + 1) * (1 + of_node + noise.gauss(0, 0.004)) for _ in range(gpus)]
                if slow is not None and slow[0] == node:
                    times[slow[1]] *= factor
                self.insert_times(run_id, node, times, family, noise)
        self.database.execute("COMMIT")

    def insert_times(self, run_id, node, times, family, noise):
        for gpu, time_ms in enumerate(times):
            self.database.execute(
                "INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr) "
                "VALUES (?, ?, 'time', 1, ?, 'ok', ?, '', '')",
                (run_id, gpu, f"node{node:03}", node * len(times) + gpu + 1),
            )
            if family != "peak":
                continue
            self.database.executemany(
                "INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, "
                "device_ns) VALUES (?, ?, 'time', ?, 'step', ?, 0, 1, 0, 1, ?)",
                [
                    (run_id, gpu, step, step == 0, int(1e6 * time_ms * (1 + noise.gauss(0, 0.002))))
                    for step in range(STEPS + 1)
                ],
            )
        median_ns = 1e6 * max(times)
        self.database.execute(
            "INSERT INTO statistic (run_id, phase, clock, count, excluded, all_throttled, mean_ns, median_ns, "
            "min_ns, max_ns) VALUES (?, 'step', 'device', 3, 0, 0, ?, ?, ?, ?)",
            (run_id, *[median_ns] * 4),
        )

    def slow(self):
        rows = self.database.execute(
            "SELECT suite_case, host, CASE part WHEN 'device' THEN rank ELSE part END FROM fleet_measurement "
            "WHERE verdict = 'slow' ORDER BY run_id, rank"
        )
        return rows.fetchall()

    def report(self):
        self.kymo("report", "fleet", "--format", "markdown", "--out", "report")
        return (self.work / "report" / "report.md").read_text(encoding="utf-8")

    def test_one_slow_gpu_of_eight_hundred_is_found(self):
        for seed in range(3):
            node, gpu = random.Random(seed).randrange(NODES), random.Random(seed).randrange(GPUS)
            self.simulate(seed, slow=(node, gpu))
            host = f"node{node:03}"
            self.assertEqual(
                self.slow(),
                [
                    ("bandwidth", host, gpu),
                    ("matmul", host, gpu),
                    ("all-reduce", host, "machine"),
                    ("training-parallel", host, "machine"),
                ],
                f"seed {seed}",
            )
        text = self.report()
        self.assertIn("800 devices of 100 hosts measured 4 cases", text)
        self.assertIn("Slow: 4 of 1800 measurements, on 1 host.", text)
        row = rf"\| `{host}` \| GPU {gpu} \| `bandwidth` \| [\d.]+ \| [\d.]+ \| (9|10|11)\.\d \| 3\.0 "
        self.assertRegex(text, row)
        self.assertIn("from 400 runs in kymo.db", text)

    def test_nothing_is_found_in_twenty_fleets_without_a_slow_gpu(self):
        for seed in range(20):
            self.simulate(seed)
            self.assertEqual(self.slow(), [], f"seed {seed}")
        text = self.report()
        self.assertIn("None of 1800 measurements is slow.", text)
        self.assertIn("No measurement that could be judged is above its limit.", text)

    def test_one_slow_gpu_of_eight_in_one_machine_is_found(self):
        for seed in range(20):
            self.simulate(seed, slow=(0, 3), nodes=1)
            self.assertEqual(self.slow(), [("bandwidth", "node000", 3), ("matmul", "node000", 3)], f"seed {seed}")
        text = self.report()
        self.assertIn("Slow: 2 of 16 measurements, on 1 host.", text)
        self.assertIn("fewer than six devices or machines of their kind measured the case: 2.", text)

    def test_too_few_are_not_judged(self):
        self.simulate(1, slow=(0, 0), nodes=5, gpus=1, factor=3)
        self.assertEqual(self.slow(), [])
        text = self.report()
        self.assertNotIn("is slow", text)
        self.assertIn("fewer than six devices or machines of their kind measured the case: 20.", text)
        self.assertIn("too few", text)

    def test_hosts_without_a_measurement_are_named(self):
        self.simulate(2, nodes=6, gpus=2)
        self.assertIn("Every host measured what at least half of the hosts did.", self.report())
        self.database.execute("UPDATE run SET status = 'failed', detail = 'NCCL' WHERE run_id = 3")
        self.database.execute("DELETE FROM run WHERE run_id = 6")
        text = self.report()
        self.assertIn("| `node000` | `all-reduce` | `all_reduce` | 2 | 5 | failed | NCCL |", text)
        self.assertIn("| `node001` | `matmul` | `peaks` | 2 | 5 | not run | – |", text)

    @needs_torch_parts
    def test_databases_of_several_machines(self):
        """The suite on this machine, as if seven others had the same times, and an eighth took twice as long."""
        self.database.close()
        (self.work / "kymo.db").unlink()
        self.kymo("suite", "run", "node", "--filter", "^bandwidth", "--steps", "2", "--db", "node.db")
        sources = []
        for node in range(8):
            sources.append(f"node{node}.db")
            shutil.copy(self.work / "node.db", self.work / sources[-1])
            copy = sqlite3.connect(self.work / sources[-1], isolation_level=None)
            copy.execute("UPDATE invocation SET uuid = ?", (f"u{node}",))
            copy.execute("UPDATE device SET uuid = ?", (f"d{node}",))
            copy.execute("UPDATE rank SET host = ?", (f"n{node}",))
            copy.execute("UPDATE environment SET value = ? WHERE name = 'host'", (f"n{node}",))
            if node == 7:
                copy.execute("UPDATE statistic SET mean_ns = 2 * mean_ns, median_ns = 2 * median_ns")
            copy.close()
        self.kymo("merge", "kymo.db", *sources)
        text = self.report()
        self.assertIn("8 devices of 8 hosts measured 1 case", text)
        self.assertRegex(text, r"\| `n7` \| (GPU 0|processor) \| `bandwidth` \| [\d.]+ \| [\d.]+ \| 100\.0 \|")
        self.assertIn("Slow: 1 of 8 measurements, on 1 host.", text)


if __name__ == "__main__":
    unittest.main()
