# SPDX-License-Identifier: Apache-2.0
"""What autograd keeps for the backward pass: in programs in plain PyTorch, and in blocks of the included model, against
counts by hand; and checkpoints, which keep less."""

import unittest

from kymo_tool import KymoTest, long_test, needs_torch_parts
from trace_program_test import PROGRAMS, TraceTest

STEPS = 14
WORKLOADS = PROGRAMS.parent / "workloads" / "saved_blocks.py"
KEPT = (
    "SELECT node.text, type.text, memory, counted_bytes FROM saved_tensor s "
    "JOIN string node ON node.string_id = s.node_id JOIN string type ON type.string_id = s.type_id "
    "WHERE nested = 0 ORDER BY sequence"
)


@needs_torch_parts
class ProgramsTest(TraceTest):
    def observe(self, kind):
        self.environment.pop("KYMO_TEST_LIGHT_TORCH", None)
        done = self.trace(PROGRAMS / "saved.py", kind, STEPS, options=["--passes", "memory", "--steps", "5:10"])
        self.assertEqual(self.outcome(), ("ok", ""), done.stderr)
        return done

    def saved(self, kind):
        done = self.observe(kind)
        self.assertEqual(self.rows("SELECT count FROM dropped_record WHERE source = 'kymo_torch'"), [])
        return self.rows(KEPT), int(done.stdout.split()[1])

    def test_an_rms_norm_keeps_six_tensors_in_three_storages(self):
        """x for its square and for the product, the inverse root for itself and for the product, and both factors of
        the product with the weight. x is an input of the step."""
        rows, _ = self.saved("norm")
        self.assertEqual(sorted(node for node, *_ in rows), ["MulBackward0"] * 4 + ["PowBackward0", "RsqrtBackward0"])
        size = 4 * 512 * 2560 * 4
        sizes = [(memory, counted) for _, _, memory, counted in rows if counted]
        self.assertEqual(
            sorted(sizes), [("activation", 4 * 512 * 4), ("activation", size), ("other", size), ("parameter", 2560 * 4)]
        )

    @long_test
    def test_a_compiled_rms_norm_keeps_three_tensors(self):
        rows, _ = self.saved("compiled")
        self.assertEqual({node for node, *_ in rows}, {"CompiledFunctionBackward"})
        self.assertEqual(len(rows), 3)

    def test_a_function_in_python_keeps_what_it_saves(self):
        rows, _ = self.saved("function")
        size = 4 * 512 * 2560 * 4
        self.assertIn(("ExpBackward0", "f32[4, 512, 2560]", "activation", size), rows)
        self.assertIn(("DoubledBackward", "f32[4, 512, 2560]", "activation", 0), rows, "it shares the result of exp")

    @long_test
    def test_the_sum_is_the_growth_of_memory_in_the_forward_pass(self):
        _, held = self.saved("gpt")
        ((activations, growth),) = self.rows("SELECT activation_bytes, growth_bytes FROM saved_memory WHERE nested = 0")
        self.assertAlmostEqual(activations, growth - held, delta=0.01 * growth)
        modules = dict(self.rows("SELECT module, instances FROM saved_by_module WHERE nested = 0"))
        self.assertEqual([count for module, count in modules.items() if module.endswith("blocks.*")], [3], modules)
        ((gradients,),) = self.rows(
            "SELECT gradient_bytes_per_instance FROM saved_by_module WHERE module LIKE '%blocks.*' AND nested = 0"
        )
        width = 96
        self.assertEqual(gradients, 4 * (12 * width * width + 13 * width))

    def test_tensors_that_the_program_replaces_are_reported(self):
        self.observe("checkpointed")
        ((detail,),) = self.rows("SELECT detail FROM dropped_record WHERE source = 'kymo_torch'")
        self.assertIn("hooks replace", detail)


@needs_torch_parts
class PredictionTest(KymoTest):
    """What autograd keeps of code that torch.compile compiles, by prediction: with the sizes of the course's
    assignment, which exceed the memory of small machines."""

    def predict(self, workload, *words):
        """For each run: MiB of the tensors that are no parameters, as hooks of autograd count them, where memory that
        tensors share counts for each; and MiB of their memory."""
        self.kymo("run", f"{WORKLOADS}:{workload}", "--device", "cpu", "--passes", "predict", *words)
        self.assertEqual(self.rows("SELECT DISTINCT status, detail FROM run"), [("ok", "")])
        self.assertEqual(self.rows("SELECT source, detail FROM dropped_record"), [])
        return self.rows(
            "SELECT sum(bytes) / 1048576.0, sum(counted_bytes) / 1048576.0 FROM saved_tensor "
            "WHERE memory <> 'parameter' AND nested = 0 GROUP BY run_id ORDER BY run_id"
        )

    @long_test
    def test_compiled_blocks(self):
        n, d, f, context = 4 * 2048, 2560, 10240, 2048
        expected = []
        for heads, one in ((16, 3651.3125), (32, 5700.6875)):
            # Both norms, two factors of the rotation; of softmax the largest value, its index and the sum.
            small = 2 * n + context * d // heads + 4 * n * heads
            self.assertEqual(one, (8 * n * d + 3 * n * f + 2 * n * heads * context + small) * 4 / 2**20)
            rotation = context * d // heads * 4 / 2**20  # which the blocks share
            expected += [(one, one), (4 * one, 4 * one - 3 * rotation)]
        self.assertEqual(self.predict("saved_blocks", "--axis", "heads=16,32", "--axis", "blocks=1,4"), expected)

    @long_test
    def test_two_checkpoints_of_two_compiled_blocks(self):
        words = ["--set", "blocks=4", "--set", "checkpointed=2", "--axis", "heads=16,32"]
        self.assertEqual(self.predict("saved_blocks", *words), [(160, 160)] * 2)

    @long_test
    def test_norms(self):
        self.predict("saved_norm", "--axis", "compiled=true,false")
        self.assertEqual(self.rows("SELECT tensors FROM saved_memory WHERE nested = 0 ORDER BY run_id"), [(3,), (6,)])

    def test_a_prediction_equals_a_measurement(self):
        small = ["width=32", "hidden=64", "heads=4", "context=24", "blocks=2"]
        words = [word for setting in small for word in ("--set", setting)]
        self.kymo(
            "run", f"{WORKLOADS}:saved_blocks", "--device", "cpu", "--passes", "predict,memory", *words, "--axis",
            "compiled=true,false", "--set", "backend=aot_eager", "--warmup", "1", "--observed-steps", "1",
        )  # fmt: skip
        # Scalars, such as the factor of a product, are made before the step in a prediction.
        kept = (
            "SELECT run_id, tensors, activation_bytes + other_bytes, parameter_bytes, input_bytes FROM saved_memory "
            "WHERE nested = 0 AND pass = '{}' ORDER BY run_id"
        )
        predicted, measured = (self.rows(kept.format(name)) for name in ("predict", "memory"))
        self.assertEqual(len(predicted), 2)
        self.assertEqual(predicted, measured)
        peaks = self.rows("SELECT predicted_bytes, measured_bytes FROM memory_prediction")
        self.assertEqual(len(peaks), 2)
        for predicted, measured in peaks:
            self.assertAlmostEqual(predicted, measured, delta=16)  # two scalars
        self.assertIn("predicted", self.kymo("show").stdout)


@needs_torch_parts
class CheckpointsTest(KymoTest):
    """Six blocks on the CPU in fp32."""

    BATCH, CONTEXT, WIDTH, FORWARD, HEADS = 2, 48, 64, 96, 4
    MODEL = [
        "--set", "size=custom", "--set", "layers=6", "--set", f"d_model={WIDTH}", "--set", f"d_ff={FORWARD}",
        "--set", f"heads={HEADS}", "--set", f"context={CONTEXT}", "--set", f"batch={BATCH}", "--set", "vocab_size=50",
    ]  # fmt: skip

    def sweep(self, *words):
        runs = self.kymo_json(
            "run", "transformer_lm", *self.MODEL, "--device", "cpu", "--passes", "time,memory,ops", "--steps", "3",
            "--warmup", "1", "--fresh", *words,
        )  # fmt: skip
        return {run["parameters"]["checkpoint"]: run for run in runs["runs"]}

    def test_checkpoints_lower_the_peak_and_leave_the_loss(self):
        runs = self.sweep("--axis", "checkpoint=none,blocks,nested,selective")
        self.assertEqual({run["status"] for run in runs.values()}, {"ok"})
        losses = {
            kind: [run["metrics"][name]["value"] for name in ("loss_first", "loss_last")] for kind, run in runs.items()
        }
        self.assertEqual(losses["blocks"], losses["none"])
        self.assertEqual(losses["nested"], losses["none"])
        self.assertEqual(losses["selective"], losses["none"])
        peaks, kept = {}, {}
        for kind, run in runs.items():
            number = run["run_id"]
            ((peaks[kind],),) = self.rows(
                f"SELECT peak_allocated_bytes FROM memory_peak WHERE run_id = {number} AND phase = 'step'"
            )
            ((kept[kind],),) = self.rows(
                f"SELECT activation_bytes FROM saved_memory WHERE run_id = {number} AND nested = 0"
            )
            phases = {phase for (phase,) in self.rows(f"SELECT DISTINCT phase FROM phase_time WHERE run_id = {number}")}
            self.assertEqual("recompute" in phases, kind != "none")
        for kind in ("blocks", "nested", "selective"):
            self.assertLess(peaks[kind], peaks["none"])
            self.assertLess(kept[kind], kept["none"])
            modules = self.rows(
                f"SELECT module FROM op_by_scope WHERE run_id = {runs[kind]['run_id']} AND phase = 'recompute'"
            )
            self.assertTrue(modules)
            self.assertTrue(all((module or "").startswith("block") for (module,) in modules), modules)
        self.assertLess(kept["nested"], kept["blocks"])

    def test_a_block_keeps_what_a_count_by_hand_says(self):
        runs = self.sweep("--axis", "checkpoint=none,selective")
        run = runs["none"]
        tokens = self.BATCH * self.CONTEXT
        stream = tokens * self.WIDTH
        # A norm keeps its input, the inverse root, and the normalized input; the projection after it, the result.
        norm_and_projection = 3 * stream + tokens
        # Query, key and value in one tensor, the scaled query, the weights, and the input of the output projection.
        attention = 5 * stream + self.BATCH * self.HEADS * self.CONTEXT**2
        # Gate and up in one tensor, the activated gate, and its product with up.
        feed_forward = 4 * tokens * self.FORWARD
        expected = 4 * (2 * norm_and_projection + attention + feed_forward)
        ((instances, kept, gradients),) = self.rows(
            "SELECT instances, bytes_per_instance, gradient_bytes_per_instance FROM saved_by_module "
            f"WHERE run_id = {run['run_id']} AND nested = 0 AND module = 'block'"
        )
        self.assertEqual((instances, kept), (6, expected))
        # The inputs of both norms, query, key and value, the input of the output projection, and gate and up.
        selective = 4 * (6 * stream + 2 * tokens * self.FORWARD)
        ((kept,),) = self.rows(
            f"SELECT bytes_per_instance FROM saved_by_module WHERE run_id = {runs['selective']['run_id']} "
            "AND nested = 0 AND module = 'block'"
        )
        self.assertEqual(kept, selective)
        self.assertEqual(gradients, 4 * (4 * self.WIDTH**2 + 3 * self.WIDTH * self.FORWARD + 2 * self.WIDTH))


if __name__ == "__main__":
    unittest.main()
