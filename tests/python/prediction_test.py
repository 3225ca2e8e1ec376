# SPDX-License-Identifier: Apache-2.0
"""The pass predict without an engine: which functions have no predicted memory, and modules that are converted."""

import importlib.util
import os
import sys
import unittest
from pathlib import Path

BUILD = Path(os.environ["KYMO_BUILD"])
sys.path.insert(0, str(BUILD / "lib" / "kymo" / "python"))

import torch  # noqa: E402
from kymo import _prediction  # noqa: E402

FILE = Path(__file__).with_name("workloads") / "unpredictable.py"
SPEC = importlib.util.spec_from_file_location("unpredictable", FILE)
unpredictable = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(unpredictable)

SHAPE = "returns a tensor whose shape depends on values"
UNREGISTERED = "register one with torch.library.register_fake"
REASONS = {
    "value": ("aten._local_scalar_dense.default", "reads the values of a tensor"),
    "shape": ("aten.nonzero.default", SHAPE),
    "custom_op": ("kymo_test::doubled", UNREGISTERED),
    "library": ("kymo_test.halved.default", UNREGISTERED),
}


def predict(function):
    (predicted,) = _prediction.Prediction(torch).of((function,))
    return predicted()


class PredictionTest(unittest.TestCase):
    def test_what_cannot_be_predicted_is_named(self):
        self.assertEqual(set(REASONS), set(unpredictable.FUNCTIONS))
        for name, function in unpredictable.FUNCTIONS.items():
            operator, reason = REASONS[name]
            for compiled in (False, True):
                with self.subTest(name, compiled=compiled):
                    call = torch.compile(function) if compiled else function
                    with self.assertRaises(_prediction.Unpredictable) as raised:
                        predict(lambda call=call: call(torch.randn(8)))
                    message = str(raised.exception)
                    expected = f"the memory cannot be predicted, because the operator {operator} "
                    self.assertTrue(message.startswith(expected), message)
                    self.assertIn(reason, message)

    def test_other_exceptions_are_those_of_the_workload(self):
        def fail():
            raise ZeroDivisionError("of the workload")

        with self.assertRaisesRegex(ZeroDivisionError, "of the workload"):
            predict(fail)

    def test_a_module_is_converted_to_another_type_and_device(self):
        def convert():
            with torch.device("meta"):
                module = torch.nn.Linear(4, 3)
            weight = module.weight
            module.to(torch.bfloat16).to_empty(device="cpu")
            module(torch.ones(2, 4, dtype=torch.bfloat16)).sum().backward()
            self.assertIs(module.weight, weight)
            self.assertEqual((weight.dtype, weight.device.type), (torch.bfloat16, "cpu"))
            self.assertEqual((weight.grad.dtype, tuple(weight.grad.shape)), (torch.bfloat16, (3, 4)))
            module.float()
            self.assertEqual((weight.dtype, weight.grad.dtype), (torch.float32, torch.float32))

        swap = torch.utils.swap_tensors
        predict(convert)
        self.assertIs(torch.utils.swap_tensors, swap)


if __name__ == "__main__":
    unittest.main()
