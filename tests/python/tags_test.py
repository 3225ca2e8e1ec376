# SPDX-License-Identifier: Apache-2.0
"""Categories of memory: errors while they are read are reported, and are not those of the program."""

import sys
import unittest
from types import SimpleNamespace
from unittest import mock

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace._memory import Tags


class Optimizer:
    """Its state cannot be read."""

    param_groups = ()

    @property
    def state(self):
        raise LookupError("no state")


class TagsTest(unittest.TestCase):
    def setUp(self):
        eval_frame = SimpleNamespace(set_eval_frame=lambda callback: callback)
        patch = mock.patch.dict(sys.modules, {"torch._C._dynamo.eval_frame": eval_frame})
        patch.start()
        self.addCleanup(patch.stop)
        self.reported = []
        self.tags = Tags(SimpleNamespace(Tensor=SimpleNamespace), self.reported.append)

    def test_errors(self):
        self.tags.enabled = True
        for _ in range(2):
            self.tags.optimizer(Optimizer())
        (text,) = self.reported
        self.assertIn("categories of memory: LookupError: no state", text)

    def test_disabled(self):
        self.tags.optimizer(Optimizer())
        self.assertEqual(self.reported, [])


if __name__ == "__main__":
    unittest.main()
