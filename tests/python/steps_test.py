# SPDX-License-Identifier: Apache-2.0
"""Where the steps of a program begin, from the sequence of its calls, and which phases are open."""

import unittest
from contextlib import contextmanager
from unittest import mock

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace import _steps, _unused

NAMES = "LFBOX"  # loading, forward, backward, optimizer, none of them


class Program:
    """Calls of a program, and what kymo makes of them: `|` is a step boundary, `?` an assumed one, and phases are
    letters, with the closing one in lower case; `<`: the boundaries before were none."""

    def __init__(self):
        self.seen = ""
        self.open = []
        self.trains = False
        self.nodes = 0
        self.steps = _steps.Steps(
            self.boundary, self.first_backward, lambda _: self.trains, self.revise, lambda: self.nodes
        )
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

    def forward(self, module="model", operators=0):
        with self.call(module):
            self.compute(operators)

    def compute(self, operators):
        """Calls differentiable operators."""
        self.nodes += operators

    @contextmanager
    def in_backward(self):
        begun = self.steps.backward_begins()
        yield
        self.steps.backward_ends(begun)

    def backward(self):
        with self.in_backward():
            pass

    def backward_to(self, optimizer):
        with self.in_backward():
            optimizer.parameter.grad = 1

    @contextmanager
    def in_step(self, optimizer="optimizer"):
        self.steps.optimizer_begins(MODULES.get(optimizer, optimizer))
        yield
        self.steps.optimizer_ends(MODULES.get(optimizer, optimizer))

    @contextmanager
    def in_loading(self):
        begun = self.steps.loading_begins()
        yield
        self.steps.loading_ends(begun)

    @contextmanager
    def in_closure(self):
        self.steps.closure_begins()
        yield
        self.steps.closure_ends()

    def step(self, optimizer="optimizer"):
        with self.in_step(optimizer):
            pass


class Module:
    """A module or an optimizer: its id is its identity."""


class Parameter:
    grad = None


class Optimizer:
    """One that has parameters."""

    def __init__(self):
        self.parameter = Parameter()
        self.param_groups = [{"params": [self.parameter]}]


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

    def with_optimizer(self, body, times=4):
        """What is seen if an optimizer is created, which `body(program, optimizer)` uses."""
        optimizer = Optimizer()

        def created(program):
            if not program.seen:
                program.steps.optimizer_created(optimizer)
            body(program, optimizer)

        return self.seen(created, times, has_optimizer=False)

    def test_an_optimizer_that_never_steps(self):
        def zeroed_before(program, optimizer):
            optimizer.parameter.grad = None
            program.forward()
            program.backward_to(optimizer)

        self.assertEqual(self.with_optimizer(zeroed_before, 4), "FfBb?FfBb?FfBb?FfBb")

        def zeroed_after(program, optimizer):
            program.forward()
            optimizer.parameter.grad = None
            program.backward_to(optimizer)

        # That gradients are removed is seen in the second backward pass.
        self.assertEqual(self.with_optimizer(zeroed_after, 4), "FfBbFfBb?FfBb?FfBb")

        def not_accumulated(program, _):
            program.forward()
            with program.in_backward():
                program.steps.is_accumulated = False

        self.assertEqual(self.with_optimizer(not_accumulated, 3), "FfBb?FfBb?FfBb")

    def test_an_optimizer_that_steps_late(self):
        def accumulated(program, optimizer):
            for _ in range(_unused.EXPECTED_PASSES):
                program.forward()
                program.backward_to(optimizer)
            program.step(optimizer)
            optimizer.parameter.grad = None

        step = "FfBb" * _unused.EXPECTED_PASSES + "Oo"
        self.assertEqual(self.with_optimizer(accumulated, 2), step + "|" + step)

        def tried_before(program, optimizer):
            if not program.seen:
                for _ in range(3):
                    optimizer.parameter.grad = None
                    program.forward()
                    program.backward_to(optimizer)
            else:
                program.forward()
                program.backward_to(optimizer)
                program.step(optimizer)

        # The three passes were in the first step.
        self.assertEqual(self.with_optimizer(tried_before, 3), "FfBb?FfBb?FfBb?FfBbOo-3|FfBbOo")

    def test_backward_passes_that_keep_their_gradients(self):
        def kept(program, optimizer):
            program.forward()
            program.backward_to(optimizer)

        expected = "FfBb" * (_unused.EXPECTED_PASSES + 1) + "?FfBb?FfBb"
        self.assertEqual(self.with_optimizer(kept, _unused.EXPECTED_PASSES + 3), expected)

    def test_gradients_that_are_not_those_of_the_optimizer(self):
        """An optimizer of copies, whose gradients are set when it steps, is still expected to step."""

        def kept_elsewhere(program, _):
            program.forward()
            program.backward()

        self.assertEqual(self.with_optimizer(kept_elsewhere, 3), "FfBb" * 3)

    def test_inference_with_an_optimizer(self):
        def body(program):
            program.trains = True
            program.forward()

        calls = _steps.EXPECTED_CALLS_WITH_OPTIMIZER + 1
        self.assertEqual(self.seen(body, calls + 2), "Ff" * calls + "?Ff?Ff")

        def evaluated(program):
            program.forward()

        calls = _steps.EXPECTED_EVALUATIONS + 1
        self.assertEqual(self.seen(evaluated, calls + 2), "Ff" * calls + "?Ff?Ff")

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

    def test_without_modules(self):
        def body(program, optimizer):
            program.compute(3)
            program.backward_to(optimizer)
            program.step(optimizer)

        # The first step has no visible beginning.
        self.assertEqual(self.with_optimizer(body), "BbOo|FfBbOo|FfBbOo|FfBbOo|F")

        def by_hand(program):
            program.compute(3)
            program.backward()

        self.assertEqual(self.seen(by_hand, has_optimizer=False), "Bb?FfBb?FfBb?F")

        def unused(program, optimizer):
            program.compute(3)
            optimizer.parameter.grad = None
            program.backward_to(optimizer)

        self.assertEqual(self.with_optimizer(unused), "Bb?Bb?FfBb?FfBb?F")

    def test_what_is_before_the_first_operator(self):
        def loaded(program, optimizer):
            with program.in_loading():
                pass
            program.compute(3)
            program.backward_to(optimizer)
            program.step(optimizer)

        # That nothing is computed between the optimizer and the batch is known from the second step on.
        self.assertEqual(self.with_optimizer(loaded, 3), "LlBbOo|FfLlFfBbOo|LlFfBbOo|")

    def test_a_closure_without_modules(self):
        def body(program, optimizer):
            with program.in_step(optimizer):
                for _ in range(2):
                    with program.in_closure():
                        program.compute(3)
                        program.backward_to(optimizer)

        # Nothing follows a backward pass within the closure or, from the second step on, the step of the optimizer.
        step = "OXFfBbxXFfBbxo|"
        self.assertEqual(self.with_optimizer(body, 3), "OXBbxXBbxo|Ff" + 2 * step)

    def test_accumulated_gradients_without_modules(self):
        def body(program, optimizer):
            for _ in range(3):
                program.compute(3)
                program.backward_to(optimizer)
            program.step(optimizer)
            optimizer.parameter.grad = None

        self.assertEqual(self.with_optimizer(body, 2), "BbBbBbOo|FfBbFfBbFfBbOo|F")

    def test_two_optimizers_without_modules(self):
        def body(program):
            for name in ("first", "second"):
                program.compute(3)
                program.backward()
                program.step(name)

        def created(program):
            if not program.seen:
                program.steps.optimizer_created(MODULES["first"])
                program.steps.optimizer_created(MODULES["second"])
            body(program)

        self.assertEqual(self.seen(created), "BbOoBbOo?BbOoFfBbOoFf|BbOoFfBbOoF")

    def test_several_backward_passes_of_the_same_operators(self):
        def body(program):
            program.forward(operators=3)
            for name in ("first", "second"):
                program.backward()
                program.step(name)

        self.assertEqual(self.seen(body), "FfBbOoBbOo|FfBbOoBbOo|FfBbOoBbOo")

    def test_a_scaler_without_modules(self):
        skipped = iter((False, False, True, False))

        def body(program, optimizer):
            program.compute(3)
            program.backward_to(optimizer)
            if not next(skipped):
                program.step(optimizer)
            program.steps.scaler_stepped(optimizer)
            program.steps.scaler_updated()

        # Where the optimizer does not step, the step ends before the next backward pass.
        self.assertEqual(self.with_optimizer(body), "BbOo|FfBbOo|FfBb|BbFfOo|F")

    def test_most_work_outside_of_modules(self):
        def before(program, optimizer):
            program.compute(4)
            program.forward(operators=1)
            program.backward_to(optimizer)
            program.step(optimizer)

        self.assertEqual(self.with_optimizer(before), "FfBbOo|FfBbOo|FfBbOo|FfBbOo|F")

        def after(program, optimizer):
            program.forward(operators=1)
            program.compute(30)
            program.backward_to(optimizer)
            program.step(optimizer)

        self.assertEqual(self.with_optimizer(after), "FfBbOo|FfBbOo|FfFfBbOo|FfFfBbOo|")

        def loss(program, optimizer):
            program.forward(operators=2)
            program.compute(5)
            program.backward_to(optimizer)
            program.step(optimizer)

        self.assertEqual(self.with_optimizer(loss), "FfBbOo|FfBbOo|FfBbOo|FfBbOo")

    def test_a_penalty_of_the_gradient_without_an_optimizer(self):
        def body(program):
            program.compute(3)
            with program.in_backward():
                program.steps.returns_gradients(again=True)
            program.compute(3)
            program.backward()

        self.assertEqual(self.seen(body, has_optimizer=False), "BbBb?FfBbFfBb?FfBbFfBb?F")

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
            program.steps.optimizer_begins(MODULES["optimizer"])  # the hook after the step is not called
            program.step()

        # The phase stays open until the step ends.
        self.assertEqual(self.seen(body, 2), "FfBbOOo|FfBbOOo")


if __name__ == "__main__":
    unittest.main()
