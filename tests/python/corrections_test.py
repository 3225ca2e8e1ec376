# SPDX-License-Identifier: Apache-2.0
"""What an observation stores of the corrections of the number of steps."""

import re
import unittest
from unittest import mock

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace import _observe


class CorrectionsTest(unittest.TestCase):
    def test_of_step_numbers_add_up(self):
        program = mock.Mock()
        program.boundaries.return_value = 0
        observation = _observe.Observation.__new__(_observe.Observation)
        observation.state, observation.counted = _observe.DURING, 5
        observation.assumed, observation.miscounted = -1, 0
        texts = []
        with mock.patch.object(_observe, "_program", program):
            for difference in (-1, 0, 1, 1, 1, -1):
                program.final_metric.reset_mock()
                observation.revise(difference, "assumed: a reason")
                texts += [call.args[1] for call in program.final_metric.call_args_list]
        found = [" ".join(re.findall(r"\d+ too \w+", text)) for text in texts]
        self.assertEqual(found, ["1 too many", "", "1 too few", "2 too few", "1 too few"])
        self.assertEqual(program.metric.call_count, 1)  # the assumption


if __name__ == "__main__":
    unittest.main()
