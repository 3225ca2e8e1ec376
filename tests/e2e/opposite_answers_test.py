# SPDX-License-Identifier: Apache-2.0
"""Statements of the answers in reports/cs336 on memory, attention and data parallelism: each one with a database that
gives it and one that gives the opposite."""

import unittest

from answer_database import GIB, AnswerDatabase
from kymo_tool import KymoTest


class OppositeAnswersTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.db = AnswerDatabase(self)

    def test_the_share_of_kernels_is_named_only_where_there_are_kernels(self):
        for busy, named in ((5, True), (0, False)):
            self.db.clear()
            phases = {"forward": 10, "step": 10}
            run_id = self.db.add_model("kernels", passes="time,trace", parameters={"mode": "forward"}, phases=phases)
            self.db.add_kernels(run_id, [("forward", "matmul", "block", busy)])
            self.db.add_activity(run_id, "forward", 12.5, busy)
            text = self.db.answer(3)
            self.assertIn("small at context 128 by +25.0 %", text)
            (self.assertIn if named else self.assertNotIn)("with kernels for", text)

    def test_another_kernel_may_be_first_over_forward_and_backward(self):
        for backward, text in ((1, "it is still first, with 62.5 %."), (20, "`softmax_kernel` is first, with 71.4 %.")):
            self.db.clear()
            run_id = self.db.add_model("kernels", passes="trace")
            kernels = (("forward", "matmul", 10), ("forward", "softmax", 5), ("backward", "softmax", backward))
            self.db.add_kernels(run_id, [(phase, kind, "block", ms) for phase, kind, ms in kernels])
            answer = self.db.answer(4)
            self.assertIn("`matmul_kernel` takes the most time in forward: 66.7 % in 1 call.", answer)
            self.assertIn(text, answer)

    def test_a_compiled_model_may_be_slower(self):
        for compiled, text in (
            (40, "2.00 times as fast (cases: 1). Outside the noise, compilation makes 1 of 1 cases faster and 0 of 1"),
            (160, "2.00 times as long (cases: 1). Outside the noise, compilation makes 0 of 1 cases faster and 1 of 1"),
        ):
            self.db.clear()
            for choice, (mode, ms) in enumerate((("none", 80), ("default", compiled))):
                self.db.add_model(
                    "compiled-model", workload="transformer_compiled", phases={"step": ms},
                    parameters={"compile": {"value": mode, "choice": choice, "title": "{}"}},
                )  # fmt: skip
            self.assertIn(text, self.db.answer(19).replace("\n", " "))

    def peaks(self, **gib):
        """The answer to question 12 when the phases of a full step have these peaks."""
        self.db.clear()
        run_id = self.db.add_model("memory", passes="memory")
        for phase, peak in (*gib.items(), ("step", max(gib.values()))):
            size = peak * GIB
            self.db.insert(
                "memory_phase", run_id=run_id, rank=0, **{"pass": "memory"}, device="cuda", step=6, phase=phase,
                warmup=0, begin_allocated_bytes=0, end_allocated_bytes=0, peak_requested_bytes=size,
                peak_allocated_bytes=size, peak_active_bytes=size, peak_reserved_bytes=size, peak_ns=1,
            )  # fmt: skip
        return self.db.answer(12)

    def test_the_phase_with_the_highest_peak_is_named(self):
        self.assertIn("The highest peak is that of backward.", self.peaks(forward=40, backward=50, optimizer=30))
        self.assertIn("The highest peak is that of forward.", self.peaks(forward=50, backward=40, optimizer=30))
        self.assertIn("The highest peak is that of the optimizer.", self.peaks(forward=30, backward=40, optimizer=50))
        self.assertIn("cannot be told from the peaks alone", self.peaks(forward=50, backward=51, optimizer=50))

    def test_the_size_of_the_residual_stream_is_compared_with_that_of_the_workload(self):
        def answer(reported):
            self.db.clear()
            self.db.database.execute("DELETE FROM metric")
            metrics = {"d_model": 2560, "residual_stream_bytes": reported}
            self.db.add_model("memory", size="2.7B", context=512, metrics=metrics)
            return self.db.answer(15)

        size = 4 * 512 * 2560 * 4
        self.assertIn("20 MiB. The workload reports the same size.", answer(size).replace("20.00 MiB", "20 MiB"))
        self.assertIn(f"The workload reports {size // 2} bytes, which differs.", answer(size // 2))

    def attention(self, workload, title, order, milliseconds):
        for mode in ("forward", "backward"):
            run_id = self.db.add(
                "flash-filled", workload=workload, family="attention", title=title,
                parameters={
                    "batch": 1, "heads": 16, "seq": 16384, "head_dim": 64, "dtype": "bf16", "causal": True,
                    "mode": mode,
                },
                phases={mode: milliseconds, "step": milliseconds},
            )  # fmt: skip
            self.db.database.execute("UPDATE run SET family_order = ? WHERE run_id = ?", (order, run_id))

    def test_the_fastest_attention_is_that_with_the_least_time(self):
        for own, other, text in (
            (2, 3, "The fastest implementation is own: forward plus backward take 4.000 ms"),
            (3, 2, "The fastest implementation is other: forward plus backward take 4.000 ms"),
        ):
            self.db.clear()
            self.attention("attention_flash", "own", 1, own)
            self.attention("attention_sdpa", "other", 2, other)
            self.assertIn(text, self.db.answer(21))

    def flat(self, *, copy=False, **phases):
        """The answer to question 25 when one call per parameter takes 20 ms after 100 ms of backward."""
        self.db.clear()
        self.db.add_ddp("ddp-naive", "ddp_naive", {"backward": 100, "communication": 20}, order=0)
        self.db.add_ddp("ddp-flat", "ddp_flat", phases, parameters={"copy": copy})
        return self.db.answer(25)

    def test_flat_gradients_may_be_slower(self):
        self.assertIn("instead of 120.0 ms: 8.3 % faster, outside the noise", self.flat(backward=100, communication=10))
        self.assertIn("instead of 120.0 ms: 8.3 % slower, outside the noise", self.flat(backward=110, communication=20))
        self.assertIn("instead of 120.0 ms: a difference within the noise", self.flat(backward=100, communication=20))

    def test_flat_gradients_are_copied_only_if_they_were(self):
        times = {"backward": 100, "communication": 10}
        text = self.flat(**times)
        self.assertIn("With one call (gradients that accumulate in a flat tensor, without copies), a step takes", text)
        text = self.flat(copy=True, **times)
        self.assertIn("With one call (gradients copied to a flat tensor and back), a step takes 110.0 ms", text)

    def buckets(self, without, *sizes):
        """The answer to question 28: step times in ms without buckets, and with buckets of 1, 10 ... MiB."""
        self.db.clear()
        self.db.add_ddp("ddp-overlap", "ddp_overlap", {"backward": without}, order=1)
        for power, ms in enumerate(sizes):
            self.db.add_ddp(
                "ddp-buckets", "ddp_bucketed", {"backward": ms}, order=2,
                parameters={"bucket_mb": {"value": float(10**power), "title": "{} MiB"}},
            )  # fmt: skip
        return self.db.answer(28)

    def test_buckets_may_be_slower_than_none(self):
        fast = self.buckets(120, 110, 100)
        self.assertIn("The fastest buckets are those of ddp-buckets, 10 MiB: 100.0 ms per step", fast)
        self.assertIn("Compared with no buckets: 17 % faster, outside the noise", fast.replace("16.7 %", "17 %"))
        self.assertIn("The slowest size compared with the fastest: 10.0 % slower, outside the noise.", fast)
        slow = self.buckets(90, 100, 100)
        self.assertIn("outside the noise, which fewer calls alone would not cause.", slow)
        self.assertIn("The sizes do not differ beyond the noise.", slow)
        self.assertIn("The difference from no buckets is within the noise.", self.buckets(100, 100))

    def sharded(self, optimizer):
        """The answer to question 35 when the optimizer takes 20 ms without sharding."""
        self.db.clear()
        for choice, (scheme, ms) in enumerate((("none", 20), ("broadcast", optimizer))):
            run_id = self.db.add_ddp(
                "sharding", "sharded_optimizer", {"backward": 100, "optimizer": ms},
                parameters={"scheme": {"value": scheme, "choice": choice, "title": "{}"}},
            )  # fmt: skip
            self.db.database.execute("UPDATE run SET family = 'optimizer_sharding' WHERE run_id = ?", (run_id,))
        return self.db.answer(35)

    def test_the_sharded_optimizer_may_be_slower(self):
        self.assertIn("`broadcast`) and 120.0 ms without: 8.3 % faster, outside the noise", self.sharded(10))
        self.assertIn("`broadcast`) and 120.0 ms without: 8.3 % slower, outside the noise", self.sharded(30))
        self.assertIn("a difference within the noise", self.sharded(20))


if __name__ == "__main__":
    unittest.main()
