# SPDX-License-Identifier: Apache-2.0
"""What the tests of the fused layers have in common. A test is called as TEST LIBRARY [DEVICE]; this module loads the
library, or exits with 77 if the device is cuda and there is no driver."""

import os
import sys
import unittest

import torch

LIBRARY = sys.argv[1]
DEVICE = sys.argv[2] if len(sys.argv) > 2 else "cpu"
if DEVICE == "cuda" and not os.path.exists("/dev/nvidiactl"):
    sys.exit(77)  # tells CTest that the test is skipped: with a driver, CUDA must work
FLOATS = (torch.float32, torch.bfloat16, torch.float16)
# Relative to the largest value: a few roundings of the result.
TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-6, torch.float16: 1.5e-3, torch.bfloat16: 1e-2}

torch.ops.load_library(LIBRARY)
ops = torch.ops.kymo


def draw(*shape, dtype=torch.float32, gradient=True):
    return torch.randn(*shape, dtype=dtype, device=DEVICE, requires_grad=gradient)


def exact(tensor):
    return tensor.detach().double().requires_grad_(tensor.requires_grad)


def rotation(sequence, width, dtype=torch.float32):
    angles = torch.outer(torch.arange(sequence).double(), 10000 ** (-torch.arange(0, width, 2).double() / width))
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    return torch.stack((angles.cos(), angles.sin()), -1).to(DEVICE, wide)


def adamw_lists(dtype, state, sizes, gradient=None):
    """Parameters, gradients (of type `gradient`, or that of the parameters), both moments and step counts."""
    parameters, gradients, means, squares = (
        [draw(size, dtype=kind, gradient=False) for size in sizes] for kind in (dtype, gradient or dtype, state, state)
    )
    squares = [square.square() for square in squares]
    steps = [torch.tensor(float(i % 3), device=DEVICE) for i in range(len(sizes))]
    return parameters, gradients, means, squares, steps


class LayerCase(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        torch._dynamo.reset()

    def assert_near(self, actual, expected, dtype=None, factor=1.0):
        """The largest difference, relative to the largest expected value."""
        self.assertEqual(actual.shape, expected.shape)
        largest = max(expected.abs().max().item(), 1e-30)
        error = (actual.detach().double() - expected.detach().double()).abs().max().item() / largest
        self.assertLessEqual(error, factor * TOLERANCE[dtype or actual.dtype])
