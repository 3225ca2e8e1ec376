# SPDX-License-Identifier: Apache-2.0
"""Where the steps of a program begin, from the sequence of its calls, and which phases are open."""

import unittest
from unittest import mock

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace import _steps
from step_sequences import MODULES, Program, SequenceTest


class StepsTest(SequenceTest):
    def test_training(self):
        def body(program):
            program.forward()
            program.forward("loss")
            program.backward()
            program.step()

        self.assertEqual(self.seen(body), "FfFfBbOo|FfFfBbOo|FfFfBbOo")

    def test_accumulated_gradients(self):
        def body(program):
            for _ in range(2):
                program.forward()
                program.backward()
            program.step()

        self.assertEqual(self.seen(body), "FfBbFfBbOo|FfBbFfBbOo|FfBbFfBbOo")

    def test_two_optimizers(self):
        def body(program):
            program.forward()
            program.backward()
            program.step("first")
            program.forward("other")
            program.backward()
            program.step("second")

        def created(program):
            if not program.seen:
                program.steps.optimizer_created(MODULES["first"])
                program.steps.optimizer_created(MODULES["second"])
            body(program)

        self.assertEqual(self.seen(created), "FfBbOoFfBbOo?FfBbOoFfBbOo|FfBbOoFfBbOo")
        # How many there are is learned in the first step.
        self.assertEqual(self.seen(body), "FfBbOo|FfBbOo~?FfBbOo-1FfBbOo|FfBbOoFfBbOo")

    def test_two_optimizers_of_which_a_scaler_skips_one(self):
        def body(program, skipped):
            for name in ("first", "second"):
                program.forward()
                program.backward()
                if name != skipped:
                    program.step(name)
                program.steps.scaler_stepped(MODULES[name])
                program.steps.scaler_updated()

        program = Program()
        with mock.patch.object(_steps, "_program", program):
            for skipped in (None, None, "first", "second", None):
                body(program, skipped)
        step, without_first, without_second = "FfBbOoFfBbOo", "FfBbFfBbOo", "FfBbOoFfBb"
        steps = [step.replace("o", "o-1", 1), without_first, without_second, step]
        self.assertEqual(program.seen, "FfBbOo|FfBbOo~?" + "|".join(steps))

    def test_two_optimizers_at_the_end_of_a_step(self):
        def body(program):
            program.forward()
            program.backward()
            program.step("first")
            program.step("second")

        self.assertEqual(self.seen(body), "FfBbOoOo|FfBbOoOo|FfBbOoOo")

    def test_without_an_optimizer(self):
        def body(program):
            program.forward()
            program.backward()

        self.assertEqual(self.seen(body, has_optimizer=False), "FfBb?FfBb?FfBb")
        self.assertEqual(self.seen(body), "FfBbFfBbFfBb")  # its optimizer has not stepped yet

    def test_without_a_backward_pass(self):
        def body(program):
            program.forward()
            program.forward("other")

        self.assertEqual(self.seen(body, has_optimizer=False), "FfFf?FfFf?FfFf")

    def test_several_calls_before_the_first_backward_pass(self):
        def body(program):
            for _ in range(3):
                program.forward()
            program.backward()
            program.step()

        self.assertEqual(self.seen(body), "FfFfFfBbOo|FfFfFfBbOo|FfFfFfBbOo")

    def test_several_calls_before_the_first_backward_pass_without_an_optimizer(self):
        def body(program):
            for _ in range(3):
                program.forward()
            program.backward()

        self.assertEqual(self.seen(body, 2, has_optimizer=False), "Ff?Ff?Ff<Bb?FfFfFfBb")

        def training(program):
            program.trains = True
            body(program)

        self.assertEqual(self.seen(training, 2, has_optimizer=False), "FfFfFfBb?FfFfFfBb")

    def test_a_call_that_updates(self):
        updates = []

        def body(program):
            program.forward("model", operators=3)
            program.backward()
            program.forward("other")
            updates.append(program.steps.was_update())

        self.seen(body, has_optimizer=False)
        self.assertEqual(updates, [True] * 3)

    def test_a_call_that_begins_a_step(self):
        updates = []

        def body(program):
            program.forward(operators=3)
            updates.append(program.steps.was_update())
            program.backward()
            program.step()

        self.seen(body)
        self.assertEqual(updates, [False] * 3)

    def test_inference_with_gradients(self):
        def body(program):
            program.trains = True
            program.forward()

        self.assertEqual(self.seen(body, 20, has_optimizer=False), "Ff" * 17 + "?Ff" * 3)

    def test_an_optimizer_that_calls_the_model(self):
        def body(program):
            with program.in_step():
                for _ in range(2):
                    program.forward()
                    program.backward()

        self.assertEqual(self.seen(body, 2), "OOFfBbFfBboO|OFfBbFfBbo")

    def test_a_closure_of_an_optimizer(self):
        def body(program):
            with program.in_step():
                for _ in range(2):
                    with program.in_closure():
                        program.forward()
                        program.backward()

        # At the end of a step, the phases of the optimizer and of its closure begin again.
        self.assertEqual(self.seen(body, 2), "OXOXFfBbxXFfBbxo" + "OX|OXFfBbxXFfBbxo")

    def test_closures_of_nested_optimizers(self):
        def body(program):
            program.forward()
            with program.in_step("first"), program.in_step("second"), program.in_closure(), program.in_closure():
                program.backward()

        self.assertEqual(self.seen(body, 2), "FfOXBbxo|FfOXBbxo")

    def test_a_skipped_optimizer_step(self):
        def body(program):
            program.forward()
            program.backward()
            program.steps.scaler_updated()

        self.assertEqual(self.seen(body), "FfBb|FfBb|FfBb")

    def test_a_scaler_that_steps_a_wrapper_of_an_optimizer(self):
        skipped = iter((False, False, True, False))

        def body(program):
            program.forward()
            program.backward()
            if not next(skipped):
                program.step()
            program.steps.scaler_stepped(MODULES["other"])
            program.steps.scaler_updated()

        self.assertEqual(self.seen(body, 4), "FfBbOo|FfBbOo|FfBb|FfBbOo")

    def test_recomputation_and_nested_backward_passes(self):
        def body(program):
            program.forward()
            with program.in_backward():
                program.forward("other")
                program.backward()
            program.step()

        self.assertEqual(self.seen(body, 2), "FfBbOo|FfBbOo")

    def test_modules_that_load_data(self):
        def body(program):
            begun = program.steps.loading_begins()
            program.forward("other")
            program.steps.loading_ends(begun)
            program.forward()
            program.backward()
            program.step()

        self.assertEqual(self.seen(body, 2), "LlFfBbOoLl|FfBbOo")

    def test_an_optimizer_that_raises(self):
        def body(program):
            program.forward()
            program.backward()
            program.steps.optimizer_begins(MODULES["optimizer"])
            program.steps.optimizer_fails(MODULES["optimizer"])
            program.forward()
            program.step()

        self.assertEqual(self.seen(body, 2), "FfBbOoFfOo|FfBbOoFfOo")

    def test_an_optimizer_that_calls_the_step_of_its_base_class(self):
        def body(program):
            program.forward()
            with program.in_step():
                program.step()
                program.forward("other")

        self.assertEqual(self.seen(body, 2), "FfOFfo|FfOFfo")


if __name__ == "__main__":
    unittest.main()
