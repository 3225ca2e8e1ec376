# SPDX-License-Identifier: Apache-2.0
"""A workload with its own threads: the work of each thread is attributed to it, even if it does not end on the
thread that started it."""

import collections
import unittest

from kymo_tool import PLUGINS, SharedRunTest, needs_torch_parts

PLUGIN = PLUGINS / "many_threads.so"
THREADS, BLOCKS, BYTES = 4, 5, 4096
STEPS = 3
BACKWARD = ["ExpBackward0", "SinBackward0", "TanhBackward0", "SigmoidBackward0"]


@needs_torch_parts
class ThreadsTest(SharedRunTest):
    words = [
        PLUGIN,
        "--device",
        "cpu",
        "--set",
        f"threads={THREADS}",
        "--set",
        f"blocks={BLOCKS}",
        "--set",
        f"elements={BYTES}",
        "--warmup",
        "1",
        "--steps",
        "4",
        "--observed-steps",
        str(STEPS - 1),
        "--passes",
        "verify,time,memory,trace,ops",
    ]

    def test_is_ok_and_drops_no_records(self):
        self.assertEqual(self.rows("SELECT status, verification FROM run"), [("ok", "passed")])
        self.assertEqual(self.rows("SELECT * FROM dropped_record"), [])

    def test_ranges_of_threads(self):
        for name in ("memory", "trace", "ops"):
            ranges = self.records(
                """SELECT g.sequence, g.parent, g.kind, s.text AS scope, g.step, p.text AS phase, g.thread, g.start_ns,
                          g.end_ns
                   FROM range g LEFT JOIN string s ON s.string_id = g.scope_id
                   LEFT JOIN string p ON p.string_id = g.phase_id
                   WHERE g.pass = ?""",
                name,
            )
            counts = collections.Counter(
                (one["step"], one["phase"], one["scope"]) for one in ranges if one["kind"] == "scope"
            )
            expected = ["main", *(f"worker_{k}{part}" for k in range(THREADS) for part in ("", "/take", "/forward"))]
            self.assertEqual(
                counts, {(step, "parallel", scope): 1 for step in range(STEPS) for scope in expected}, name
            )
            threads = {}
            for one in ranges:
                self.assertLessEqual(one["start_ns"], one["end_ns"])
                if one["scope"] and one["scope"] != "main":
                    threads.setdefault((one["step"], one["scope"].split("/")[0]), set()).add(one["thread"])
            self.assertTrue(all(len(numbers) == 1 for numbers in threads.values()), threads)
            numbers = [number for each in threads.values() for number in each]
            self.assertEqual(len(set(numbers)), len(numbers), "threads that ended may not lend their number to others")
            self.assertNotIn(0, numbers)

    def test_backward_work_goes_to_the_thread_that_made_its_node(self):
        """Each thread numbers its nodes from the same start, so only the thread distinguishes them."""
        found = self.rows("""SELECT n.text, s.text, p.text, o.attribution, o.thread
                             FROM op o JOIN string n ON n.string_id = o.name_id
                             LEFT JOIN string s ON s.string_id = o.scope_id
                             LEFT JOIN string p ON p.string_id = o.phase_id
                             WHERE o.pass = 'ops' AND o.backward""")
        for k, node in enumerate(BACKWARD):
            counts = collections.Counter(row[1:] for row in found if row[0].split("::")[-1] == node)
            self.assertEqual(counts, {(f"worker_{k}/forward", "gather", "autograd", 0): STEPS}, node)

    def test_blocks_of_threads(self):
        blocks = self.records("""SELECT a.step, p.text AS phase, s.text AS scope, f.text AS free_phase, a.free_step,
                                        a.category, a.category_source, a.thread
                                 FROM allocation a LEFT JOIN string p ON p.string_id = a.phase_id
                                 LEFT JOIN string s ON s.string_id = a.scope_id
                                 LEFT JOIN string f ON f.string_id = a.free_phase_id
                                 WHERE a.pass = 'memory' AND s.text LIKE 'worker%/take'""")
        self.assertEqual(len(blocks), STEPS * THREADS * BLOCKS)
        left = [block for block in blocks if block["category_source"] == "tag"]
        self.assertEqual(
            collections.Counter(
                (block["step"], block["scope"], block["category"], block["free_phase"]) for block in left
            ),
            {(step, f"worker_{k}/take", "activation", "gather"): 1 for step in range(STEPS) for k in range(THREADS)},
        )
        own = [block for block in blocks if block["category_source"] != "tag"]
        self.assertEqual(
            {(block["phase"], block["free_phase"], block["free_step"] == block["step"]) for block in own},
            {("parallel", "parallel", True)},
        )

    def test_counters_agree_whichever_thread_asked(self):
        changes = collections.Counter()
        for birth, death, size in self.rows(
            "SELECT sequence, free_sequence, requested_bytes FROM allocation WHERE pass = 'memory'"
        ):
            changes[birth] += size
            if death is not None:
                changes[death] -= size
        level, levels = 0, {}
        for sequence in range(max(changes) + 2):
            level += changes[sequence]
            levels[sequence] = level
        points = self.rows("SELECT sequence, requested_bytes FROM memory_point WHERE pass = 'memory'")
        self.assertGreater(len(points), 20)
        self.assertEqual([(sequence, levels[min(sequence, max(levels))]) for sequence, _ in points], points)


if __name__ == "__main__":
    unittest.main()
