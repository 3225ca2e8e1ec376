# SPDX-License-Identifier: Apache-2.0
"""Where the steps of a program begin, from the sequence of its calls, and which phases are open."""

import unittest
from contextlib import contextmanager
from unittest import mock

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace import _steps

NAMES = "LFBO"  # loading, forward, backward, optimizer


class Program:
    """Calls of a program, and what kymo makes of them: `|` is a step boundary, `?` an assumed one, and phases are
    letters, with the closing one in lower case; `<`: the boundaries before were none."""

    def __init__(self):
        self.seen = ""
        self.open = []
        self.trains = False
        self.steps = _steps.Steps(self.boundary, self.first_backward, lambda _: self.trains, self.revise)
        self.steps.has_optimizer = True

    def boundary(self, reason):
        self.seen += "" if reason is None else "|" if reason == _steps.OPTIMIZER_STEPPED else "?"
        self.open.clear()

    def first_backward(self):
        self.seen += "<" if "?" in self.seen else ""

    def revise(self, difference, reason):
        self.seen += f"{difference:+}" if difference else "~"

    def phase_begin(self, index):
        self.open.append(NAMES[index])
        self.seen += NAMES[index]
        return True

    def phase_end(self):
        if self.open:  # the host ignores others
            self.seen += self.open.pop().lower()

    @contextmanager
    def call(self, module="model"):
        self.steps.root_begins(MODULES[module])
        yield
        self.steps.root_ends()

    def forward(self, module="model"):
        with self.call(module):
            pass

    @contextmanager
    def in_backward(self):
        begun = self.steps.backward_begins()
        yield
        self.steps.backward_ends(begun)

    def backward(self):
        with self.in_backward():
            pass

    @contextmanager
    def in_step(self, optimizer="optimizer"):
        self.steps.optimizer_begins(MODULES[optimizer])
        yield
        self.steps.optimizer_ends(MODULES[optimizer])

    def step(self, optimizer="optimizer"):
        with self.in_step(optimizer):
            pass


class Module:
    """A module or an optimizer: its id is its identity."""


MODULES = {name: Module() for name in ("model", "other", "loss", "optimizer", "first", "second")}


class StepsTest(unittest.TestCase):
    def seen(self, body, times=3, has_optimizer=True):
        program = Program()
        program.steps.has_optimizer = has_optimizer
        with mock.patch.object(_steps, "_program", program):
            for _ in range(times):
                body(program)
        return program.seen

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
            program.steps.optimizer_begins(MODULES["optimizer"])  # the hook after the step is not called
            program.step()

        # The phase stays open until the step ends.
        self.assertEqual(self.seen(body, 2), "FfBbOOo|FfBbOOo")


if __name__ == "__main__":
    unittest.main()
