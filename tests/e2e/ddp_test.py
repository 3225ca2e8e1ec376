# SPDX-License-Identifier: Apache-2.0
"""Data-parallel strategies on several local ranks over Gloo produce the same model as training in one process."""

import unittest

from kymo_tool import PLUGINS, KymoTest, long_test

SMALLEST = ["--device", "cpu", "--set", "context=8", "--set", "batch=2"]
# For each small model: two trajectories compared with a single process, their bitwise equality, and that of a real
# step.
CHECKS = 5
# Of a Transformer with fused operators, also logits, loss, gradients and AdamW of a small model. With master weights,
# also the rounded weights, and an update of all ranks and its bitwise equality.
FUSED_CHECKS = 4
MASTER_WEIGHT_CHECKS = 3
FUSED = ["--set", "operators=fused"]


class EqualityTest(KymoTest):
    def setUp(self):
        super().setUp()
        # Without this, Gloo resolves the host name, which may fail on a machine without a network.
        self.environment["GLOO_SOCKET_IFNAME"] = "lo"

    def verify(self, workload, ranks, *words, cases=1, checks=CHECKS):
        self.kymo("run", workload, "--ranks", ranks, *SMALLEST, *words, "--passes", "verify")
        self.assertEqual(
            self.rows("SELECT status, verification, count(*) FROM run GROUP BY 1, 2"), [("ok", "passed", cases)]
        )
        made = self.rows(
            "SELECT rank, outcome, count(*) FROM verification WHERE name NOT LIKE 'agreement%' GROUP BY 1, 2 ORDER BY 1"
        )
        self.assertEqual(made, [(rank, "passed", checks * cases) for rank in range(ranks)])

    def strategies(self):
        """The data-parallel strategies of the catalog."""
        names = [workload["name"] for plugin in self.kymo_json("list")["plugins"] for workload in plugin["workloads"]]
        strategies = [name for name in names if name.startswith("ddp_")]
        self.assertLessEqual({"ddp_naive", "ddp_bucketed"}, set(strategies))
        return strategies

    def test_two_ranks(self):
        for strategy in self.strategies():
            with self.subTest(strategy):
                (self.work / "kymo.db").unlink(missing_ok=True)
                self.verify(strategy, 2, "--set", "model=tied")

    @long_test
    def test_bucket_sizes(self):
        for gradients, sizes in (("views", "0.0001,0.01"), ("separate", "0.0016,1000")):
            with self.subTest(gradients):
                (self.work / "kymo.db").unlink(missing_ok=True)
                settings = ["--set", "model=tied", "--set", f"gradients={gradients}", "--axis", f"bucket_mb={sizes}"]
                self.verify("ddp_bucketed", 2, *settings, cases=2)

    @long_test
    def test_three_ranks_train_a_transformer(self):
        self.verify("ddp_bucketed", 3, "--set", "model=tiny", "--set", "bucket_mb=0.1")

    def test_one_rank(self):
        for strategy in ("ddp_naive", "ddp_torch"):  # kymo's communicator, and LibTorch's own process group
            with self.subTest(strategy):
                (self.work / "kymo.db").unlink(missing_ok=True)
                self.verify(strategy, 1, "--set", "model=toy")

    def test_fused_operators_with_master_weights(self):
        """The strategies that send several gradients together: those in bf16, whose buckets are bf16, are between
        others in fp32."""
        for strategy, *settings in (
            ("ddp_flat",),
            ("ddp_flat", "--set", "copy=true"),
            ("ddp_bucketed", "--set", "bucket_mb=0.1", "--set", "gradients=separate"),
            ("ddp_torch",),
        ):
            with self.subTest(strategy, settings=settings):
                (self.work / "kymo.db").unlink(missing_ok=True)
                checks = CHECKS + FUSED_CHECKS + MASTER_WEIGHT_CHECKS
                self.verify(strategy, 2, *settings, *FUSED, "--set", "autocast=true", checks=checks)

    @long_test
    def test_all_weights_have_master_weights(self):
        settings = ["--axis", "dtype=bf16,fp16", "--set", "optimizer_state=master_weights", "--set", "model=frozen"]
        self.verify("ddp_bucketed", 2, *FUSED, *settings, cases=2, checks=CHECKS + 2)

    def test_without_adamw_weights_are_cast(self):
        settings = ["--set", "autocast=true", "--set", "optimizer=sgd"]
        self.verify("ddp_bucketed", 1, *FUSED, *settings, checks=CHECKS + FUSED_CHECKS - 1)

    def test_an_optimizer_state_without_effect_is_skipped(self):
        settings = ["--set", "optimizer_state=master_weights", "--set", "dtype=bf16", "--set", "optimizer=sgd"]
        self.kymo("run", "ddp_bucketed", *SMALLEST, *FUSED, *settings, "--passes", "verify")
        ((status, detail),) = self.rows("SELECT status, detail FROM run")
        self.assertEqual(status, "skipped")
        self.assertIn("requires kymo's AdamW: it has no effect with optimizer=sgd", detail)

    def test_a_graph_needs_a_gpu(self):
        for workload in ("ddp_bucketed", "ddp_torch", "sharded_optimizer", "fsdp"):
            with self.subTest(workload):
                (self.work / "kymo.db").unlink(missing_ok=True)
                self.kymo("run", workload, "--ranks", 2, *SMALLEST, "--set", "execution=graph", "--passes", "time")
                ((status, detail),) = self.rows("SELECT status, detail FROM run")
                self.assertEqual(status, "skipped")
                self.assertIn("execution=graph", detail)

    def test_a_sum_in_place_of_the_mean_is_found(self):
        self.kymo(
            "run",
            PLUGINS / "ddp_sums.so",
            "--ranks",
            "2",
            *SMALLEST,
            "--set",
            "model=toy",
            "--passes",
            "verify",
            code=3,
        )
        ((status, verification),) = self.rows("SELECT status, verification FROM run")
        self.assertEqual((status, verification), ("failed", "failed"))
        failed = {name for (name,) in self.rows("SELECT name FROM verification WHERE outcome = 'failed'")}
        self.assertIn("toy in float64, 5 steps of sgd", failed)

    def test_without_communication_there_is_nothing_to_verify(self):
        self.kymo(
            "run",
            "ddp_naive",
            "--ranks",
            "2",
            *SMALLEST,
            "--set",
            "model=toy",
            "--set",
            "communicate=false",
            "--passes",
            "verify",
        )
        self.assertEqual(
            self.rows("SELECT DISTINCT outcome FROM verification WHERE name NOT LIKE 'agreement%'"), [("unavailable",)]
        )
        ((detail,),) = self.rows("SELECT DISTINCT detail FROM verification WHERE outcome = 'unavailable'")
        self.assertIn("communicate=false", detail)

    def test_steps_have_all_phases_and_figures(self):
        self.kymo(
            "run",
            "ddp_bucketed",
            "--ranks",
            "2",
            *SMALLEST,
            "--set",
            "model=toy",
            "--no-verify",
            "--warmup",
            "1",
            "--steps",
            "3",
        )
        phases = {name for (name,) in self.rows("SELECT DISTINCT phase FROM sample WHERE pass = 'time'")}
        self.assertLessEqual({"step", "forward", "backward", "communication", "optimizer"}, phases)
        figures = dict(self.rows("SELECT name, value FROM metric WHERE rank = 0 AND value IS NOT NULL"))
        # 10·10 + 10·50 + 50·5 elements of 4 bytes are trained; 10 are not.
        self.assertEqual(
            (figures["parameters"], figures["parameter_tensors"], figures["gradient_bytes"]), (860, 3, 3400)
        )
        self.assertEqual(figures["tokens_per_step"], 2)
        self.assertGreater(figures["loss_last"], 0)


if __name__ == "__main__":
    unittest.main()
