# SPDX-License-Identifier: Apache-2.0
"""Programs and workloads have the same steps, phases and modules under each version of torch.

versions_test.py ENVIRONMENT...

Each virtual environment has a version of torch and kymo's wheel. As many are used at a time as there are processors.
Prints which names of operators and autograd nodes only some versions have.
"""

import concurrent.futures
import os
import sys
import tempfile
import unittest
from pathlib import Path

from observe import TRACED, observe

environments = []
# Of the transformer in tests/python/programs, in fp32: embedding and head, and two layers of norm, attention and
# feed-forward network.
PARAMETER_BYTES = 4 * (50 * 16 + 16 * 50 + 50 + 2 * (32 + 4 * (16 * 16 + 16) + 2 * 16 * 64 + 64 + 16))


def differences(found):
    """Lines about the names that not all versions have."""
    for what in ("workload", *TRACED):
        names = {
            each["version"]: (each["workload"] if what == "workload" else each["traced"][what])["names"]
            for each in found
        }
        common = set.intersection(*names.values())
        for version, own in names.items():
            if own - common:
                yield f"{what}, torch {version}: {', '.join(sorted(own - common))}"


class VersionsTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="kymo-versions-")
        cls.addClassCleanup(folder.cleanup)

        def observed(environment):
            results = Path(folder.name, Path(environment).name)
            results.mkdir()
            return observe(environment, results)

        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            cls.found = list(pool.map(observed, environments))
        print("names that not all versions have:", *(list(differences(cls.found)) or ["none"]), sep="\n  ", flush=True)

    def check(self, get, expected=None):
        """The same in all versions as in the first, or as expected."""
        for each in self.found:
            with self.subTest(torch=each["version"]):
                self.assertEqual(get(each), get(self.found[0]) if expected is None else expected)

    def test_versions_are_those_of_the_environments(self):
        for environment, each in zip(environments, self.found, strict=True):
            self.assertTrue(each["version"].startswith(f"{Path(environment).name}."), each["version"])
            release = each["version"].split("+")[0]
            self.assertEqual(each["workload"]["version"], [(release,)])

    def test_modules_find_all_symbols_in_the_libraries_of_their_version(self):
        for environment, each in zip(environments, self.found, strict=True):
            with self.subTest(torch=each["version"]):
                modules, libraries = each["loaded"]["modules"], each["loaded"]["libraries"]
                expected = ["kymo_cuda.so", "kymo_prediction.so", "kymo_torch.so", "kymo_torch_cuda.so"]
                self.assertEqual(sorted(modules), expected)
                self.assertEqual(len(libraries), 7, libraries)  # one copy of each
                torch = next(Path(environment).glob("lib/python3*/site-packages/torch")).resolve()
                for library in libraries:
                    self.assertTrue(library.is_relative_to(torch.parent), library)

    def test_programs_have_the_same_phases_and_modules(self):
        for name in TRACED:
            with self.subTest(program=name):
                self.check_program(name)

    def check_program(self, name):
        self.check(lambda each: each["traced"][name]["faults"], [])
        self.check(lambda each: each["traced"][name]["phases"])
        self.check(lambda each: each["traced"][name]["modules"])
        for each in self.found:
            self.assertGreater(len(each["traced"][name]["names"]), 5)
            steps = {row[2] for row in each["traced"][name]["phases"] if row[1] == "step"}
            self.assertEqual(steps, {10}, each["version"])

    def test_modules_are_those_of_the_program(self):
        """So that versions do not agree on nothing."""
        for name, expected in (
            ("transformer", "Transformer/layers.1/feed_forward/Linear_2"),
            ("autocast", "Transformer/layers.0/attention"),
            ("compiled", "Model/layers.1/feed_forward/GELU_1"),
        ):
            for each in self.found:
                with self.subTest(program=name, torch=each["version"]):
                    self.assertIn((0, "forward", expected), each["traced"][name]["modules"])
                    self.assertTrue(any(row[:2] == (1, "backward") for row in each["traced"][name]["modules"]))

    def test_memory_has_the_same_categories(self):
        self.check(lambda each: each["memory"])
        for each in self.found:
            with self.subTest(torch=each["version"]):
                memory = dict(each["memory"])
                # Blocks are larger than tensors by their alignment.
                for category, tensors in (("parameter", 1), ("gradient", 1), ("optimizer_state", 2)):
                    self.assertGreaterEqual(memory[category], tensors * PARAMETER_BYTES)
                    self.assertLess(memory[category], 1.5 * tensors * PARAMETER_BYTES)
                self.assertTrue(memory["activation"])

    def test_workloads_are_observed(self):
        self.check(lambda each: each["workload"]["faults"], [])
        self.check(lambda each: each["workload"]["outcome"], [("passed",)])
        self.check(lambda each: each["workload"]["phases"])
        self.check(lambda each: each["workload"]["modules"])

    def test_peaks_of_workloads_are_predicted(self):
        for each in self.found:
            with self.subTest(torch=each["version"]):
                ((predicted, measured),) = each["workload"]["peaks"]
                self.assertAlmostEqual(predicted / measured, 1, delta=0.05)

    def test_operators_of_kymo_compute_what_those_of_torch_do(self):
        for each in self.found:
            with self.subTest(torch=each["version"]):
                self.assertEqual([len(deviations) for deviations in each["operators_of_kymo"]], [2, 2, 2])
                for result, gradient in each["operators_of_kymo"]:
                    self.assertLess(result, 1e-5)
                    self.assertLess(gradient, 1e-3)  # relative to gradients of up to about 100

    def test_programs_are_compared(self):
        self.check(lambda each: each["compared"], [(0, "ok"), (1, "ok")])

    def test_reports_name_the_modules(self):
        for each in self.found:
            for word in ("layers.*/attention", "forward", "backward"):
                self.assertIn(word, each["report"], each["version"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    environments = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
