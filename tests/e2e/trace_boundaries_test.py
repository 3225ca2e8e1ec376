# SPDX-License-Identifier: Apache-2.0
"""`kymo trace` finds the steps of programs without an optimizer that steps after calls of a module."""

import unittest

from kymo_tool import SharedRunTest, needs_torch_parts
from trace_program_test import PHASES, PROGRAMS, TraceTest

BOUNDARIES = PROGRAMS / "boundaries.py"
STEPS = 20
# Entries of each phase per step, and the beginning of the reason if the boundary is an assumption.
KINDS = {
    "direct": ({"forward": 1, "backward": 1, "optimizer": 1}, None),
    "turns_direct": ({"forward": 0.8, "backward": 1, "optimizer": 1}, None),
    "optimizer_anew": ({"forward": 1, "backward": 1, "optimizer": 1}, None),
    "failing": ({"forward": 2, "backward": 2, "optimizer": 2}, None),
    "traced": ({"forward": 1, "backward": 1, "optimizer": 1}, None),
    "functional": ({"forward": 1, "backward": 1, "optimizer": 1}, None),
    "loaded_tensors": ({"data_loading": 1, "forward": 1, "backward": 1, "optimizer": 1}, None),
    "closure": ({"forward": 1, "backward": 1, "optimizer": 3}, None),
    "tensors": ({"forward": 1, "backward": 1, "optimizer": 1}, None),
    "tensors_scaled": ({"forward": 1, "backward": 1, "optimizer": 0.9}, None),  # an overflow skips a step
    "tensors_with_closure": ({"forward": 2, "backward": 2, "optimizer": 3}, None),
    "tensors_with_two_optimizers": ({"forward": 2, "backward": 2, "optimizer": 2}, None),
    "tensors_by_hand": ({"forward": 1, "backward": 1}, "assumed: each backward pass"),
    "transformed": ({"forward": 1, "backward": 1}, "assumed: each backward pass"),
    "criterion": ({"forward": 1, "backward": 1, "optimizer": 1}, None),
    "unused": ({"forward": 1, "backward": 1}, "assumed: first forward pass after a backward pass"),
    "unused_zeroed_after": ({"forward": 1, "backward": 1}, "assumed: first forward pass after a backward pass"),
    "unused_with_grad": ({"forward": 1, "backward": 1}, "assumed: first forward pass after a backward pass"),
    "unused_forward": ({"forward": 1}, "assumed: each call of the first module"),
    "features": ({"forward": 1}, "assumed: each call of the first module"),
    "episodes": ({"forward": 40, "backward": 1, "optimizer": 1}, None),
    "accumulated": ({"forward": 20, "backward": 20, "optimizer": 1}, None),
    "adversarial": ({"forward": 8, "backward": 8, "optimizer": 1}, None),
}
PHASES_OF_LOSS = """SELECT DISTINCT p.text FROM op o JOIN string n ON n.string_id = o.name_id
                    LEFT JOIN string p ON p.string_id = o.phase_id
                    WHERE n.text = 'aten::_log_softmax' AND o.pass = 'ops' AND o.rank = ?"""
PHASES_OF_TANH = PHASES_OF_LOSS.replace("_log_softmax", "tanh") + " AND o.step >= 3"


@needs_torch_parts
class BoundariesTest(SharedRunTest, TraceTest):
    def run_once(self):
        self.trace_each(BOUNDARIES, [*KINDS], STEPS, options=["--passes", "time,ops"], passes=2)

    def test_steps_and_phases(self):
        for rank, (kind, (phases, reason)) in enumerate(KINDS.items()):
            with self.subTest(kind):
                rows = self.rows(PHASES, rank)
                self.assertEqual({phase: calls / 10 for phase, _, calls in rows}, {"step": 1, "other": 1, **phases})
                reasons = self.metric("assumed_step_boundary", rank)
                self.assertEqual(len(reasons), 0 if reason is None else 1, reasons)
                self.assertTrue(all(each.startswith(reason or "") for each in reasons), reasons)
                self.assertEqual(self.metric("first_step", rank), {2})

    def test_both_passes_did_the_same(self):
        self.assertEqual(self.rows("SELECT detail FROM run_warning WHERE kind = 'different executions'"), [])

    def test_a_training_that_follows_calls_of_a_module(self):
        """In the time pass, it begins within the steps to observe."""
        rest = f"the {STEPS} calls of a module before the first backward pass count as steps of inference; to observe "
        rest += "the training, choose later steps, such as --steps 23:33"  # and warm-up from step 20 on, not before it
        texts = self.metric("not_observed", [*KINDS].index("features"))
        self.assertEqual(texts, {f"the training: {rest}", f"the first step of the training: {rest}"})

    def test_a_closure_is_not_the_optimizer(self):
        phases = self.rows(PHASES_OF_LOSS, [*KINDS].index("closure"))
        self.assertEqual(phases, [(None,)])

    def test_operators_outside_of_modules_are_forward(self):
        for kind in ("direct", "tensors", "loaded_tensors", "tensors_by_hand", "tensors_with_closure", "criterion"):
            found = {phase for (phase,) in self.rows(PHASES_OF_TANH, [*KINDS].index(kind))}
            self.assertEqual(found, {"forward"}, kind)


if __name__ == "__main__":
    unittest.main()
