# SPDX-License-Identifier: Apache-2.0
"""Steps of programs whose optimizer does not step, or that compute most of their model outside of modules."""

import unittest
from types import SimpleNamespace
from unittest import mock

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace import _calls, _steps, _unused_optimizers
from step_sequences import MODULES, SequenceTest


class UnusedOptimizersTest(SequenceTest):
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

        def not_accumulated(program, optimizer):
            program.forward()
            with program.in_backward():
                program.steps.returns_gradients(False, [optimizer.parameter])

        self.assertEqual(self.with_optimizer(not_accumulated, 4), "FfBbFfBb?FfBb?FfBb")

        def of_an_iterator(program, optimizer):
            program.forward()
            with program.in_backward():
                program.steps.returns_gradients(False, iter([optimizer.parameter]))

        self.assertEqual(self.with_optimizer(of_an_iterator, 4), "FfBbFfBb?FfBb?FfBb")

    def test_an_optimizer_that_steps_late(self):
        def accumulated(program, optimizer):
            for _ in range(_unused_optimizers.EXPECTED_PASSES):
                program.forward()
                program.backward_to(optimizer)
            program.step(optimizer)
            optimizer.parameter.grad = None

        step = "FfBb" * _unused_optimizers.EXPECTED_PASSES + "Oo"
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

    def test_gradients_that_are_accumulated_before_a_closure(self):
        def body(program, optimizer):
            for _ in range(2):
                program.forward()
                program.backward_to(optimizer)
            with program.in_step(optimizer), program.in_closure():
                program.forward()
                program.backward_to(optimizer)

        step = "FfBbFfBbOXFfBbxo"
        self.assertEqual(self.with_optimizer(body, 2), step + "|" + step)

    def test_gradients_of_inputs_before_a_step(self):
        """As in adversarial training."""

        def body(program, optimizer):
            for _ in range(3):
                program.forward()
                with program.in_backward():
                    program.steps.returns_gradients(False, ("an input",))
            program.forward()
            program.backward_to(optimizer)
            program.step(optimizer)

        step = 4 * "FfBb" + "Oo"
        self.assertEqual(self.with_optimizer(body, 3), f"{step}|{step}|{step}")

    def test_gradients_of_parameters_and_of_what_follows_from_them(self):
        """As in first-order meta-learning."""

        def body(program, optimizer):
            for tensor in (optimizer.parameter, "an updated weight", "another one"):
                program.forward()
                with program.in_backward():
                    program.steps.returns_gradients(False, [tensor])
            program.forward()
            program.backward_to(optimizer)
            program.step(optimizer)

        step = 4 * "FfBb" + "Oo"
        self.assertEqual(self.with_optimizer(body, 3), f"{step}|{step}|{step}")

    def test_backward_passes_that_keep_their_gradients(self):
        def kept(program, optimizer):
            program.forward()
            program.backward_to(optimizer)

        expected = "FfBb" * (_unused_optimizers.EXPECTED_PASSES + 1) + "?FfBb?FfBb"
        self.assertEqual(self.with_optimizer(kept, _unused_optimizers.EXPECTED_PASSES + 3), expected)

    def test_gradients_that_are_not_those_of_the_optimizer(self):
        """An optimizer of copies, whose gradients are set when it steps, is still expected to step."""

        def kept_elsewhere(program, _):
            program.forward()
            program.backward()

        self.assertEqual(self.with_optimizer(kept_elsewhere, 3), "FfBb" * 3)

    def test_captures_are_no_steps(self):
        """Functions that make CUDA graphs call modules and differentiate the results, more often than a step does."""

        def capture(program):
            program.steps.capture_begins()
            for _ in range(_unused_optimizers.EXPECTED_PASSES + 1):
                program.forward(operators=5)
                with program.in_backward():
                    program.steps.returns_gradients(False, ())
            program.steps.capture_ends()

        def with_optimizer(program, optimizer):
            if not program.seen:
                capture(program)
            program.forward()
            program.backward_to(optimizer)
            program.step(optimizer)

        self.assertEqual(self.with_optimizer(with_optimizer, 3), "FfBbOo|FfBbOo|FfBbOo")

        def by_hand(program):
            if not program.seen:
                capture(program)
            program.forward(operators=5)
            program.backward()

        self.assertEqual(self.seen(by_hand, has_optimizer=False), "FfBb?FfBb?FfBb")

    def test_inference_with_an_optimizer(self):
        for trains in (True, False):

            def body(program, trains=trains):
                program.trains = trains
                program.forward()

            calls = _steps.EXPECTED_CALLS_WITH_OPTIMIZER + 1
            self.assertEqual(self.seen(body, calls + 2), "Ff" * calls + "?Ff?Ff")

    def test_results_that_are_discarded(self):
        def body(program):
            program.trains = True
            program.forward()
            program.steps.results.in_a_row += 1

        calls = _steps.EXPECTED_CALLS
        self.assertEqual(self.seen(body, calls + 2), "Ff" * calls + "?Ff?Ff")


class CapturesTest(unittest.TestCase):
    def test_calls_of_make_graphed_callables(self):
        def original(*modules, fails=False):
            seen.append(modules)
            if fails:
                raise ValueError("not captured")
            return "graphed"

        seen = []
        torch = SimpleNamespace(cuda=SimpleNamespace(make_graphed_callables=original, graphs=SimpleNamespace()))
        _calls.watch_captures(torch, lambda: seen.append("begins"), lambda: seen.append("ends"))
        self.assertEqual(torch.cuda.make_graphed_callables("model"), "graphed")
        self.assertIs(torch.cuda.graphs.make_graphed_callables, torch.cuda.make_graphed_callables)
        with self.assertRaises(ValueError):
            torch.cuda.make_graphed_callables(fails=True)
        self.assertEqual(seen, ["begins", ("model",), "ends", "begins", (), "ends"])


class DifferentiatedAgainTest(unittest.TestCase):
    def again(self, active, requires_grad=True, **given):
        """Whether the result of a call of autograd.grad is differentiated again, within these transforms."""
        gradients = (None, SimpleNamespace(requires_grad=requires_grad))

        def original(*_, **__):
            return gradients

        transforms = [SimpleNamespace(key=lambda kind=kind: kind) for kind in active]
        functorch = SimpleNamespace(
            get_interpreter_stack=lambda: transforms or None, TransformType=SimpleNamespace(Grad="Grad")
        )
        torch = SimpleNamespace(
            autograd=SimpleNamespace(backward=original, grad=original),
            compiler=SimpleNamespace(is_dynamo_compiling=lambda: False),
            _C=SimpleNamespace(_functorch=functorch),
        )
        seen = []
        program = SimpleNamespace(backward_begins=lambda: None, backward_ends=lambda begun: None)
        with mock.patch.object(_calls, "_program", program):
            _calls.watch_backward(torch, lambda again, inputs: seen.append((again, inputs)))
        self.assertIs(torch.autograd.grad("loss", "weights", **given), gradients)
        self.assertIs(torch.autograd.grad(outputs="loss", inputs="weights", **given), gradients)
        self.assertEqual(seen[0], seen[1])
        again, inputs = seen[0]
        self.assertEqual(inputs, "weights")
        return again

    def test_gradients_of_gradients(self):
        self.assertFalse(self.again([]))
        self.assertTrue(self.again([], create_graph=True))

    def test_transforms(self):
        """torch.func.grad always makes a graph, which only another one around it uses."""
        self.assertFalse(self.again(["Grad"], create_graph=True))
        self.assertFalse(self.again(["Vmap", "Jvp", "Grad"], create_graph=True))
        self.assertTrue(self.again(["Grad", "Vmap", "Grad"], create_graph=True))
        self.assertFalse(self.again([], requires_grad=False, create_graph=True))  # what vjp returns


class DirectTest(SequenceTest):
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

    def test_a_model_that_is_called_in_some_steps(self):
        def body(program):
            for is_called in (False, False, True, False):
                program.compute(3)
                if is_called:
                    program.forward(operators=20)
                program.backward()
                program.step()

        self.assertEqual(self.seen(body, 2), "BbOo|FfBbOo|FfBbOo|BbOo|FfBbOo|FfBbOo|FfBbOo|BbOo|F")

    def test_a_step_that_was_followed_elsewhere_has_begun_with_a_call(self):
        def body(program):
            for _ in range(3):
                program.forward(operators=20)
                state = program.steps.state_number(0)
                program.backward()
                program.step()
            program.steps.take_over(state, 3)
            program.compute(20)  # by the call in which the steps were handed over
            program.backward()
            program.step()
            for _ in range(2):
                program.forward(operators=20)
                program.backward()
                program.step()

        self.assertTrue(self.seen(body, 1).endswith("BbOo|FfBbOo|FfBbOo"), self.seen(body, 1))

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
                program.steps.returns_gradients(True, ())
            program.compute(3)
            program.backward()

        self.assertEqual(self.seen(body, has_optimizer=False), "BbBb?FfBbFfBb?FfBbFfBb?F")


if __name__ == "__main__":
    unittest.main()
