# SPDX-License-Identifier: Apache-2.0
"""Verification.compare: the same result for numbers, sequences, torch tensors and NumPy arrays."""

import importlib.util
import itertools
import math
import os
import subprocess
import sys
import unittest

import fake_host
import kymo
from kymo import _verification

INF, NAN = math.inf, math.nan
FORMS = {"list": lambda value: value}
if fake_host.HAS_TORCH:
    import torch

    FORMS["torch"] = lambda value: torch.tensor(value, dtype=torch.float64)
if importlib.util.find_spec("numpy"):
    import numpy

    FORMS["numpy"] = lambda value: numpy.array(value, dtype=numpy.float64)


def compared(actual, expected, tolerance=1e-3, **options):
    (check,) = kymo.Verification().compare("c", "r", actual, expected, tolerance, **options).checks
    return check


class Compare(unittest.TestCase):
    def check_all(self, actual, expected, detail, max_abs, max_rel, tolerance=1e-3):
        """All pairs of forms give this result; detail "" means that the check passed."""
        for left, right in itertools.product(FORMS.values(), repeat=2):
            found = compared(left(actual), right(expected), tolerance)
            outcome = 2 if detail else 1
            self.assertEqual(found, ("c", outcome, "r", detail, max_abs, max_rel, tolerance))

    def test_compares_with_the_larger_of_absolute_and_relative_tolerance(self):
        self.check_all([1.0, 0.5, 1000.0], [1.0, 0.5, 1000.5], "", 0.5, 0.5 / 1000.5)
        self.check_all([0.0, 0.25], [0.0, 0.0], "", 0.25, INF, tolerance=0.25)
        detail = "2 of 3 elements differ; the worst is [2] = 7, expected 0.5"
        self.check_all([1.0, 1.0, 7.0], [1.0, 0.5, 0.5], detail, 6.5, 13.0)

    def test_names_the_worst_element_in_relation_to_the_tolerance(self):
        detail = "2 of 2 elements differ; the worst is [1] = 1, expected 3"
        self.check_all([1000.0, 1.0], [1100.0, 3.0], detail, 100.0, 2 / 3)

    def test_names_the_index_in_all_dimensions(self):
        detail = "1 of 6 elements differ; the worst is [1, 0] = 0, expected 4"
        self.check_all([[1.0, 2.0, 3.0], [0.0, 5.0, 6.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], detail, 4.0, 1.0)
        detail = "1 of 1 elements differ; the worst is [] = 1, expected 2"
        self.check_all(1.0, 2.0, detail, 1.0, 0.5)

    def test_not_a_number_and_infinity_equal_only_themselves(self):
        self.check_all([NAN, INF, -INF], [NAN, INF, -INF], "", 0.0, 0.0)
        for actual, expected, texts in (
            (NAN, 1.0, "nan, expected 1"),
            (1.0, NAN, "1, expected nan"),
            (INF, 1.0, "inf, expected 1"),
            (1.0, INF, "1, expected inf"),
            (INF, -INF, "inf, expected -inf"),
        ):
            detail = f"1 of 2 elements differ; the worst is [1] = {texts}"
            self.check_all([5.0, actual], [5.0, expected], detail, INF, INF, tolerance=1e300)
        detail = "1 of 1 elements differ; the worst is [0] = 1, expected 1.5"
        for left, right in itertools.product(FORMS.values(), repeat=2):
            self.assertEqual(compared(left([1.0]), right([1.5]), NAN).detail, detail)

    def test_rejects_other_shapes(self):
        self.check_all([1.0, 2.0], [1.0], "2 elements, expected 1 elements", 0.0, 0.0)
        self.check_all([[1.0, 2.0]], [[1.0], [2.0]], "shape (1, 2), expected shape (2, 1)", 0.0, 0.0)
        self.check_all([], [], "", 0.0, 0.0)

    def test_finds_the_worst_element_in_any_chunk(self):
        chunk, _verification._CHUNK = _verification._CHUNK, 3
        self.addCleanup(setattr, _verification, "_CHUNK", chunk)
        expected = [float(i) for i in range(1, 11)]
        for index in range(10):
            actual = [value + (i == index) * 5 for i, value in enumerate(expected)]
            detail = f"1 of 10 elements differ; the worst is [{index}] = {index + 6}, expected {index + 1}"
            self.check_all(actual, expected, detail, 5.0, 5 / (index + 1))

    def test_prefixes_the_detail_of_the_workload(self):
        self.assertEqual(compared(1, 1, detail="layer 3").detail, "layer 3")
        detail = compared([1], [2], detail="layer 3").detail
        self.assertEqual(detail, "layer 3; 1 of 1 elements differ; the worst is [0] = 1, expected 2")

    def test_accepts_ranges_tuples_ints_and_bools(self):
        self.assertEqual(compared(range(3), (0, True, 2.0)).outcome, 1)
        self.assertEqual(compared(1 << 80, 1 << 80).outcome, 1)

    @fake_host.needs_torch
    def test_accepts_tensors_of_all_kinds(self):
        base = torch.arange(6.0).reshape(2, 3)
        expected = base.tolist()
        for dtype in (torch.float16, torch.bfloat16, torch.int8, torch.int64, torch.float8_e4m3fn):
            self.assertEqual(compared(base.to(dtype), expected).outcome, 1, dtype)
        self.assertEqual(compared(base.to(torch.bool), [[False, True, True], [True] * 3]).outcome, 1)
        self.assertEqual(compared(base.t(), torch.tensor(expected).t().contiguous()).outcome, 1)
        self.assertEqual(compared(base.clone().requires_grad_(), expected).outcome, 1)
        self.assertEqual(compared(base.to_sparse(), expected).outcome, 1)
        self.assertEqual(compared(list(base), expected).outcome, 1)
        number = torch.tensor([1 + 2j])
        self.assertEqual(compared(number, number.clone()).outcome, 1)
        self.assertEqual(
            compared(number.conj(), number).detail, "1 of 2 elements differ; the worst is [0, 1] = -2, expected 2"
        )

    def test_rejects_other_values(self):
        for value in ("text", None, {1: 2}, [1, "a"], object()):
            self.assertRaisesRegex(
                TypeError, "must be a torch tensor, a NumPy array, a sequence", compared, value, value
            )
        self.assertRaisesRegex(
            ValueError, "the rows of a nested sequence must have the same length", compared, [[1], [1, 2]], 1
        )
        self.assertRaises(ValueError, compared, 1, 1, "tolerance")

    def test_needs_no_torch(self):
        code = "import kymo, sys; kymo.Verification().compare('a', 'b', [1], [1], 0); assert 'torch' not in sys.modules"
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(fake_host.PACKAGE)}, check=False
        )
        self.assertEqual(done.returncode, 0)


class Checks(unittest.TestCase):
    def test_are_added_in_order(self):
        made = kymo.Verification().check("a", "r", True).check("b", "r", False, "why", max_abs_error=1, tolerance=0.5)
        self.assertEqual(made.checks, [("a", 1, "r", "", 0.0, 0.0, 0.0), ("b", 2, "r", "why", 1.0, 0.0, 0.5)])
        self.assertEqual(kymo.Verification.unavailable("none").checks, [("reference", 3, "", "none", 0.0, 0.0, 0.0)])

    def test_contain_only_text_that_the_host_can_store(self):
        (check,) = kymo.Verification().check("a\0", "\udc80", True).checks
        self.assertEqual((check.name, check.reference), ("a\\0", "\\udc80"))
        self.assertRaisesRegex(
            TypeError, "the name of a check must be a str, not int", kymo.Verification().check, 1, "", True
        )


if __name__ == "__main__":
    unittest.main()
