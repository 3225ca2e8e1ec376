# SPDX-License-Identifier: Apache-2.0
"""Pass predict: the memory of a step that is not computed, beside what the memory pass measures."""

import json
import unittest
from pathlib import Path

from kymo_tool import KymoTest, long_test, needs_torch_parts

MODEL = [
    "--set", "size=custom", "--set", "layers=6", "--set", "d_model=64", "--set", "d_ff=96", "--set", "heads=4",
    "--set", "context=48", "--set", "vocab_size=50", "--set", "batch=2",
]  # fmt: skip
METHOD = ["--device", "cpu", "--warmup", "1", "--steps", "3"]
XL = ["--set", "size=2.7B", "--set", "batch=4", "--set", "context=2048"]
GIB = 2**30
WORKLOADS = Path(__file__).resolve().parents[1] / "python" / "workloads"


@needs_torch_parts
class MemoryPredictionTest(KymoTest):
    def predictions(self):
        return self.rows("SELECT predicted_bytes, measured_bytes, error FROM memory_prediction ORDER BY run_id")

    def run_kymo(self, *words):
        runs = self.kymo_json("run", *words)["runs"]
        self.assertEqual({run["status"] for run in runs}, {"ok"}, [run["detail"] for run in runs])
        return runs

    def test_the_peak_of_each_checkpoint_is_predicted_to_the_byte(self):
        passes = ["--passes", "predict,time,memory"]
        self.run_kymo("transformer_lm", *MODEL, *METHOD, *passes, "--axis", "checkpoint=none,nested,selective")
        blocks = ["--set", "checkpoint=blocks", "--axis", "checkpoint_blocks=1,2,3,6"]
        self.run_kymo("transformer_lm", *MODEL, *METHOD, *passes, *blocks)
        selective = ["--set", "checkpoint=selective", "--axis", "checkpoint_feed_forward=1,4,6"]
        self.run_kymo("transformer_lm", *MODEL, *METHOD, *passes, *selective)
        found = self.predictions()
        self.assertEqual(len(found), 10)
        for predicted, measured, error in found:
            self.assertEqual(predicted, measured)
            self.assertEqual(error, 0)
        for part, predicted, measured in self.rows(
            "SELECT p.part, p.predicted_bytes, p.measured_bytes FROM memory_prediction_part p "
            "JOIN checkpoint_run c USING (run_id) WHERE c.checkpoint <> 'selective'"
        ):
            self.assertEqual(predicted, measured, part)
        self.assertEqual(
            self.rows("SELECT DISTINCT has_equal_loss, count(*) FROM checkpoint_run GROUP BY has_equal_loss"), [(1, 10)]
        )

    def test_less_is_kept_where_gate_and_up_are_computed_again(self):
        selective = ["--set", "checkpoint=selective", "--axis", "checkpoint_feed_forward=0,2,6"]
        fused = ["--set", "operators=fused", "--set", "attention=sdpa"]
        for operators in (fused, []):
            self.run_kymo("transformer_lm", *MODEL, *METHOD, "--passes", "predict,time,memory", *operators, *selective)
        kept = self.rows(
            "SELECT s.run_id, s.activation_bytes FROM saved_memory s JOIN checkpoint_run c USING (run_id) "
            "WHERE s.nested = 0 ORDER BY s.run_id, s.pass"
        )
        measured, predicted = dict(kept[::2]), dict(kept[1::2])
        self.assertEqual(predicted, measured)
        gate_and_up = 2 * 48 * 2 * 96 * 4  # of a block: batch, context, both widths, bytes
        for first in (1, 4):
            self.assertEqual(measured[first] - measured[first + 1], 2 * gate_and_up)
            self.assertEqual(measured[first] - measured[first + 2], 6 * gate_and_up)
        again = self.rows("SELECT flops FROM predicted_work WHERE phase = 'recompute' ORDER BY run_id")
        product = 2 * (2 * 48) * 64 * (2 * 96)
        self.assertEqual(again[:2], [(2 * product,), (6 * product,)])
        losses = self.rows("SELECT DISTINCT loss FROM checkpoint_run WHERE run_id > 3")
        self.assertEqual(len(losses), 1)

    @long_test
    def test_types_and_mixed_precision(self):
        words = ["transformer_lm", *MODEL, *METHOD, "--passes", "predict,memory"]
        self.run_kymo(*words, "--set", "dtype=bf16", "--axis", "attention=naive,sdpa")
        self.run_kymo(*words, "--set", "autocast=true", "--axis", "mode=forward,train")
        for predicted, measured, _ in self.predictions():
            self.assertLess(abs(predicted / measured - 1), 0.03, (predicted, measured))

    def test_sharded_training_is_predicted_by_one_process(self):
        settings = ["--ranks", "2", *METHOD, "--passes", "predict,memory", "--set", "model=tiny", "--set", "context=32"]
        self.run_kymo("fsdp", *settings)
        self.run_kymo("ddp_overlap", *settings)
        self.assertEqual(self.rows("SELECT count(*) FROM rank WHERE pass = 'predict'"), [(2,)])
        for predicted, measured, _ in self.predictions():
            self.assertLess(abs(predicted / measured - 1), 0.03, (predicted, measured))

    def test_a_model_that_no_machine_here_can_train(self):
        self.run_kymo(
            "transformer_lm", *XL, "--device", "cuda", "--passes", "predict", "--axis", "checkpoint=none,blocks"
        )
        (none, _, _), (blocks, _, _) = self.predictions()
        # Parameters, two moments and gradients of 3.41e9 elements in fp32; all activations, or the input of each block.
        self.assertGreater(none, 120 * GIB)
        self.assertLess(blocks, 80 * GIB)
        ((parameters,),) = self.rows(
            "SELECT DISTINCT predicted_bytes FROM memory_prediction_part WHERE part = 'parameters'"
        )
        d, f, layers, vocabulary = 2560, 10240, 32, 10000
        count = 2 * vocabulary * d + layers * (4 * d * d + 3 * d * f + 2 * d) + d
        self.assertLess(abs(parameters / (4 * count) - 1), 1e-4)

    def test_only_workloads_with_libtorch(self):
        done = self.kymo("run", "saxpy", "--passes", "predict", "--device", "cpu", code=3)
        self.assertIn("only the memory of a workload with LibTorch can be predicted", done.stdout + done.stderr)

    def test_what_cannot_be_predicted_is_named_with_its_line(self):
        workload = f"{WORKLOADS / 'unpredictable.py'}:unpredictable"
        self.kymo("run", workload, "--passes", "predict", "--device", "cpu", code=3)
        ((status, detail),) = self.rows("SELECT status, detail FROM run")
        self.assertEqual(status, "failed")
        self.assertIn("the operator aten._local_scalar_dense.default reads the values of a tensor", detail)
        self.assertIn("(unpredictable.py:", detail)

    @long_test
    def test_the_model_in_python(self):
        self.run_kymo(
            "transformer_compiled", *METHOD[:2], "--passes", "predict,memory", "--set", "compile=none", "--set",
            "vocab_size=50", "--set", "context=32", "--set", "batch=2", "--set", "dtype=bf16", "--warmup", "1",
            "--observed-steps", "1",
        )  # fmt: skip
        parts = self.rows("SELECT part, predicted_bytes, measured_bytes FROM memory_prediction_part")
        equal = {part: predicted for part, predicted, measured in parts if predicted == measured}
        self.assertLessEqual({"parameters", "gradients", "optimizer state", "inputs"}, set(equal), parts)
        # Scalars, such as the factor of a product, are made before the step in a prediction.
        kept = self.rows(
            "SELECT tensors, activation_bytes + other_bytes, parameter_bytes, input_bytes FROM saved_memory "
            "WHERE nested = 0"
        )
        self.assertEqual(len(kept), 2)
        self.assertEqual(kept[0], kept[1])

    def fit(self, *words):
        return self.kymo_json("fit", "transformer_lm", *words)

    def test_fit_lists_what_fits_first(self):
        words = [*XL, "--set", "dtype=bf16", "--axis", "checkpoint=none,blocks,nested"]
        found = self.fit(*words, "--memory", "60Gi")
        self.assertEqual(found["device"], "cuda")
        fits = [choice["fits"] for choice in found["choices"]]
        self.assertEqual(fits, ["yes", "yes", "no"])
        self.assertEqual(json.loads(found["choices"][-1]["choice"])["checkpoint"], "none")
        self.assertEqual({choice["step_ms"] for choice in found["choices"]}, {None})
        text = self.kymo("fit", "transformer_lm", *words, "--memory", "200Gi").stdout
        self.assertIn("3 of 3 choices fit into 200 GiB", text)
        self.assertIn("no times of steps: the database has no peak rates", text)
        self.assertFalse((self.work / "kymo.db").exists())

    def test_fit_uses_the_peaks_of_the_database(self):
        for kind in (["kind=copy"], ["kind=matmul", "--set", "n=128"]):
            self.kymo("run", "peaks", "--device", "cpu", "--steps", "3", "--passes", "time", "--set", *kind)
        words = [*MODEL, "--device", "cpu", "--axis", "checkpoint=none,blocks", "--memory", "1Gi"]
        choices = {json.loads(row["choice"])["checkpoint"]: row for row in self.fit(*words)["choices"]}
        # A checkpoint computes the blocks again, so that the same work at the same rates takes longer.
        self.assertGreater(choices["none"]["step_ms"], 0)
        self.assertGreater(choices["blocks"]["step_ms"], choices["none"]["step_ms"])
        self.assertLess(choices["blocks"]["predicted_bytes"], choices["none"]["predicted_bytes"])

    @long_test
    def test_fit_varies_the_ranks_of_sharded_training(self):
        words = ["fit", "fsdp", "--set", "model=tiny", "--set", "context=32", "--set", "batch=1", "--set"]
        found = self.kymo_json(*words, "checkpoint=none", "--device", "cpu", "--memory", "1Gi")
        peaks = {choice["ranks"]: choice["predicted_bytes"] for choice in found["choices"]}
        self.assertEqual(sorted(peaks), [1, 2, 4, 8])
        self.assertGreater(peaks[1], peaks[2])
        self.assertGreater(peaks[2], peaks[8])

    @long_test
    def test_fit_predicts_workloads_in_python(self):
        workload = WORKLOADS / "feed_forward.py"
        self.run_kymo(workload, *METHOD, "--passes", "memory", "--axis", "batch")
        measured = dict(
            self.rows(
                "SELECT r.value, m.peak_allocated_bytes FROM memory_peak m "
                "JOIN run_parameter r ON r.run_id = m.run_id AND r.name = 'batch' WHERE m.phase = 'run'"
            )
        )
        for kind in (["kind=copy"], ["kind=matmul", "--set", "n=128"]):
            self.kymo("run", "peaks", "--device", "cpu", "--steps", "3", "--passes", "time", "--set", *kind)
        words = ["fit", workload, "--device", "cpu", "--memory", f"{1.03 * measured[128]:.0f}"]
        choices = self.kymo_json(*words)["choices"]
        found = {json.loads(choice["choice"])["batch"]: choice for choice in choices}
        self.assertEqual({batch: choice["fits"] for batch, choice in found.items()}, {64: "yes", 128: "yes", 256: "no"})
        self.assertEqual({choice["ranks"] for choice in choices}, {None})  # all have one rank
        for batch, choice in found.items():
            self.assertLess(abs(choice["predicted_bytes"] / measured[batch] - 1), 0.02, (choice, measured))
        self.assertAlmostEqual(found[256]["step_ms"], 4 * found[64]["step_ms"], delta=1e-6 * found[256]["step_ms"])
        text = self.kymo(*words, "--set", "dtype=bf16").stdout
        self.assertIn("no times of steps with matrix products in bf16: the database has no peak rate of these", text)

    def test_fit_counts_choices_that_cannot_be_predicted(self):
        workload = f"{WORKLOADS / 'unpredictable.py'}:unpredictable"
        done = self.kymo("fit", workload, "--device", "cpu", "--memory", "1Gi", code=3)
        self.assertIn("0 of 1 choices fit into 1.00 GiB; 1 could not be predicted", done.stdout)
        self.assertNotIn("yes", done.stdout)

    def test_fit_extrapolates_measured_steps(self):
        self.run_kymo("transformer_lm", *MODEL[:-2], *METHOD, "--passes", "memory", "--axis", "batch=2,4,16")
        ((measured,),) = self.rows("SELECT peak_allocated_bytes FROM memory_peak WHERE run_id = 3 AND phase = 'run'")
        choices = self.kymo_json("fit", "--runs", "1:2,2:4", "--memory", measured + 1000)["choices"]
        line = {row["batch"]: row for row in choices}
        self.assertEqual(list(line), ["2", "4", "8", "16", "32"])
        self.assertLess(abs(line["16"]["predicted_bytes"] / measured - 1), 0.01)
        self.assertEqual([row["fits"] for row in choices], ["yes", "yes", "yes", "yes", "no"])
        text = self.kymo("fit", "--runs", "1", "--memory", "1Mi").stdout
        self.assertIn("everything but parameters, gradients and optimizer state grows with it", text)
        self.assertIn("no", text)


if __name__ == "__main__":
    unittest.main()
