# SPDX-License-Identifier: Apache-2.0
"""Statements of the answers on kernels, number formats, memory blocks and attention in reports/cs336: each one with a
database that gives it and one that gives the opposite."""

import unittest

from answer_database import CPU, GPU, AnswerDatabase
from kymo_tool import KymoTest

TYPES = ("parameters", "first_layer", "layer_norm", "logits", "loss", "gradients")


class ModelAnswersTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.db = AnswerDatabase(self)

    def other_kernels(self, *kernels):
        """The answer to question 5 for forward kernels (class, ms) of the largest case; a smaller has no matmuls."""
        self.db.clear()
        for size, entries in (("small", [("softmax", 10)]), ("2.7B", kernels)):
            run_id = self.db.add_model("kernels", size=size, passes="trace", parameters={"mode": "forward"})
            self.db.add_kernels(run_id, [("forward", kind, "block", ms) for kind, ms in entries])
        return self.db.answer(5)

    def test_the_share_of_other_kernels_is_that_of_the_largest_case(self):
        text = self.other_kernels(("matmul", 90), ("elementwise", 3), ("softmax", 6.5), ("reduction", 0.5))
        self.assertIn("the matmuls, which take 90.0 % of forward (2.7B, context 128), 10.0 % go to other", text)
        self.assertIn("By class: softmax 6.5 %, elementwise 3.0 %.", text)
        self.assertNotIn("reduction", text)
        text = self.other_kernels(("matmul", 20), ("elementwise", 70), ("softmax", 10))
        self.assertIn("the matmuls, which take 20.0 % of forward (2.7B, context 128), 80.0 % go to other", text)
        self.assertIn("By class: elementwise 70.0 %, softmax 10.0 %.", text)
        text = self.other_kernels(("matmul", 100))
        self.assertIn("0.0 % go to other kernels.", text)
        self.assertNotIn("By class", text)

    def sums(self, **values):
        """The answer to question 8 for these sums of terms whose exact sum is 10."""
        self.db.clear()
        self.db.database.execute("DELETE FROM metric")
        for choice, (addition, value) in enumerate(values.items()):
            self.db.add(
                "accumulation", workload="accumulation", family="accumulation", phases={"step": 1},
                parameters={"addition": {"value": addition.replace("_", "-"), "choice": choice}},
                metrics={"sum": value, "exact_sum": 10.0, "term": 0.01},
            )  # fmt: skip
        return self.db.answer(8)

    def test_the_parts_of_the_error_in_fp16_are_those_of_the_sums(self):
        text = self.sums(fp32=10.0001, fp16=9.95, fp16_to_fp32=10.002, fp16_cast_to_fp32=10.002)
        self.assertIn("9.9500 in fp16, and 10.0020 for terms in fp16 that are added in fp32, whether they", text)
        self.assertIn("The error in fp16, -0.0500, has two parts: 0.0020 remains if the same terms are", text)
        self.assertIn("and -0.0520 comes from rounding the sum to fp16", text)
        self.assertIn("The sum loses more than the terms.", text)
        text = self.sums(fp32=10.0, fp16=10.03, fp16_to_fp32=10.02, fp16_cast_to_fp32=10.021)
        self.assertNotIn("whether they are cast first", text)
        self.assertIn("The error in fp16, 0.0300, has two parts: 0.0200 remains", text)
        self.assertIn("and 0.0100 comes from rounding the sum", text)
        self.assertIn("The sum does not lose more than the terms.", text)

    def add_types(self, device=GPU, dtype="fp16", squares=("inf", "90100", "90000"), **types):
        """Insert a run under autocast whose results have these types, and mean squares in fp16, bf16 and fp32."""
        metrics = {f"{name}_dtype": types.get(name, "float32") for name in TYPES}
        metrics.update(zip(("mean_square_fp16", "mean_square_bf16", "mean_square_fp32"), squares, strict=True))
        self.db.add(
            "autocast-types", workload="autocast_types", family="autocast_types", device=device, phases={"step": 1},
            parameters={"dtype": {"value": dtype, "choice": 0}}, metrics=metrics,
        )  # fmt: skip

    def test_the_types_are_those_of_one_device(self):
        self.add_types(first_layer="float16", logits="float16")
        text = self.db.answer(9)
        self.assertIn("the output of the first linear layer is float16, that of the layer norm float32, the", text)
        self.assertIn("Autocast computes the layer norm in another type than the matmuls.", text)
        self.add_types(device=CPU, first_layer="float16", layer_norm="float16", loss="float64")
        self.assertIn("that of the layer norm float32, the logits are float16, the loss is float32", self.db.answer(9))
        self.db.database.execute("DELETE FROM run WHERE device_kind = 'cuda'")
        text = self.db.answer(9)
        self.assertIn("that of the layer norm float16, the logits are float32, the loss is float64", text)
        self.assertIn("On this device (cpu), autocast leaves the layer norm in the type of its input.", text)

    def test_what_overflows_is_what_was_measured(self):
        self.add_types()
        self.assertIn("90000 in fp32: fp16 overflows, bf16 is off by 0.11 %.", self.db.answer(10))
        self.add_types(squares=("910", "inf", "900"))
        text = self.db.answer(10)
        self.assertIn("is 910 in fp16, inf in bf16 and 900 in fp32: fp16 is off by 1.1 %, bf16 overflows.", text)

    def test_the_largest_allocation_is_named_with_its_origin(self):
        def answer(*blocks):
            """The answer to question 16 for blocks of forward: (MiB, module, operator)."""
            self.db.clear()
            for table in ("metric", "allocation"):
                self.db.database.execute(f"DELETE FROM {table}")
            run_id = self.db.add_model(
                "memory", size="2.7B", passes="memory", parameters={"mode": "forward"},
                metrics={"residual_stream_bytes": 20 << 20},
            )  # fmt: skip
            for mib, module, operator in blocks:
                self.db.add_block(run_id, mib << 20, "forward", module, operator)
            return self.db.answer(16)

        text = answer((160, "block/attention/scores", "aten::bmm"), (40, "block/ffn", "aten::mm"))
        self.assertIn("The largest allocation of forward (2.7B, context 128, fp32) is 160 MiB", text)
        self.assertIn("in the module `block/attention/scores`, requested by `aten::bmm`.", text)
        self.assertIn("It is 8.00 times one tensor of the residual stream.", text)
        text = answer((10, "block/attention/scores", "aten::bmm"), (40, "block/ffn", "aten::mm"))
        self.assertIn("is 40.0 MiB, in the module `block/ffn`, requested by `aten::mm`.", text)
        self.assertIn("It is 2.00 times one tensor of the residual stream.", text)

    def saved(self, width, kept, gradient):
        """The answer to question 17 of the 2026 edition, for blocks of this width, whose forward pass adds 1 MiB to
        memory, of which autograd keeps `kept` MiB, and whose gradients have `gradient` MiB."""
        self.db.clear()
        for table in ("metric", "allocation", "saved_tensor", '"range"'):
            self.db.database.execute(f"DELETE FROM {table}")
        run_id = self.db.add_model("memory", passes="memory", metrics={"d_model": width, "d_ff": 4 * width})
        columns = {"run_id": run_id, "rank": 0, "pass": "memory"}
        for sequence, (phase, start) in enumerate((("forward", 0), ("backward", 100))):
            self.db.insert(
                "range", **columns, sequence=sequence, kind="phase", name_id=self.db.text_id(phase), step=6, thread=0,
                start_ns=start, end_ns=start + 100,
            )  # fmt: skip
        self.db.insert(
            "saved_tensor", **columns, sequence=0, step=6, nested=0, node_id=self.db.text_id("MulBackward0"),
            scope_id=self.db.scope_id("block_0"), type_id=self.db.text_id("f32[1]"), bytes=int(kept * (1 << 20)),
            storage=0, storage_bytes=int(kept * (1 << 20)), counted_bytes=int(kept * (1 << 20)), memory="activation",
        )  # fmt: skip
        self.db.add_block(run_id, 1 << 20, "forward", "block_0", "aten::mul", alloc_ns=10)
        self.db.add_block(
            run_id, int(gradient * (1 << 20)), "backward", "block_0", "aten::mm", alloc_ns=110, category="gradient"
        )
        return self.db.answer(17, "cs336-2026")

    def test_what_a_block_saves_is_compared_with_memory_and_the_formula(self):
        expected = (4 * 256 * 256 + 3 * 256 * 1024 + 2 * 256) * 4 / (1 << 20)
        text = self.saved(256, 1, expected)
        self.assertIn("saves 1.00 MiB, 100.0 % of all activations that are kept.", text)
        self.assertIn("What autograd keeps is what the forward pass adds to memory, within 1 %.", text)
        self.assertIn("of parameters; by the formula, with 4 bytes per element, they have 4.00 MiB. That is as", text)
        text = self.saved(256, 0.25, 2 * expected)
        self.assertIn("saves 256 KiB, ", text)
        self.assertIn("The forward pass adds 4 times as much to memory as autograd keeps.", text)
        self.assertIn("they have 4.00 MiB. Measured are 2 times as many.", text)

    def attention(self, dtype="bf16", **milliseconds):
        """The answer to question 20: forward times in ms by sequence length, backward takes twice as long."""
        self.db.clear()
        self.db.database.execute("DELETE FROM work")
        self.db.database.execute("UPDATE device SET multiprocessors = 4")
        for order, (implementation, times) in enumerate(milliseconds.items()):
            for seq, ms in times.items():
                for mode, factor in (("forward", 1), ("backward", 2)):
                    run_id = self.db.add(
                        "flash", workload=f"attention_{implementation}", family="attention", title=implementation,
                        parameters={
                            "batch": 1, "heads": 1, "seq": seq, "head_dim": 64, "dtype": dtype, "causal": True,
                            "mode": mode,
                        },
                        phases={mode: factor * ms, "step": factor * ms},
                    )  # fmt: skip
                    self.db.insert("work", run_id=run_id, rank=0, phase=mode, flops=1e9, bytes=0)
                    self.db.database.execute("UPDATE run SET family_order = ? WHERE run_id = ?", (order, run_id))
        return self.db.answer(20)

    def test_the_own_kernel_may_be_slower(self):
        text = self.attention(naive={1024: 8, 2048: 40}, flash={1024: 4, 2048: 10})
        self.assertIn("(shapes that both ran: 2): forward is 2.00 to 4.00 times as fast", text)
        self.assertIn("it is faster in 2 of 2. At the longest common length, 2048: 4.00 times as fast.", text)
        self.assertIn("flash in 2 shapes.", text)
        self.assertIn("The highest rate is 0.250 TFLOP/s in forward (flash, bf16, head dim 64, length 1024", text)
        text = self.attention(naive={1024: 8, 2048: 10}, flash={1024: 4, 2048: 30})
        self.assertIn("forward is 2.00 times as fast to 3.00 times as long", text)
        self.assertIn("it is faster in 1 of 2. At the longest common length, 2048: 3.00 times as long.", text)
        self.assertIn("flash in 1 shape, naive in 1 shape.", text)
        text = self.attention(naive={1024: 2}, flash={1024: 4})
        self.assertIn("both together 2.00 times as long; it is faster in 0 of 1.", text)
        self.assertIn("The highest rate is 0.500 TFLOP/s in forward (naive, bf16", text)

    def test_the_peak_is_that_of_the_units_that_compute(self):
        self.db.database.execute("UPDATE device SET name = 'H200', max_sm_clock_mhz = 1000")
        flash = {1024: 1}  # 1 TFLOP/s of 4 multiprocessors × 4096 operations × 1 GHz
        self.assertIn("length 1024, causal), 6.1 % of the device peak.", self.attention(flash=flash))
        text = self.attention(dtype="fp32", flash=flash)
        self.assertIn("is 1.00 TFLOP/s in forward (flash, fp32, head dim 64, length 1024, causal).", text)


if __name__ == "__main__":
    unittest.main()
