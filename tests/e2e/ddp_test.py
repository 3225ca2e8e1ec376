# SPDX-License-Identifier: Apache-2.0
"""Data-parallel strategies on several local ranks over Gloo produce the same model as training in one process."""

import unittest

from kymo_tool import PLUGINS, KymoTest

SMALLEST = ["--device", "cpu", "--set", "context=8", "--set", "batch=2"]
# For each small model: two trajectories compared with a single process, their bitwise equality, and that of a real
# step.
CHECKS = 5
# Of a Transformer with fused operators, also logits, loss, gradients and AdamW of a small model. With master weights,
# also the rounded weights, and an update of all ranks and its bitwise equality.
FUSED_CHECKS = 4
MASTER_WEIGHT_CHECKS = 3


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
                self.verify(strategy, 2, "--axis", "model=toy,tied,frozen", cases=3)

    def test_bucket_sizes(self):
        self.verify(
            "ddp_bucketed",
            2,
            "--set",
            "model=tied",
            "--axis",
            "bucket_mb=0.0001,0.0016,0.01,1000",
            "--axis",
            "gradients=views,separate",
            cases=8,
        )

    def test_three_ranks_train_a_transformer(self):
        self.verify("ddp_bucketed", 3, "--set", "model=tiny", "--set", "bucket_mb=0.1")

    def test_four_ranks(self):
        self.verify("ddp_overlap", 4, "--set", "model=toy")

    def test_flat_with_copies(self):
        self.verify("ddp_flat", 3, "--set", "model=toy", "--set", "copy=true")

    def test_one_rank(self):
        for strategy in self.strategies():
            with self.subTest(strategy):
                (self.work / "kymo.db").unlink(missing_ok=True)
                self.verify(strategy, 1, "--set", "model=toy")

    def test_fused_operators_with_master_weights(self):
        """Parameters in bf16, whose gradients and buckets are bf16, between others in fp32."""
        checks = CHECKS + FUSED_CHECKS + MASTER_WEIGHT_CHECKS
        for strategy in self.strategies():
            with self.subTest(strategy):
                (self.work / "kymo.db").unlink(missing_ok=True)
                self.verify(strategy, 2, "--set", "operators=fused", "--set", "autocast=true", checks=checks)
        fused = ["--set", "operators=fused", "--set", "autocast=true"]
        (self.work / "kymo.db").unlink()
        several = ["--set", "bucket_mb=0.1", "--axis", "gradients=separate,views"]
        self.verify("ddp_bucketed", 2, *several, *fused, cases=2, checks=checks)
        (self.work / "kymo.db").unlink()
        self.verify("ddp_flat", 2, "--set", "copy=true", *fused, checks=checks)

    def test_fused_operators_without_autocast(self):
        fused = ["--set", "operators=fused"]
        self.verify("ddp_bucketed", 2, *fused, checks=CHECKS + FUSED_CHECKS)
        (self.work / "kymo.db").unlink()
        # Without AdamW, nothing holds master weights, and the weights are cast.
        settings = ["--set", "autocast=true", "--set", "optimizer=sgd"]
        self.verify("ddp_bucketed", 2, *fused, *settings, checks=CHECKS + FUSED_CHECKS - 1)
        (self.work / "kymo.db").unlink()
        settings = ["--set", "dtype=fp16", "--set", "optimizer_state=master_weights"]
        self.verify("ddp_bucketed", 2, *fused, *settings, checks=CHECKS + FUSED_CHECKS + MASTER_WEIGHT_CHECKS)
        (self.work / "kymo.db").unlink()
        settings = ["--axis", "dtype=bf16,fp16", "--set", "optimizer_state=master_weights", "--set", "model=frozen"]
        self.verify("ddp_bucketed", 2, *fused, *settings, cases=2, checks=CHECKS + 2)

    def test_optimizer_states_without_effect_are_skipped(self):
        for settings, reason in (
            (["optimizer_state=fp32"], "requires dtype=bf16 or fp16"),
            (["optimizer_state=fp32", "dtype=bf16"], "requires kymo's AdamW: operators=fused"),
            (
                ["optimizer_state=master_weights", "dtype=bf16", "operators=fused", "optimizer=sgd"],
                "requires kymo's AdamW: it has no effect with optimizer=sgd",
            ),
        ):
            with self.subTest(settings):
                (self.work / "kymo.db").unlink(missing_ok=True)
                words = [word for setting in settings for word in ("--set", setting)]
                self.kymo("run", "ddp_bucketed", "--ranks", "2", *SMALLEST, *words, "--passes", "verify")
                ((status, detail),) = self.rows("SELECT status, detail FROM run")
                self.assertEqual(status, "skipped")
                self.assertIn(reason, detail)

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
            "--warmup",
            "0",
            "--steps",
            "2",
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
