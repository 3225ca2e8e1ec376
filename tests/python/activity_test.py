# SPDX-License-Identifier: Apache-2.0
"""Why a program has no complete step, from what was seen of it."""

import unittest

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace._activity import ActivityCounts


class ActivityTest(unittest.TestCase):
    def why(self, trainable=0, evaluations=0, without=0, backward=0, optimizer_steps=0, has_optimizer=False):
        seen = ActivityCounts()
        for count, training, gradients in ((trainable, True, True), (evaluations, False, True), (without, True, False)):
            for _ in range(count):
                seen.call(training, gradients)
        seen.backward, seen.optimizer_steps = backward, optimizer_steps
        return seen.explain_missing_step(has_optimizer)

    def test_inference_in_training_mode(self):
        self.assertEqual(
            self.why(trainable=10),
            "10 module calls in training mode with gradients enabled, no backward passes and no optimizer steps were "
            "seen; calls in training mode with gradients enabled may precede a backward pass, so they count as steps "
            "only from the 18th on: for inference, call eval() of the module or use torch.no_grad()",
        )

    def test_calls_by_mode(self):
        self.assertIn("4 module calls (1 in training mode with gradients enabled, 2 in evaluation mode, 1 without "
                      "gradients)", self.why(1, 2, 1))  # fmt: skip
        self.assertIn("1 module call without gradients, ", self.why(without=1))

    def test_what_to_do(self):
        for given, expected in (
            ({"without": 1}, "next call of the module that was called first: let the program call that again"),
            ({"evaluations": 30, "has_optimizer": True}, "created an optimizer, but made no backward pass"),
            ({"trainable": 9, "backward": 9, "has_optimizer": True}, "created an optimizer that never stepped"),
            ({"trainable": 1, "backward": 1}, "without an optimizer, a step ends at the first module call after a"),
            ({"trainable": 1, "backward": 1, "optimizer_steps": 1}, "after an optimizer step, and none followed"),
        ):
            self.assertIn(expected, self.why(**given))


if __name__ == "__main__":
    unittest.main()
