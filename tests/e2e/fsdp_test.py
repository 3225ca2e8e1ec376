# SPDX-License-Identifier: Apache-2.0
"""Fully sharded data parallelism on several CPU ranks: it equals training in one process, a rank holds its part of the
weights, gradients and optimizer state, and it is known whether each gather arrives in time."""

import time
import unittest

from fault_tool import FaultTest
from kymo_tool import HANG_S, PLUGINS, long_test, needs_torch_parts

WORKLOAD = "fsdp"
QUICK = ["--device", "cpu", "--warmup", "1", "--timeout", "120", "--set", "context=32", "--set", "batch=2"]
# Names of the layers of model tiny in the order of the forward pass.
PARTS = ("query_key_value", "attention_output", "gate_and_up", "down")
LAYERS = ["embedding", *(f"block_{block}/{part}" for block in (0, 1) for part in PARTS), "head"]
SETTINGS = ["unit=block", "prefetch=0", "reshard_after_forward=false", "tied_embedding=true"]


@needs_torch_parts
class FsdpTest(FaultTest):
    def run_case(self, workload, ranks, *settings, passes, code=0, options=()):
        words = [word for setting in settings for word in ("--set", setting)]
        self.kymo("run", workload, "--ranks", ranks, "--passes", passes, *QUICK, *options, *words, code=code)

    def verify(self, ranks, *settings):
        """Returns the deviation from one process in rank order, by check."""
        self.make_folders()
        self.run_case(WORKLOAD, ranks, *settings, passes="verify")
        self.assertEqual(self.rows("SELECT status, verification FROM run"), [("ok", "passed")])
        checks = self.rows("SELECT rank, name, max_rel_error FROM verification WHERE name LIKE '%, 5 times'")
        self.assertEqual({rank for rank, *_ in checks}, set(range(ranks)))
        return {name: error for _, name, error in sorted(checks, key=lambda check: check[2])}

    def test_two_ranks_equal_one_process_bitwise(self):
        for settings in ([], SETTINGS):
            with self.subTest(settings=settings):
                deviations = self.verify(2, *settings)
                self.assertEqual(len(deviations), 8)
                self.assertEqual(set(deviations.values()), {0})

    @long_test
    def test_more_ranks(self):
        for ranks, *settings in ((1, "unit=block"), (3, "prefetch=1"), (4, "unit=block")):
            with self.subTest(ranks=ranks, settings=settings):
                self.verify(ranks, *settings)

    @long_test
    def test_narrow_types(self):
        for settings in (
            ["dtype=bf16", "reduce_dtype=weights"],
            ["dtype=fp16"],
            ["autocast=true", "operators=fused"],
        ):
            with self.subTest(settings=settings):
                self.verify(2, *settings)

    def check_recomputation(self, *settings):
        """The reference keeps all activations."""
        deviations = self.verify(2, *settings)
        self.assertEqual((len(deviations), set(deviations.values())), (8, {0}))

    def test_recomputed_blocks_are_gathered_again(self):
        self.check_recomputation("checkpoint=blocks", "unit=block")
        self.check_recomputation("checkpoint=selective", "checkpoint_feed_forward=1", "operators=fused")

    @long_test
    def test_recomputed_blocks_with_other_settings(self):
        self.check_recomputation("checkpoint=nested", "prefetch=0", "reshard_after_forward=false")
        self.check_recomputation("checkpoint=selective", "checkpoint_feed_forward=2", "unit=block", "prefetch=1")

    def test_gathers_for_recomputations_begin_ahead(self):
        """With a block in each checkpoint, a unit is gathered once for its recomputation and its backward pass, and
        that of the block before it begins in the meantime."""
        self.run_case(WORKLOAD, 2, "checkpoint=blocks", "unit=block", "vocab_size=500", passes="trace")
        gathers = self.rows("SELECT phase, layer, ahead_us > 0 FROM gather_lateness ORDER BY phase, layer_order")
        forward = [("forward", layer, 1) for layer in ("embedding", "block_0", "block_1", "head")]
        self.assertCountEqual(gathers, [*forward, ("recompute", "block_0", 1), ("recompute", "block_1", 1)])
        # Embedding and head have a row of 64 for each word; the rest are two blocks and the last norm.
        parameters = 2 * 500 * 64 + 2 * (4 * 64**2 + 3 * 64 * 256 + 2 * 64) + 64
        self.assertEqual(self.rows("SELECT value FROM metric WHERE name = 'parameters'"), [(parameters,)] * 2)

    @long_test
    def test_other_optimizers(self):
        for wrapped in ("momentum", "adagrad"):
            with self.subTest(wrapped):
                self.verify(2, "model=toy", f"wrapped={wrapped}")

    @long_test
    def test_without_communication(self):
        self.run_case(WORKLOAD, 2, "communicate=false", passes="time")
        ((status, reason),) = self.rows("SELECT status, detail FROM run")
        self.assertEqual(status, "skipped")
        self.assertIn("a rank has only parts of the weights", reason)

    def memory_before_update(self, dtype):
        return self.records(
            f"SELECT * FROM sharding_memory WHERE marker = 'before_optimizer' AND setting LIKE '%{dtype}%'"
        )

    def test_memory_of_a_rank(self):
        """Parameters, gradients and optimizer state are 1/N, within 2 %, of those of a rank without sharding, and lie
        beside them in the same views."""
        self.run_case("sharded_optimizer", 2, "scheme=none", passes="memory")
        self.run_case("sharded_optimizer", 2, "scheme=zero1", passes="memory")
        self.run_case(WORKLOAD, 2, passes="memory")
        self.run_case(WORKLOAD, 2, "dtype=bf16", "unit=block", passes="memory")
        found = {(row["variant"], row["rank"]): row for row in self.memory_before_update("fp32")}
        self.assertEqual(len({row["comparison_group"] for row in found.values()}), 1)
        for rank in range(2):
            whole, sharded = found["none", rank], found["fsdp", rank]
            for part in ("parameter_bytes", "gradient_bytes", "optimizer_state_bytes"):
                self.assertLess(abs(sharded[part] / whole[part] - 1 / 2), 0.01, part)
            self.assertLess(abs(sharded["state_share"] - 1 / 2), 0.01)
        # The masters of bf16 weights are fp32, and so are their gradients; the norms have a copy in bf16.
        for row in self.memory_before_update("bf16"):
            for part in ("parameter_bytes", "gradient_bytes", "optimizer_state_bytes"):
                self.assertLess(abs(row[part] / found["none", 0][part] - 1 / 2), 0.01, part)
        # Gathered weights are freed after their use: a step never holds all of them.
        ((gathered,),) = self.rows(
            """SELECT max(bytes) FROM memory_phase_category WHERE category = 'communication' AND phase = 'forward'
               AND run_id = 3"""
        )
        self.assertLess(gathered, 0.95 * found["none", 0]["parameter_bytes"])

    def test_gathers_are_ahead_of_their_layers(self):
        self.run_case(WORKLOAD, 2, passes="time,trace", options=["--observed-steps", "4"])
        rows = self.records("SELECT * FROM gather_lateness WHERE pass = 'trace' ORDER BY layer_order")
        self.assertEqual([row["layer"] for row in rows if row["phase"] == "forward"], LAYERS)
        # The embedding's gradient needs no weight, and the head stays gathered from forward to backward.
        self.assertEqual([row["layer"] for row in rows if row["phase"] == "backward"], LAYERS[-2:0:-1])
        self.assertEqual({(row["steps"], row["calls"]) for row in rows}, {(4, 1)})
        begins, ends = {}, {}
        for name, scope, start_ns, end_ns in self.rows(
            """SELECT c.operation, n.text, c.enqueue_ns, c.needed_ns FROM collective c
               JOIN string n ON n.string_id = c.needed_by_id JOIN string p ON p.string_id = c.needed_phase_id
               WHERE c.rank = 0 AND c.step = 1 AND p.text = 'forward' ORDER BY c.sequence"""
        ):
            self.assertEqual(name, "all_gather")
            begins[scope], ends[scope] = start_ns, end_ns
        for layer, earlier, later in zip(LAYERS[2:], LAYERS, LAYERS[1:], strict=False):
            # Begun after the layer two before was used, and before the next one is.
            self.assertLess(ends[earlier], begins[layer])
            self.assertLess(begins[layer], ends[later])
        summary = self.records("SELECT * FROM sharding_time")
        # Ten gathers in forward, eight in backward, ten reductions of sharded gradients and one of the norms.
        self.assertEqual([row["calls"] for row in summary], [29])
        self.kymo("report", "quick", "--format", "markdown", "--out", "page")
        report = "".join(file.read_text(encoding="utf-8") for file in (self.work / "page").rglob("*.md"))
        self.assertIn("do they arrive in time?", report)
        self.assertIn("`block_1/query_key_value`", report)

    def test_a_delayed_gather_is_late(self):
        self.run_case(PLUGINS / "fsdp_faults.so", 2, passes="trace", options=["--observed-steps", "10"])
        rows = self.records("SELECT * FROM gather_lateness ORDER BY late_us DESC")
        self.assertEqual((rows[0]["phase"], rows[0]["layer"]), ("forward", LAYERS[5]))
        self.assertEqual(rows[0]["verdict"], "late")
        # Other processes may extend a sleep, but not all of them.
        late_us = self.rows(
            "SELECT late_us FROM collective_lateness "
            "WHERE phase = 'forward' AND measured AND rank = 0 AND needed_by = ?",
            LAYERS[5],
        )
        self.assertTrue(any(abs(late - 20_000) <= 2_000 for (late,) in late_us), late_us)

    def test_a_rank_dies_in_a_gather(self):
        began = time.monotonic()
        self.run_case(PLUGINS / "fsdp_faults.so", 3, "fault=die", passes="time", code=3, options=["--steps", "5"])
        self.assertLess(time.monotonic() - began, HANG_S / 2)
        ((status, rank, phase),) = self.rows("SELECT status, failed_rank, failed_phase FROM run")
        self.assertEqual((status, rank, phase), ("crashed", 2, "forward"))
        self.assertEqual(self.left_running(), [])


if __name__ == "__main__":
    unittest.main()
