# SPDX-License-Identifier: Apache-2.0
"""`kymo trace` records the collectives of torch.distributed in programs that know nothing of kymo."""

import unittest

from kymo_tool import long_test, needs_installed, needs_torch_parts
from torchrun_test import TORCHRUN
from trace_program_test import FORKED, OPERATORS, PROGRAMS, TraceTest

STEPS = 16
TORCHRUN_OF_TWO = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", 2)
CALLS = """SELECT c.rank, c.operation, c.bytes, c.dtype, c.on_device, p.text AS phase, c.start_ns, c.end_ns, c.step
           FROM collective c LEFT JOIN string p ON p.string_id = c.phase_id
           WHERE c.step >= 3 ORDER BY c.rank, c.sequence"""


@needs_torch_parts
@needs_installed(TORCHRUN, "torchrun, which comes with the torch wheel")
class CollectivesTest(TraceTest):
    def check(self, program, *options, launcher=TORCHRUN_OF_TWO, ranks=2, kind=()):
        words = [PROGRAMS / program, *kind, STEPS]
        expected = self.plain(*words, ranks=ranks)
        done = self.trace(*launcher, *words, options=options)
        self.assertEqual(done.stdout, expected)
        self.assertEqual(self.outcome(), ("ok", ""))
        self.assertEqual(self.rows("SELECT * FROM dropped_record WHERE source = 'collective'"), [])
        rows = self.records(CALLS)
        for row in rows:
            self.assertEqual(row["on_device"], 0)
            self.assertLess(row["start_ns"], row["end_ns"])
        return rows

    def test_data_parallel(self):
        del self.environment["KYMO_TEST_LIGHT_TORCH"]  # as users do
        rows = self.check("ddp.py")
        self.assertEqual(self.rows("SELECT workload, ranks FROM run"), [("ddp.py", 2)])
        steps = self.rows("SELECT rank, count(*) FROM sample WHERE phase = 'step' AND warmup = 0 GROUP BY rank")
        self.assertEqual(steps, [(0, 10), (1, 10)])
        found = {(row["rank"], row["path"]) for row in self.records(OPERATORS.replace("SELECT", "SELECT o.rank,", 1))}
        parts = ("Linear_0", "Tanh_1", "Linear_2")
        modules = {(rank, f"DistributedDataParallel/module/{part}") for rank in (0, 1) for part in parts}
        self.assertLessEqual(modules, found)
        parameters = 8 * 16 + 16 + 16 + 1
        # One bucket, which the reducer in C++ exchanges while autograd runs.
        self.assertEqual(self.calls_per_step(rows), {("all_reduce", 4 * parameters, "f32", "backward"): 1})
        summary = self.records("SELECT * FROM collective_summary")
        self.assertEqual(len(summary), 1)
        self.assertEqual((summary[0]["ranks"], summary[0]["calls"], summary[0]["compared_launches"]), (2, 1, 10))
        self.assertGreater(summary[0]["transfer_us"], 0)
        self.assertGreater(self.rows("SELECT in_flight_ms FROM collective_overlap WHERE phase = 'step'")[0][0], 0)
        self.kymo("report", "program", "--format", "markdown", "--out", "page")
        report = "".join(file.read_text(encoding="utf-8") for file in (self.work / "page").rglob("*.md"))
        self.assertIn("`all_reduce`", report)

    @long_test
    def test_fully_sharded(self):
        del self.environment["KYMO_TEST_LIGHT_TORCH"]
        found = self.calls_per_step(self.check("sharded.py", launcher=(FORKED, 2)))
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

    def test_gathers_of_fully_shard_are_late(self):
        """A layer of fully_shard waits for its gather over Gloo at once: the gather is late by its whole duration."""
        del self.environment["KYMO_TEST_LIGHT_TORCH"]
        self.environment["DELAY_MS"] = "20"
        self.check("sharded.py", launcher=(FORKED, 2))
        rows = {
            (row["phase"], row["layer"]): row
            for row in self.records("SELECT * FROM gather_lateness ORDER BY layer_order")
        }
        self.assertEqual(list(rows), [("forward", "0"), ("forward", "2"), ("backward", "2"), ("backward", "0")])
        self.assertEqual({row["steps"] for row in rows.values()}, {10})
        self.assertEqual({row["verdict"] for row in rows.values()}, {"late"})
        delayed = rows["forward", "2"]
        self.assertEqual(max(rows.values(), key=lambda row: row["late_us"]), delayed)
        per_call = self.rows(
            "SELECT late_us FROM collective_lateness "
            "WHERE phase = 'forward' AND measured AND rank = 0 AND needed_by = '2'"
        )
        # Either rank may be delayed in some of the ten steps by other work on the machine.
        self.assertTrue(any(abs(late - 20_000) <= 2_000 for (late,) in per_call), per_call)
        self.kymo("report", "program", "--format", "markdown", "--out", "page")
        report = "".join(file.read_text(encoding="utf-8") for file in (self.work / "page").rglob("*.md"))
        self.assertIn("The gathers that arrive last, by layer", report)

    def groups(self, kind, passes):
        """Of a program with four ranks: for each group of ranks that makes calls, its number of ranks, and its calls
        per step by operation, phase and rank. All calls were compared within their group."""
        self.check("groups.py", "--passes", passes, launcher=(FORKED, 4), ranks=4, kind=[kind])
        found = {}
        for name, rank, operation, phase, ranks, calls, compared in self.rows(
            """SELECT communicator, rank, operation, phase, ranks, count(*) / 10.0, count(wait_us) / 10.0
               FROM collective_call WHERE measured AND run_id = (SELECT max(run_id) FROM run)
               GROUP BY communicator, rank, operation, phase, ranks"""
        ):
            self.assertEqual(calls, compared, (name, operation))
            found.setdefault((name, ranks), set()).add((operation, phase, rank, calls))
        return sorted((ranks, sorted(calls)) for (_, ranks), calls in found.items())

    @long_test
    def test_groups_of_a_mesh(self):
        calls = [("all_gather", "forward"), ("reduce_scatter", "backward")]
        sharded = [(2, [(*call, rank, 1) for call in calls for rank in pair]) for pair in [(0, 1), (2, 3)]]
        replicated = [(2, [("all_reduce", "backward", rank, 1) for rank in pair]) for pair in [(0, 2), (1, 3)]]
        del self.environment["KYMO_TEST_LIGHT_TORCH"]
        self.assertEqual(self.groups("mesh", "ops"), sorted(sharded + replicated))

    @long_test
    def test_groups_of_data_parallel_models(self):
        pairs = [(2, [("all_reduce", "backward", rank, 1) for rank in pair]) for pair in [(0, 1), (2, 3)]]
        self.assertEqual(self.groups("replicated", "trace"), pairs)
        # A straggler is one of the ranks that waited for it.
        rows = self.rows("SELECT DISTINCT communicator, rank, last_rank FROM collective_call WHERE measured")
        self.assertLessEqual({(rank // 2, last // 2) for _, rank, last in rows}, {(0, 0), (1, 1)})

    def check_messages(self, kind, passes):
        """Each rank of a pair sends one message per step to the other one."""
        pairs = [(0, 1), (1, 0), (2, 3), (3, 2)]
        messages = [(2, [("receive", "other", to, 1), ("send", "other", by, 1)]) for by, to in pairs]
        self.assertEqual(self.groups(kind, passes), sorted(messages))

    def test_messages_of_a_pipeline(self):
        self.check_messages("pipeline", "ops")

    @long_test
    def test_messages_in_both_directions(self):
        self.check_messages("exchange", "trace")


if __name__ == "__main__":
    unittest.main()
