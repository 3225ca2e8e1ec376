# SPDX-License-Identifier: Apache-2.0
"""`kymo trace` records the collectives of torch.distributed in programs that know nothing of kymo."""

import unittest

from kymo_tool import needs_installed, needs_torch_parts
from torchrun_test import TORCHRUN
from trace_program_test import PROGRAMS, TraceTest

STEPS = 16
CALLS = """SELECT c.rank, c.operation, c.bytes, c.dtype, c.on_device, p.text AS phase, c.start_ns, c.end_ns, c.step
           FROM collective c LEFT JOIN string p ON p.string_id = c.phase_id
           WHERE c.step >= 3 ORDER BY c.rank, c.sequence"""


@needs_torch_parts
@needs_installed(TORCHRUN, "torchrun, which comes with the torch wheel")
class CollectivesTest(TraceTest):
    def setUp(self):
        super().setUp()
        self.environment["GLOO_SOCKET_IFNAME"] = "lo"

    def check(self, program, *options):
        words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", 2, PROGRAMS / program, STEPS]
        expected = self.plain(*words)
        done = self.trace(*words, options=options)
        self.assertEqual(done.stdout, expected)
        self.assertEqual(self.outcome(), ("ok", ""))
        self.assertEqual(self.rows("SELECT * FROM dropped_record WHERE source = 'collective'"), [])
        rows = self.records(CALLS)
        for row in rows:
            self.assertEqual(row["on_device"], 0)
            self.assertLess(row["start_ns"], row["end_ns"])
        return rows

    def per_step(self, rows):
        """Calls by operation, size, type and phase, which are the same in each of the ten steps on each rank."""
        found = {}
        for row in rows:
            key = (row["operation"], row["bytes"], row["dtype"], row["phase"])
            found.setdefault(key, {}).setdefault((row["rank"], row["step"]), 0)
            found[key][row["rank"], row["step"]] += 1
        result = {}
        for key, counts in found.items():
            self.assertEqual((len(counts), len(set(counts.values()))), (20, 1), key)
            result[key] = next(iter(counts.values()))
        return result

    def test_data_parallel(self):
        rows = self.check("ddp.py")
        parameters = 8 * 16 + 16 + 16 + 1
        # One bucket, which the reducer in C++ exchanges while autograd runs.
        self.assertEqual(self.per_step(rows), {("all_reduce", 4 * parameters, "f32", "backward"): 1})
        summary = self.records("SELECT * FROM collective_summary")
        self.assertEqual(len(summary), 1)
        self.assertEqual((summary[0]["ranks"], summary[0]["calls"], summary[0]["compared_launches"]), (2, 1, 10))
        self.assertGreater(summary[0]["transfer_us"], 0)
        self.assertGreater(self.rows("SELECT in_flight_ms FROM collective_overlap WHERE phase = 'step'")[0][0], 0)
        self.kymo("report", "program", "--format", "markdown", "--out", "page")
        report = "".join(file.read_text(encoding="utf-8") for file in (self.work / "page").rglob("*.md"))
        self.assertIn("`all_reduce`", report)

    def test_fully_sharded(self):
        found = self.per_step(self.check("sharded.py"))
        first, last = 4 * (8 * 16 + 16), 4 * (16 * 4 + 4)
        self.assertEqual(
            found,
            {
                ("all_gather", first, "f32", "forward"): 1,
                ("all_gather", last, "f32", "forward"): 1,
                ("all_gather", first, "f32", "backward"): 1,
                ("reduce_scatter", first, "f32", "backward"): 1,
                ("all_gather", last, "f32", "backward"): 1,
                ("reduce_scatter", last, "f32", "backward"): 1,
                ("all_reduce", 4, "f32", None): 1,
            },
        )

    def test_the_pass_without_operators(self):
        found = self.per_step(self.check("ddp.py", "--passes", "trace"))
        self.assertEqual(sum(found.values()), 1)


if __name__ == "__main__":
    unittest.main()
