# SPDX-License-Identifier: Apache-2.0
"""A sum of many equal terms, in four combinations of the types of the sum and of the terms.

kymo run accumulation --axis addition
"""

import struct

import kymo

_FORMATS = {"fp32": "f", "fp16": "e"}  # of the module struct


def rounded(value, dtype):
    """The value in the given type, rounded to the nearest, ties to even."""
    return struct.unpack(_FORMATS[dtype], struct.pack(_FORMATS[dtype], value))[0]


def expected_sum(terms, value, sum_dtype, term_dtype):
    """The sum as IEEE 754 defines it, computed without torch."""
    term, total = rounded(value, term_dtype), 0.0
    for _ in range(terms):
        total = rounded(total + term, sum_dtype)  # the exact sum of two such numbers needs less than 53 bits
    return total


class Accumulation(kymo.Workload):
    """add equal terms one by one: types of the sum and of the terms decide how far the result is from the exact one"""

    title = "Accumulation"
    family = "accumulation"
    framework = "torch"

    addition = kymo.Choice(
        "fp32",
        ("fp32", "fp16", "fp16-to-fp32", "fp16-cast-to-fp32"),
        axis=("fp32", "fp16", "fp16-to-fp32", "fp16-cast-to-fp32"),
        doc="both types, or fp16 terms that are added to an fp32 sum directly or after a cast to fp32",
    )
    terms = kymo.Int(1000, minimum=1, maximum=1000000, doc="number of terms")
    value = kymo.Real(0.01, doc="value of each term")

    phases = ("sum",)
    ranks = 1

    def prepare(self, run):
        import torch

        both = self.addition in ("fp32", "fp16")
        self.sum_dtype, self.term_dtype = (self.addition, self.addition) if both else ("fp32", "fp16")
        types = {"fp32": torch.float32, "fp16": torch.float16}
        self.total = torch.zeros((), dtype=types[self.sum_dtype], device=run.device)
        self.term = torch.tensor(self.value, dtype=types[self.term_dtype], device=run.device)
        self.sum = run.phase("sum")
        self._add()
        exact = self.terms * self.value
        run.metric("sum", self.total.item())
        run.metric("exact_sum", exact)
        run.metric("term", self.term.item())
        run.metric("relative_error", abs(self.total.item() - exact) / abs(exact) if exact else 0.0)

    def _add(self):
        self.total.zero_()
        for _ in range(self.terms):
            self.total += self.term.float() if self.addition == "fp16-cast-to-fp32" else self.term

    def step(self, run):
        with self.sum:
            self._add()

    def verify(self, run):
        self._add()
        actual, expected = self.total.item(), expected_sum(self.terms, self.value, self.sum_dtype, self.term_dtype)
        return kymo.Verification().check(
            "sum",
            "IEEE 754 arithmetic without torch",
            actual == expected,
            f"{actual}, expected {expected}",
            max_abs_error=abs(actual - expected),
            tolerance=0,
        )
