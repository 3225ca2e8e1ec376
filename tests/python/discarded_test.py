# SPDX-License-Identifier: Apache-2.0
"""Whether results of a model are discarded, by the graphs of autograd that they belong to."""

import unittest
from types import SimpleNamespace

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace._discarded import DiscardedResults


def tensor(with_gradients=True):
    """A node of a graph exists as long as something refers to a tensor of it."""
    return SimpleNamespace(grad_fn=SimpleNamespace(metadata={}) if with_gradients else None)


def of_graph(source):
    """A tensor that is computed from another one."""
    return SimpleNamespace(grad_fn=source.grad_fn)


class DiscardedTest(unittest.TestCase):
    def setUp(self):
        self.results = DiscardedResults()

    def call(self, result=lambda x: x, with_gradients=True):
        x = result(tensor(with_gradients))
        self.results.root_has_ended = True
        self.results.returned(x)
        return x

    def test_discarded(self):
        for _ in range(5):
            variable = of_graph(self.call())
        self.assertEqual(self.results.in_a_row, 3)  # the last one exists, the first has nothing before it
        del variable

    def test_in_other_types(self):
        for kind in (lambda x: (None, [x]), lambda x: {"loss": x}):
            self.setUp()
            for _ in range(4):
                self.call(kind)
            self.assertEqual(self.results.in_a_row, 2)

    def test_kept(self):
        kept = [of_graph(self.call()) for _ in range(9)]
        self.assertEqual(self.results.in_a_row, 0)
        kept.clear()
        self.call(), self.call()
        self.assertEqual(self.results.in_a_row, 2)

    def test_kept_after_others(self):
        for _ in range(6):
            self.call()
        kept = [of_graph(self.call()) for _ in range(4)]
        self.assertEqual(self.results.in_a_row, 0)
        del kept

    def test_without_gradients_nothing_is_known(self):
        for _ in range(9):
            self.call(with_gradients=False)
        self.assertEqual(self.results.in_a_row, 0)

    def test_modules_within_others_do_not_count(self):
        for _ in range(5):
            self.results.returned(tensor())
        self.assertEqual(self.results.in_a_row, 0)


if __name__ == "__main__":
    unittest.main()
