# SPDX-License-Identifier: Apache-2.0
"""Categories of memory in observed programs, against what the programs count themselves."""

import unittest

from kymo_tool import long_test, needs_torch_parts
from trace_program_test import FORKED, PROGRAMS, TraceTest

STEPS = 14
CATEGORIES = """SELECT iif(category = 'unknown', share, bytes) FROM memory_by_category
                WHERE pass = 'memory' AND device = 'cpu' AND rank = ? AND phase = ?
                AND category IN ('parameter', 'gradient', 'optimizer_state', 'communication', 'unknown')
                ORDER BY category_order"""


@needs_torch_parts
class DataParallelTest(TraceTest):
    def sizes(self, rank, phase):
        return [size for (size,) in self.rows(CATEGORIES, rank, phase)]

    def peak(self, mode):
        """The memory of rank 0 by category at the peak of the optimizer's phase and of the step, after its check."""
        del self.environment["KYMO_TEST_LIGHT_TORCH"]
        words = [FORKED, 2, PROGRAMS / "parallel_memory.py", mode, STEPS]
        done = self.trace(*words, options=["--passes", "memory", "--steps", "5:10", "--ranks", "2"])
        self.assertEqual(self.outcome(), ("ok", ""), done.stderr)
        counted = [[int(word) for word in line.split()[1:]] for line in sorted(done.stdout.splitlines())]
        for rank, expected in enumerate(counted):
            *found, _, unknown = self.sizes(rank, "optimizer")
            for size, truth in zip(found, expected, strict=True):
                self.assertAlmostEqual(size, truth, delta=0.01 * truth, msg=(mode, rank, found, expected))
            self.assertLess(unknown, 0.05)
            self.assertLess(self.sizes(rank, "step")[-1], 0.05)
        return counted[0], self.sizes(0, "step")

    def test_fully_shard(self):
        (parameters, *_), (*_, communication, _) = self.peak("fully_shard")
        self.assertGreater(communication, parameters / 20)  # at least one block, whole

    @long_test
    def test_fsdp1(self):
        (parameters, *_), (*_, communication, _) = self.peak("fsdp1")
        self.assertGreater(communication, parameters / 20)

    def test_ddp(self):
        (_, gradients, _), (*_, communication, _) = self.peak("ddp")
        self.assertAlmostEqual(communication, gradients, delta=0.01 * gradients)  # the buckets

    def test_ddp_with_gradients_in_its_buckets(self):
        _, (*_, communication, _) = self.peak("ddp_views")
        self.assertEqual(communication, 0)


@needs_torch_parts
class TensorsTest(TraceTest):
    """Parameters that belong to no module, of 512 and 256 bytes, and the state of their optimizer."""

    def peak(self, kind):
        self.trace(PROGRAMS / "boundaries.py", kind, STEPS, options=["--passes", "memory", "--steps", "5:10"])
        parameters, gradients, state, _, unknown = [size for (size,) in self.rows(CATEGORIES, 0, "optimizer")]
        self.assertEqual((parameters, gradients), (768, 768))
        self.assertLess(unknown, 0.3)  # the batch
        return state

    def test_adam(self):
        self.assertEqual(self.peak("tensors"), 2 * 768 + 2 * 4)

    @long_test
    def test_lbfgs_with_lists_in_its_state(self):
        self.assertGreater(self.peak("tensors_with_closure"), 2 * 768 * 5)  # vectors of five steps

    @long_test
    def test_sparse_gradients(self):
        self.environment.pop("KYMO_TEST_LIGHT_TORCH")
        words = [PROGRAMS / "saved.py", "embedding", STEPS]
        done = self.trace(*words, options=["--passes", "memory", "--steps", "5:10"])
        self.assertEqual(self.outcome(), ("ok", ""), done.stderr)
        parameters, gradients, *_ = [size for (size,) in self.rows(CATEGORIES, 0, "optimizer")]
        self.assertEqual((parameters, gradients), (4096 * 64 * 4, 32 * 64 * 4))


WRAPPED = (
    "delegates",
    "optimizer_of_delegate",
    "module_of_delegate",
    "replaced_forward",
    "accumulated",
    "converted",
    "swapped",
    "assigned",
    "lazy",
    "tied",
    "replaced_gradients",
)


@needs_torch_parts
class WrappedTest(TraceTest):
    """What a program trains is wrapped by other objects, or replaced while it trains."""

    def test_categories(self):
        options = ["--passes", "memory", "--steps", "5:10", "--ranks", str(len(WRAPPED))]
        self.trace_each(PROGRAMS / "wrapped.py", WRAPPED, STEPS, options=options)
        for rank, kind in enumerate(WRAPPED):
            with self.subTest(kind):
                *_, counted = (self.work / f"{kind}.txt").read_text(encoding="utf-8").splitlines()
                found = [size for (size,) in self.rows(CATEGORIES, rank, "optimizer")]
                self.assertEqual(found[:3], [int(word) for word in counted.split()[1:]])
                self.assertLess(found[-1], 0.05)  # the batch
                self.assertEqual(self.kept(rank, "other"), 0)
                self.assertGreater(self.kept(rank, "parameter"), 0)

    def kept(self, rank, memory):
        return self.rows("SELECT total(bytes) FROM saved_tensor WHERE rank = ? AND memory = ?", rank, memory)[0][0]


if __name__ == "__main__":
    unittest.main()
