# SPDX-License-Identifier: Apache-2.0
"""Every statement of the answers in reports/cs336 follows from the database: constructed runs whose numbers say the
opposite change it."""

import importlib.util
import unittest

from answer_database import ROOT, AnswerDatabase
from kymo_tool import KymoTest, needs_installed

STEP = {"forward": 5, "backward": 10, "optimizer": 5}


class AnswersTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.db = AnswerDatabase(self)

    def assert_in_order(self, text, *parts):
        """Each part occurs after the one before."""
        position = 0
        for part in parts:
            found = text.find(part, position)
            self.assertNotEqual(found, -1, f"'{part}' not found in:\n{text}")
            position = found + len(part)

    def test_the_spread_of_processes_decides_what_is_noise(self):
        def differ(processes):
            """The verdict on 100 and 105 ms, when the runs of one case take `processes` ms."""
            self.db.clear()
            for ms in processes:
                self.db.add_model("timing", phases={"step": ms}, size="medium")
            self.db.add_model("timing-warmup", warmup=0, phases={"step": 100})
            self.db.add_model("timing-warmup", warmup=5, phases={"step": 105}, case_key="another")
            return self.db.report()

        same = differ([])
        self.assertIn("was not measured, because no case ran in several processes", same)
        self.assert_in_order(same, "Question 2.", "4.8 % faster, outside the noise")
        quiet = differ([50, 50.5])
        self.assert_in_order(quiet, "differ by 1 % (median of the cases), at most by 1 %, from 50 to 50.5 ms")
        self.assert_in_order(quiet, "Question 2.", "4.8 % faster, outside the noise")
        noisy = differ([50, 55])
        self.assert_in_order(noisy, "Question 2.", "4.8 % faster, within the noise")

    def test_runs_of_one_case_that_disagree_fail_a_check(self):
        self.db.add_model("timing", phases={"step": 16})
        self.db.add_model("timing-warmup", phases={"step": 22})
        self.db.add_model("timing-warmup", warmup=0, phases={"step": 90})
        text = self.db.section("At a glance")
        self.assertRegex(text, r"\| repeated case \| [^|]* \| 2 \| 1 \| a step takes 22 ms in case timing-warmup")
        self.assertRegex(text, r"\| memory by category \| [^|]* \| 0 \| 0 \|")

    def test_runs_with_lowered_clocks_are_counted(self):
        for reasons, mhz in ((4, 1600), (0, 1980), (0, 1965)):
            run_id = self.db.add_model("timing", context=mhz, phases={"step": 20})
            for step in (5, 6, 7):
                self.db.insert(
                    "gpu_sample", run_id=run_id, rank=0, **{"pass": "time"}, step=step, time_ns=step,
                    sm_clock_mhz=mhz, memory_clock_mhz=2619, power_mw=699000, throttle_reasons=reasons,
                )  # fmt: skip
        text = self.db.section("At a glance")
        self.assertIn("In 1 of 3 runs, the power limit lowered the SM clock in most readings, to 1600 to 1600", text)
        self.assertIn("the others ran at 1965 to 1980 MHz", text)

    def test_how_variable_times_are_counts_cases(self):
        self.db.add_model("timing", phases={"step": (20, 19.99, 20.01)})
        self.db.add_model("timing", context=256, phases={"step": (20, 18, 22)})
        self.assertIn("It is below 1 % in 1 of 2 cases and above 10 % in 1.", self.db.answer(1))

    def test_times_that_the_host_determines_are_named(self):
        for busy, size in ((30, "small"), (95, "medium")):
            self.db.add_model("timing", size=size, phases={"step": 100})
            run_id = self.db.add_model("kernels", size=size, passes="time,trace", phases={"step": 100})
            self.db.add_kernels(run_id, [("forward", "matmul", "block", busy)])
            self.db.add_activity(run_id, "step", 100, busy)
        text = self.db.answer(1)
        self.assertIn("In 1 of 2 traced cases, the GPU is busy for less than 80 % of the step (least: 30 %,", text)
        self.assertRegex(text, r"\| medium .*\| 95 \|")

    def profile(self, forward, train):
        """Inference and a training step of which matmuls take these shares in percent."""
        for mode, share in (("forward", forward), ("train", train)):
            run_id = self.db.add_model("kernels", passes="trace", parameters={"mode": mode})
            kernels = [("forward", "matmul", "block", share), ("forward", "softmax", "block", 100 - share)]
            self.db.add_kernels(run_id, kernels)

    def test_the_share_of_matmuls_in_a_training_step(self):
        for forward, train, verdict, counts in (
            (80, 60, "less", "smaller in the training step in 1, larger in 0"),
            (60, 80, "more", "smaller in the training step in 0, larger in 1"),
            (80, 80.5, "about the same", "changes by less than two percent of it in 1"),
        ):
            with self.subTest(verdict):
                self.db.clear()
                self.profile(forward, train)
                text = self.db.answer(6)
                self.assertIn(f"of a training step: {verdict}.", text)
                self.assertIn(counts, text)
                self.assertRegex(text, rf"\| {verdict} \|")

    def test_the_gain_of_mixed_precision_with_size(self):
        def gains(*ratios):
            self.db.clear()
            for size, ratio in zip(("small", "medium", "large"), ratios, strict=False):
                self.db.add_model("timing", size=size, phases={"forward": 10, "backward": 20})
                parameters = {"autocast": True}
                phases = {"forward": 10 * ratio, "backward": 20 * ratio}
                self.db.add_model("timing-autocast", size=size, parameters=parameters, phases=phases)
            return self.db.answer(11)

        self.assertIn("it gains more with every size: small 10.0 % faster", gains(0.9, 0.7, 0.5))
        self.assertIn("it gains less with every size", gains(0.5, 0.7, 0.9))
        mixed = gains(0.9, 1.2, 0.5)
        self.assertIn("the gain does not change in one direction with size", mixed)
        self.assertIn("medium 20.0 % slower", mixed)
        self.assertIn("Only one size was measured", gains(0.5))

    def attention_kernels(self, softmax):
        run_id = self.db.add_model(
            "kernels",
            passes="trace",
            parameters={"mode": "forward"},
            metrics={"attention_scores_flops": 4e9, "attention_softmax_flops": 1e9, "attention_values_flops": 4e9},
        )
        self.db.add_kernels(
            run_id,
            [
                ("forward", "matmul", "block/attention/scores", 2),
                ("forward", "elementwise", "block/attention/scores", 6),
                ("forward", "softmax", "block/attention/softmax", softmax),
                ("forward", "matmul", "block/attention/values", 2),
            ],
        )

    def test_scaling_and_masking_are_not_matmuls(self):
        self.attention_kernels(8)
        text = self.db.answer(7)
        self.assertIn("2.00 times the time of the two matmuls, with 0.12 times their operations", text)
        self.assertIn("takes 16 times as long as one of the matmuls", text)
        self.assertRegex(text, r"\| small +\| 128 \| 8.00 \| 8.00 \| 2.00 \| 6.00 \|")

    def test_a_softmax_may_be_as_fast_as_the_matmuls(self):
        self.attention_kernels(0.25)
        self.assertIn("takes no longer than one of the matmuls", self.db.answer(7))

    def test_what_mixed_precision_changes_in_memory(self):
        def verdict(mixed_activations):
            self.db.clear()
            for autocast, activations in ((False, 20), (True, mixed_activations)):
                for mode in ("forward", "train"):
                    run_id = self.db.add_model(
                        "memory", passes="memory", parameters={"mode": mode, "autocast": autocast}
                    )
                    self.db.add_peak(run_id, "forward", {"parameter": 10, "activation": activations})
            return self.db.answer(14)

        half = verdict(10)
        changed = "The largest change is that of activations, from 20.0 GiB"
        self.assertIn(f"A full step needs 33.3 % less. {changed} to 10.0 GiB", half)
        self.assertIn("remain in fp32, are 50 % of the peak", half)
        self.assertIn(f"A full step needs 16.7 % more. {changed} to 25.0 GiB", verdict(25))
        self.assertIn("A full step needs about as much.", verdict(20.5))

    def test_what_disagrees_with_the_timer(self):
        def answer(profiled):
            self.db.clear()
            run_id = self.db.add_model(
                "kernels", passes="time,trace", parameters={"mode": "forward"}, phases={"forward": 10, "step": 10}
            )
            self.db.add_kernels(run_id, [("forward", "matmul", "block", 5)])
            self.db.add_activity(run_id, "forward", profiled, 5)
            return self.db.answer(3)

        self.assertIn("They agree in every case", answer(10.1))
        text = answer(12.5)
        self.assertIn("They disagree in 1 of 1 cases", text)
        self.assertIn("small at context 128 by +25.0 %, with kernels for 40 % of the profiled time", text)

    def out_of_memory(self, live, reserved, request=32):
        """Attention of length 65536 with 16 GiB per score matrix, on a device of 79.2 GiB."""
        matrix = {"batch": 1, "heads": 1, "seq": 65536, "head_dim": 16, "dtype": "fp32", "causal": True}
        run_id = self.db.add(
            "attention-memory-blocks",
            workload="attention_naive",
            family="attention",
            status="oom",
            passes="memory",
            parameters={**matrix, "mode": "forward_backward"},
        )
        execute = self.db.database.execute
        execute("UPDATE rank SET reserved_peak_bytes = ? WHERE run_id = ?", (reserved << 30, run_id))
        self.db.insert(
            "out_of_memory", run_id=run_id, rank=0, **{"pass": "memory"}, location="device",
            requested_bytes=request << 30, free_bytes=1 << 30, peak_bytes=live << 30,
        )  # fmt: skip
        for sequence in range(live // 16):
            self.db.insert(
                "allocation", run_id=run_id, rank=0, **{"pass": "memory"}, sequence=sequence, device="cuda",
                address=sequence, requested_bytes=16 << 30, allocated_bytes=16 << 30, alloc_ns=sequence, stream=0,
                thread=0, step=0, category="activation", category_source="lifetime",
            )  # fmt: skip
        return self.db.answer(17)

    def test_fragmentation_is_told_from_a_device_that_is_full(self):
        self.assertIn(
            "The live blocks (32.0 GiB) and the request would fit into the 79.2 GiB of the device: the allocator holds "
            "40.0 GiB in which no block is long enough, so that fragmentation is the cause.",
            self.out_of_memory(32, 72),
        )

    def test_a_full_device_is_told_from_fragmentation(self):
        self.assertIn(
            "The live blocks (64.0 GiB) and the request exceed the 79.2 GiB of the device: the score matrices, which "
            "are quadratic in the sequence length, exhaust the memory.",
            self.out_of_memory(64, 72),
        )

    def test_sentence_and_table_of_compiled_attention_have_the_same_pairs(self):
        for device_id, uuid in ((8, "gpu-8"), (9, "gpu-9")):
            self.db.insert("device", device_id=device_id, uuid=uuid, kind="cuda", name="A GPU", memory_bytes=10)
        for compile_mode, choice, ms, device_id in (("none", 0, 10, 8), ("default", 1, 5, 9)):
            run_id = self.db.add(
                "compiled-attention",
                workload="attention_compiled",
                family="attention",
                parameters={
                    "batch": 8, "heads": 1, "seq": 256, "head_dim": 64, "dtype": "fp32", "causal": True,
                    "mode": "forward_backward", "compile": {"value": compile_mode, "choice": choice},
                },
                phases={"forward": ms, "backward": ms, "step": 2 * ms},
            )  # fmt: skip
            self.db.database.execute("UPDATE rank SET device_id = ? WHERE run_id = ?", (device_id, run_id))
        text = self.db.answer(18)
        self.assertIn("2.00 times as fast (cases: 1)", text)
        self.assertIn("makes 1 of 1 cases faster and 0 of 1 slower", text)
        self.assertRegex(text, r"\| fp32 \| 64 \| 256 \|.*\| 2.00 \|")

    def test_the_limits_of_the_mesh_follow_from_its_bandwidth(self):
        self.db.add_model("timing", phases={"step": 20})
        text = self.db.answer(32)
        self.assertIn("that is 319 tokens per device, 20444 overall", text)
        self.assertNotIn("measured here", text)
        self.assertIn("lowers the limit of B / N from C / (W · Y · M_X) = 319", self.db.answer(33))

    def test_the_mesh_is_also_given_at_measured_rates(self):
        for gb_s, met in ((18, "no"), (360, "yes")):
            self.db.clear()
            self.db.add_bandwidth(gb_s)
            self.db.add_rate(460)
            text = self.db.answer(32)
            self.assertIn("that is 319 tokens per device, 20444 overall", text)
            self.assertRegex(text, rf"\| measured here, nccl \|.*\| {met} \|")

    def test_implementations_without_verification_are_named(self):
        self.db.add_model("timing", phases={"step": 20})
        self.assertIn("Without a verification in this database: tiled attention,", self.db.section("Implementations"))


@needs_installed(importlib.util.find_spec("typst"), "the Python package typst")
class HandInTest(KymoTest):
    def test_one_command_writes_a_short_pdf_and_all_rows(self):
        database = AnswerDatabase(self)
        for context in range(100, 120):
            database.add_model("timing", context=context, phases={"step": 20, "forward": 5, "backward": 10})
        self.kymo("report", ROOT / "reports" / "cs336", "--hand-in", "--out", "short")
        self.assertTrue((self.work / "short" / "report.pdf").read_bytes().startswith(b"%PDF"))
        rows = (self.work / "short" / "tables" / "timing.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(rows), 21)

    def test_the_text_is_shortened_in_every_format(self):
        database = AnswerDatabase(self)
        for context in range(100, 120):
            database.add_model("timing", context=context, phases={"step": 20, "forward": 5, "backward": 10})
        self.kymo("report", ROOT / "reports" / "cs336", "--hand-in", "--format", "markdown", "--out", "short")
        text = (self.work / "short" / "report.md").read_text(encoding="utf-8")
        self.assertIn("7 of 20 rows; the others are in `tables/timing.csv`.", text)
        self.assertNotIn("## Appendix", text)
        self.assertNotIn("Not in this database", text)
        self.assertIn("- Question 24. Data parallelism: one call per parameter", text)


if __name__ == "__main__":
    unittest.main()
