# SPDX-License-Identifier: Apache-2.0
"""Results of the memory pass for a training step on a CPU: every block, the curves, their peaks and their
composition."""

import bisect
import collections
import itertools
import unittest

from kymo_tool import SharedRunTest, needs_torch_parts
from small_model import BATCH, CASE, CONTEXT, HEADS, LAYERS, METHOD, PARAMETER_TENSORS, STEPS, WARMUP

BLOCKS = """SELECT a.*, p.text AS phase, f.text AS free_phase, s.text AS scope, q.module, o.text AS operator
            FROM allocation a
            LEFT JOIN string p ON p.string_id = a.phase_id LEFT JOIN string f ON f.string_id = a.free_phase_id
            LEFT JOIN string s ON s.string_id = a.scope_id LEFT JOIN scope_path q ON q.scope_id = a.scope_id
            LEFT JOIN string o ON o.string_id = a.op_id WHERE a.pass = 'memory' ORDER BY a.sequence"""


class Curve:
    """Number of live bytes of a set of blocks after each memory event, computed from the blocks alone."""

    def __init__(self, blocks, size):
        changes = collections.Counter()
        for block in blocks:
            changes[block["sequence"]] += block[size]
            if block["free_sequence"] is not None:
                changes[block["free_sequence"]] -= block[size]
        self.sequences = sorted(changes)
        self.levels = list(itertools.accumulate(changes[sequence] for sequence in self.sequences))

    def after(self, sequence):
        index = bisect.bisect_right(self.sequences, sequence)
        return self.levels[index - 1] if index else 0

    def before(self, sequence):
        return self.after(sequence - 1)


@needs_torch_parts
class MemoryTest(SharedRunTest):
    words = [*CASE, *METHOD, "--passes", "verify,time,memory"]

    def blocks(self, **wanted):
        return [block for block in self.records(BLOCKS) if all(block[name] == value for name, value in wanted.items())]

    def parameter_bytes(self):
        ((elements,),) = self.rows("SELECT value FROM metric WHERE name = 'parameters' AND pass = 'memory'")
        return 4 * int(elements)

    def asked_for(self, blocks):
        return sum(block["requested_bytes"] for block in blocks)

    def test_drops_no_records(self):
        self.assertEqual(self.rows("SELECT status FROM run"), [("ok",)])
        self.assertEqual(self.rows("SELECT * FROM dropped_record"), [])

    def test_parameters(self):
        blocks = self.blocks(category="parameter")
        self.assertEqual((len(blocks), self.asked_for(blocks)), (PARAMETER_TENSORS, self.parameter_bytes()))
        self.assertEqual(
            {(block["category_source"], block["step"], block["free_ns"]) for block in blocks}, {("tag", -1, None)}
        )

    def test_gradients(self):
        blocks = self.blocks(category="gradient")
        self.assertEqual({(block["category_source"], block["phase"]) for block in blocks}, {("tag", "backward")})
        for step in range(WARMUP + STEPS):
            born = [block for block in blocks if block["step"] == step]
            self.assertEqual((len(born), self.asked_for(born)), (PARAMETER_TENSORS, self.parameter_bytes()))
            # The next step frees them before it allocates new ones.
            last = step == WARMUP + STEPS - 1
            self.assertEqual({block["free_step"] for block in born}, {None if last else step + 1})

    def test_optimizer_state(self):
        blocks = self.blocks(category="optimizer_state")
        self.assertEqual(
            {(block["category_source"], block["step"], block["free_ns"]) for block in blocks}, {("tag", -1, None)}
        )
        # For each parameter two moments of the same size and a step counter.
        self.assertEqual(
            (len(blocks), self.asked_for(blocks)),
            (3 * PARAMETER_TENSORS, 2 * self.parameter_bytes() + 4 * PARAMETER_TENSORS),
        )

    def test_inputs(self):
        self.assertEqual(
            sorted(block["requested_bytes"] for block in self.blocks(category="input")),
            [8 * BATCH * CONTEXT, 8 * BATCH * CONTEXT, 8 * BATCH * (CONTEXT + 1)],
        )

    def test_activations_are_allocated_forward_and_freed_by_the_next_step(self):
        weights = [
            block
            for block in self.blocks(category="activation", module="block/attention/softmax")
            if block["requested_bytes"] == 4 * BATCH * HEADS * CONTEXT * CONTEXT
        ]
        self.assertEqual(
            collections.Counter(
                (block["step"], block["phase"], block["free_phase"], block["category_source"]) for block in weights
            ),
            {(step, "forward", "backward", "lifetime"): LAYERS for step in range(WARMUP + STEPS)},
        )
        self.assertEqual(
            {block["scope"] for block in weights}, {f"block_{layer}/attention/softmax" for layer in range(LAYERS)}
        )
        self.assertEqual({block["operator"] for block in weights}, {"aten::_softmax"})
        for block in self.blocks(category="activation"):
            self.assertEqual(block["phase"], "forward", block)
            self.assertTrue(
                block["free_sequence"] is None or block["free_step"] in (block["step"], block["step"] + 1, -1), block
            )

    def test_workspace_dies_in_the_phase_that_asked_for_it(self):
        blocks = self.blocks(category="workspace")
        self.assertGreater(len(blocks), 0)
        for block in blocks:
            self.assertIsNotNone(block["operator"], block)
            self.assertEqual(
                (block["category_source"], block["free_step"], block["free_phase"]),
                ("lifetime", block["step"], block["phase"]),
                block,
            )

    def test_backward_blocks_have_forward_scopes(self):
        blocks = [block for block in self.blocks(phase="backward") if block["step"] >= WARMUP]
        with_scope = [block for block in blocks if block["scope"]]
        self.assertGreaterEqual(self.asked_for(with_scope) / self.asked_for(blocks), 0.98)
        self.assertLessEqual(
            {"embedding", "head", "loss", "block/attention/softmax", "block/feed_forward"},
            {block["module"] for block in with_scope},
        )

    def test_blocks_are_whole(self):
        for block in self.blocks():
            self.assertEqual((block["device"], block["allocated_bytes"]), ("cpu", block["requested_bytes"]), block)
            self.assertEqual(
                (block["free_ns"] is None, block["free_step"] is None), (block["free_sequence"] is None,) * 2, block
            )
            if block["free_sequence"] is not None:
                self.assertTrue(block["sequence"] < block["free_sequence"] <= block["reusable_sequence"], block)
                self.assertTrue(block["alloc_ns"] <= block["free_ns"] <= block["reusable_ns"], block)

    def test_no_two_live_blocks_overlap(self):
        ends = []
        for block in self.blocks():
            ends.append((block["sequence"], 1, block))
            if block["free_sequence"] is not None:
                ends.append((block["free_sequence"], 0, block))
        live = {}
        for _, born, block in sorted(ends, key=lambda end: end[:2]):
            if not born:
                del live[block["address"]]
                continue
            for address, size in live.items():
                self.assertFalse(
                    address < block["address"] + block["requested_bytes"] and block["address"] < address + size, block
                )
            live[block["address"]] = block["requested_bytes"]

    def test_curves_are_the_sums_of_live_blocks(self):
        blocks = self.blocks()
        curve = Curve(blocks, "requested_bytes")
        points = self.records("SELECT * FROM memory_point WHERE pass = 'memory' ORDER BY sequence")
        self.assertGreater(len(points), 100)
        for point in points:
            level = curve.after(point["sequence"])
            self.assertEqual(
                [point[f"{name}_bytes"] for name in ("requested", "allocated", "active", "reserved")],
                [level] * 4,
                point,
            )
        self.assertEqual(max(point["requested_bytes"] for point in points), max(curve.levels))

    def test_curves_of_the_categories_are_the_sums_of_their_blocks(self):
        curves = self.rows("SELECT category, sequence, bytes FROM memory_timeline_by_category WHERE pass = 'memory'")
        self.assertEqual({category for category, *_ in curves}, {block["category"] for block in self.blocks()})
        for category in {category for category, *_ in curves}:
            expected = Curve(self.blocks(category=category), "allocated_bytes")
            found = sorted((sequence, size) for name, sequence, size in curves if name == category)
            self.assertEqual(found, list(zip(expected.sequences, expected.levels, strict=True)), category)

    def test_left_out_points_lie_near_the_line(self):
        """Between two retained points, no curve deviates by more than two thousandths of its range."""
        curve = Curve(self.blocks(), "requested_bytes")
        bound = 2 * (max(curve.levels) - min(curve.levels)) / 1000
        kept = self.rows("SELECT sequence, requested_bytes FROM memory_point WHERE pass = 'memory' ORDER BY sequence")
        for (first, low), (second, high) in itertools.pairwise(kept):
            for sequence in curve.sequences[
                bisect.bisect_right(curve.sequences, first) : bisect.bisect_left(curve.sequences, second)
            ]:
                level = curve.after(sequence)
                self.assertLessEqual(min(abs(level - low), abs(level - high)), bound + 1, (first, sequence, second))

    def test_phase_peaks_are_the_highest_points(self):
        blocks = self.blocks()
        curve = Curve(blocks, "requested_bytes")
        expected = collections.Counter()
        for block in blocks:
            ends = [(block["step"], block["phase"], block["sequence"])]
            if block["free_sequence"] is not None:
                ends.append((block["free_step"], block["free_phase"], block["free_sequence"]))
            for step, phase, sequence in ends:
                level = max(curve.before(sequence), curve.after(sequence))
                for key in ((step, "step"), (step, phase or "other")):
                    expected[key] = max(expected[key], level)
        stored = {
            (row["step"], row["phase"]): row for row in self.records("SELECT * FROM memory_phase WHERE pass = 'memory'")
        }
        self.assertLessEqual(expected.keys(), stored.keys())
        for key, level in expected.items():
            row = stored[key]
            self.assertEqual(
                [row[f"peak_{name}_bytes"] for name in ("requested", "allocated", "active", "reserved")],
                [level] * 4,
                key,
            )
        parts = collections.defaultdict(dict)
        for step, phase, category, size in self.rows(
            "SELECT step, phase, category, bytes FROM memory_phase_category WHERE pass = 'memory'"
        ):
            parts[step, phase][category] = size
        for key, row in stored.items():
            self.assertEqual(sum(parts[key].values()), row["peak_allocated_bytes"], row)
            self.assertEqual(row["warmup"], int(0 <= row["step"] < WARMUP))
            if row["step"] >= 0:
                self.assertEqual(parts[key]["parameter"], self.parameter_bytes())

    def test_phases_join_up(self):
        for step in range(WARMUP + STEPS):
            rows = {
                phase: (begin, end)
                for phase, begin, end in self.rows(
                    "SELECT phase, begin_allocated_bytes, end_allocated_bytes FROM memory_phase "
                    "WHERE pass = 'memory' AND step = ?",
                    step,
                )
            }
            self.assertLessEqual({"step", "forward", "backward", "optimizer"}, rows.keys())
            self.assertEqual(rows["forward"][1], rows["backward"][0])
            self.assertEqual(rows["backward"][1], rows["optimizer"][0])
            # A step ends with the same state as the previous one: parameters, gradients, optimizer state and batch.
        levels = {
            end
            for (end,) in self.rows(
                "SELECT end_allocated_bytes FROM memory_phase WHERE pass = 'memory' AND phase = 'step' AND step >= 0"
            )
        }
        self.assertEqual(len(levels), 1, levels)

    def test_views(self):
        (peak,) = self.records("SELECT * FROM memory_peak WHERE phase = 'step'")
        ((expected,),) = self.rows(
            "SELECT max(peak_allocated_bytes) FROM memory_phase WHERE phase = 'step' AND NOT warmup AND step >= 0"
        )
        self.assertEqual(peak["peak_allocated_bytes"], expected)
        self.assertEqual(self.rows("SELECT sum(bytes) FROM memory_by_category WHERE phase = 'step'"), [(expected,)])
        alive = self.rows("SELECT sum(allocated_bytes) FROM memory_block WHERE at_peak")
        self.assertEqual(alive, [(expected,)])

    def test_stacks_lead_to_the_workload(self):
        blocks = self.blocks()
        self.assertGreaterEqual(sum(block["stack"] is not None for block in blocks) / len(blocks), 0.99)
        origins = self.rows(
            "SELECT category, count(*), count(origin), "
            "sum(origin LIKE '%transformer%' OR origin LIKE 'kymo::training::%') FROM memory_block GROUP BY category"
        )
        for category, count, with_origin, own in origins:
            if category in ("parameter", "optimizer_state", "input"):
                self.assertEqual((with_origin, own), (count, count), category)
        frames = {module for (module,) in self.rows("SELECT DISTINCT module FROM stack_frame")}
        self.assertIn("transformer_lm.so", frames)
        self.assertFalse([module for module in frames if "/" in module])


if __name__ == "__main__":
    unittest.main()
