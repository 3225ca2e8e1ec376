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
        self.assertIn("; the others ran at 1965 to 1980 MHz. Times", text)
        self.db.database.execute("UPDATE gpu_sample SET throttle_reasons = 4")
        text = self.db.section("At a glance")
        self.assertIn(
            "In 3 of 3 runs, the power limit lowered the SM clock in most readings, to 1600 to 1980 MHz. T", text
        )

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

    def test_the_times_of_compiled_attention_have_their_spread(self):
        for compile_mode, choice in (("none", 0), ("default", 1)):
            self.db.add(
                "compiled-attention",
                workload="attention_compiled",
                family="attention",
                parameters={
                    "batch": 8, "heads": 1, "seq": 256, "head_dim": 64, "dtype": "fp32", "causal": True,
                    "mode": "forward_backward", "compile": {"value": compile_mode, "choice": choice},
                },
                phases={"forward": (10, 9, 11), "backward": (20, 19.5, 20.5), "step": 30},
            )  # fmt: skip
        row = "| fp32 | 64 | 256 | 10.0 ± 2.0 | 10.0 ± 2.0 | 20.0 ± 1.0 | 20.0 ± 1.0 | 1.00 |"
        self.assertIn(row, self.db.answer(18))

    def test_the_time_of_a_compiled_model_has_its_spread(self):
        for compile_mode, choice in (("none", 0), ("default", 1)):
            self.db.add_model(
                "compiled-model", workload="transformer_compiled", phases={"step": (80, 70, 90)},
                parameters={"compile": {"value": compile_mode, "choice": choice, "title": "{}"}},
            )  # fmt: skip
        text = self.db.answer(19)
        self.assertIn("| full step | 80.0 ± 20.0 | 80.0 ± 20.0 |", text)
        self.assertNotIn("compiling takes", text)

    def overlapped(self, backward, communication):
        """The answer to question 26 when one call per parameter takes 20 ms after 100 ms of backward."""
        self.db.clear()
        self.db.add_ddp("ddp-naive", "ddp_naive", {"backward": 100, "communication": 20}, order=0)
        self.db.add_ddp("ddp-overlap", "ddp_overlap", {"backward": backward, "communication": communication})
        return self.db.answer(26)

    def test_what_overlap_costs_in_backward(self):
        self.assertIn("5 of the 15 ms that it hides return as a slower backward", self.overlapped(105, 5))
        self.assertIn("backward hides communication and does not get slower", self.overlapped(99, 5))
        self.assertIn("costs as much time there as it saves", self.overlapped(120, 5))
        self.assertIn("grows from 20.0 ms to 25.0 ms", self.overlapped(100, 25))

    def test_weights_are_equal_only_if_every_check_passed(self):
        def answer(*outcomes):
            self.db.clear()
            run_id = self.db.add_ddp("ddp-naive", "ddp_naive", {"backward": 100, "communication": 20}, order=0)
            for number, outcome in enumerate(outcomes):
                self.db.insert(
                    "verification", run_id=run_id, rank=0, name=f"weights {number}", outcome=outcome,
                    max_abs_error=1e-7, tolerance=1e-6, reference="a single process", detail="",
                )  # fmt: skip
            return self.db.answer(23)

        self.assertIn("Yes. Checks that passed", answer("passed", "passed"))
        self.assertIn("No: a check failed. Checks that passed", answer("passed", "failed"))
        text = answer("passed", "unavailable")
        self.assertIn("Not answered: a check was not possible. Checks that passed", text)
        self.assertNotIn("No: a check failed", text)

    def test_what_the_size_of_a_message_costs(self):
        def answer(short_ms, long_ms):
            self.db.clear()
            for size, ms in ((1_000_000, short_ms), (100_000_000, long_ms)):
                self.db.add(
                    "collectives-nccl", workload="all_reduce", family="collective", ranks=2,
                    parameters={"backend": "nccl", "bytes": size, "dtype": "fp32", "in_place": True},
                    phases={"step": ms},
                )  # fmt: skip
            return self.db.answer(22)

        self.assertIn("most of the time of the short one is the cost of a call", answer(1, 3))
        self.assertIn("the time is about proportional to the size", answer(1, 90))
        self.assertIn("the bandwidth falls with the size", answer(1, 300))

    def test_planned_runs_that_were_not_started_are_named(self):
        self.db.add_model("kernels", phases={"step": 20}, parameters={"mode": "forward"})
        self.db.database.execute("UPDATE invocation SET ended_at = '2026-01-04', exit_code = 130")
        text = self.db.report()
        self.assertNotIn("not started:", text)
        self.assertNotIn("Planned, but", text)
        for context in (512, 1024):
            self.db.plan_model("kernels", size="2.7B", context=context)
        for context in range(30):
            self.db.plan_model("memory", context=context)
        reason = "the command was interrupted by SIGINT"
        for name in ("cs336", "cs336-2026"):
            text = self.db.report(name)
            self.assertIn("lanned runs that were not started: 32", text)
            self.assert_in_order(text, "At a glance", "Planned, but not started: 32.", "What was not measured")
            self.assertRegex(text, rf"\| kernels \| 1 of 3 \| 2 not started: {reason} \|")
            self.assertRegex(text, rf"\| memory \| 0 of 30 \| 30 not started: {reason} \|")
            status = "Status of every run of the suite."
            self.assert_in_order(text, status, "| `kernels` | context=512 | 5 | not started | – |")
            self.assert_in_order(text, status, "| `kernels` | context=1024 | 5 | not started | – |")
            self.assert_in_order(text, status, "| `memory` | 30 runs | 5 | not started | – |")

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
