# SPDX-License-Identifier: Apache-2.0
"""The sharded optimizer on several CPU ranks produces the same model as one process, and each rank stores its part
of the state."""

import unittest

from kymo_tool import SAXPY, KymoTest, long_test, needs_torch_parts

PLUGIN = SAXPY.with_name("sharded_optimizer.so")
QUICK = ["--device", "cpu", "--warmup", "1", "--observed-steps", "2", "--timeout", "120", "--set", "context=32"]


@needs_torch_parts
class ShardedTest(KymoTest):
    def run_scheme(self, ranks, scheme, *settings, passes):
        words = [word for setting in (f"scheme={scheme}", *settings) for word in ("--set", setting)]
        self.kymo("run", "sharded_optimizer", "--ranks", ranks, "--passes", passes, *QUICK, *words)

    def train(self, ranks, scheme, *settings, passes="verify,memory"):
        self.run_scheme(ranks, scheme, *settings, passes=passes)
        self.assertEqual(self.rows("SELECT status FROM run"), [("ok",)])
        checks = self.rows("SELECT rank, name, outcome, detail FROM verification")
        self.assertEqual([check for check in checks if check[2] != "passed"], [])
        self.assertEqual({rank for rank, *_ in checks}, set(range(ranks)))
        return {name for _, name, *_ in checks}

    def metric(self, name, rank=0):
        ((value,),) = self.rows(
            "SELECT DISTINCT value FROM metric WHERE name = ? AND rank = ? AND pass = 'memory'", name, rank
        )
        return value

    def state_bytes(self):
        """Optimizer state in bytes per rank, at the peak of its measured steps."""
        found = self.rows(
            "SELECT rank, max(bytes) FROM memory_phase_category JOIN memory_phase USING (run_id, rank, pass, device, "
            "step, phase) WHERE pass = 'memory' AND phase = 'step' AND step >= 0 AND NOT warmup "
            "AND category = 'optimizer_state' GROUP BY rank ORDER BY rank"
        )
        self.assertEqual([rank for rank, _ in found], list(range(len(found))))
        return [size for _, size in found]

    def assert_near(self, value, expected):
        self.assertLess(abs(value - expected), 0.01 * expected, (value, expected))

    def test_zero1(self):
        names = self.train(2, "zero1", "bucket_mb=1")
        self.assertTrue(any(name.startswith("configured sharded by zero1") for name in names), names)
        whole = 2 * self.metric("parameter_bytes")
        states = self.state_bytes()
        for rank, state in enumerate(states):
            self.assert_near(state, whole / 2)
            self.assert_near(self.metric("optimizer_state_bytes", rank), state)
        self.assertEqual(self.metric("communication_bytes_per_step"), self.metric("parameter_bytes"))

    def test_broadcast(self):
        self.train(2, "broadcast")
        whole = 2 * self.metric("parameter_bytes")
        for rank, state in enumerate(self.state_bytes()):
            self.assert_near(state, whole / 2)
            self.assert_near(state, 2 * self.metric("owned_parameter_bytes", rank))
        self.assertEqual(self.metric("communication_bytes_per_step"), 1.5 * self.metric("parameter_bytes"))

    @long_test
    def test_broadcast_of_uneven_parameters(self):
        """Two of the parameters are larger than a third of the total: the state of a rank follows from the
        parameters it owns."""
        self.run_scheme(3, "broadcast", "flat=false", passes="memory")
        owned = [self.metric("owned_parameter_bytes", rank) for rank in range(3)]
        self.assertEqual(sum(owned), self.metric("parameter_bytes"))
        for size, state in zip(owned, self.state_bytes(), strict=True):
            self.assert_near(state, 2 * size)

    def test_none_keeps_everything(self):
        self.train(2, "none", "model=toy")
        for state in self.state_bytes():
            self.assert_near(state, 2 * self.metric("parameter_bytes"))

    @long_test
    def test_more_ranks_than_parameters_of_a_rank(self):
        self.train(4, "broadcast", "model=toy", "wrapped=torch_adamw", passes="verify")

    def test_master_weights(self):
        """A rank holds the fp32 master weights and moments of its own part: 12 bytes for each bf16 weight, and 8 for
        each fp32 one."""
        bf16 = ["dtype=bf16", "optimizer_state=master_weights", "operators=fused"]
        names = self.train(2, "broadcast", "model=toy", *bf16)
        self.assertIn("toy with master weights, a step of adamw", names)
        self.assert_near(sum(self.state_bytes()), 6 * self.metric("parameter_bytes"))
        self.make_folders()
        names = self.train(2, "zero1", "autocast=true", "operators=fused", "bucket_mb=1")
        self.assertIn("tiny with master weights, a step of adamw", names)
        # The embedding of 10,000 x 64 and 5 norms are fp32.
        fp32_bytes = 4 * (10_000 * 64 + 5 * 64)
        bf16_bytes = self.metric("parameter_bytes") - fp32_bytes
        self.assert_near(sum(self.state_bytes()), 6 * bf16_bytes + 2 * fp32_bytes)

    @long_test
    def test_optimizers_without_master_weights(self):
        momentum = ["zero1", "wrapped=momentum", "operators=fused"]
        self.run_scheme(1, *momentum, "autocast=true", passes="verify")
        self.assertEqual(self.rows("SELECT status FROM run"), [("ok",)])
        self.make_folders()
        self.run_scheme(1, *momentum, "dtype=bf16", "optimizer_state=master_weights", passes="verify")
        ((status, reason),) = self.rows("SELECT status, detail FROM run")
        self.assertEqual(status, "skipped")
        self.assertIn("requires kymo's AdamW: it has no effect with wrapped=momentum", reason)

    def test_wrapped_optimizers(self):
        for scheme, wrapped, *settings in (
            ("broadcast", "momentum"),
            ("zero1", "rmsprop", "bucket_mb=0", "overlap=false"),
            ("broadcast", "adagrad", "flat=false"),
        ):
            with self.subTest(wrapped):
                self.make_folders()
                names = self.train(2, scheme, f"wrapped={wrapped}", "model=toy", *settings, passes="verify")
                self.assertTrue(any(name.startswith(f"{wrapped} sharded by {scheme}") for name in names), names)

    @long_test
    def test_state_of_momentum(self):
        self.run_scheme(2, "broadcast", "wrapped=momentum", passes="memory")
        self.assert_near(sum(self.state_bytes()), self.metric("parameter_bytes"))

    def test_zero1_needs_communication(self):
        self.kymo(
            "run",
            "sharded_optimizer",
            "--ranks",
            "2",
            *QUICK,
            "--set",
            "scheme=zero1",
            "--set",
            "communicate=false",
            "--passes",
            "time",
        )
        self.assertEqual(self.rows("SELECT status FROM run"), [("skipped",)])


if __name__ == "__main__":
    unittest.main()
