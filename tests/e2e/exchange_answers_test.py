# SPDX-License-Identifier: Apache-2.0
"""Statements of the answers in reports/cs336 on timelines, buckets and a sharded optimizer: each one with a database
that gives it and one that gives the opposite."""

import unittest

from answer_database import NS, AnswerDatabase
from kymo_tool import KymoTest

MIB = 1 << 20
BACKEND = {"value": "nccl", "setting": 1}


class ExchangeAnswersTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.db = AnswerDatabase(self)

    def timelines(self, **runs):
        """The answer to question 27 for the traces of two strategies: (communication ms, overlap ms, step ms)."""
        self.db.clear()
        for order, (strategy, (communication, overlap, step)) in enumerate(runs.items()):
            run_id = self.db.add_ddp(
                f"ddp-{strategy}", f"ddp_{strategy}", {"backward": 100}, order=order, passes="time,trace"
            )
            self.db.add_kernels(run_id, [("backward", "communication", "", communication)])
            self.db.add_activity(run_id, "step", step, step)
            self.db.database.execute(
                "UPDATE step_activity SET comm_ns = ?, overlap_ns = ?, exposed_comm_ns = ? WHERE run_id = ?",
                (communication * NS, overlap * NS, (communication - overlap) * NS, run_id),
            )
        return self.db.answer(27)

    def test_what_overlaps_is_that_of_the_traces(self):
        text = self.timelines(naive=(20, 0, 100), overlap=(20, 15, 110))
        self.assertIn("In the trace of ddp-naive, 0.0 % of communication overlaps with compute; in that of", text)
        self.assertIn("of ddp-overlap, 75.0 %. Exposed communication takes 20 and 5 ms of a step.", text)
        self.assertIn("Tracing changes the time of the steps by +0 % and +10 %.", text)
        text = self.timelines(naive=(20, 10, 90), overlap=(40, 0, 100))
        self.assertIn("In the trace of ddp-naive, 50.0 % of communication overlaps with compute; in that of", text)
        self.assertIn("of ddp-overlap, 0.0 %. Exposed communication takes 10 and 40 ms of a step.", text)
        self.assertIn("Tracing changes the time of the steps by -10 % and +0 %.", text)

    def buckets(self, *, call_ms=1, backward=100, silent=100, **steps):
        """The answer to question 29 for gradients of 100 MB over 100 GB/s: steps in ms by bucket size in MiB; backward
        takes so many ms of each, and `silent` ms is the step without exchange."""
        self.db.clear()
        self.db.database.execute("DELETE FROM metric")
        self.db.add_bandwidth(100, call_ms=call_ms)
        for size, ms in (*((int(name[1:]), ms) for name, ms in steps.items()), (10, None)):
            parameters = {
                "backend": BACKEND, "bucket_mb": {"value": float(size)}, "taper": False, "communicate": ms is not None
            }  # fmt: skip
            phases = {"backward": backward, "communication": ms - backward} if ms else {"backward": silent}
            if silent or ms:
                run_id = self.db.add_ddp("ddp-buckets", "ddp_bucketed", phases, parameters=parameters)
                self.db.database.execute(
                    "UPDATE metric SET value = 100e6 WHERE run_id = ? AND name = 'gradient_bytes'", (run_id,)
                )
        return self.db.answer(29).replace("\n", " ")

    def test_the_model_of_buckets_is_held_against_the_sweep(self):
        text = self.buckets(m1=130, m10=110, m100=110)
        self.assertIn("With o = 1000 µs and w = 100 GB/s, fitted to all-reduces on the same machine", text)
        self.assertIn("the best bucket size is 95.4 MiB.", text)
        self.assertIn("the fastest used 100 MiB; within the noise of it: 10 MiB.", text)
        self.assertIn("at worst, 96 ms for the 30 ms measured (buckets of 1 MiB), an error of 220 %.", text)
        self.assertNotIn("backward itself gets slower", text)

    def test_calls_may_cost_nothing_and_one_size_may_be_fastest(self):
        text = self.buckets(call_ms=0, m1=130, m10=110, m100=120)
        self.assertIn("calls cost nothing in the fit, so that the model favors the smallest buckets.", text)
        self.assertIn("Of the runs with buckets of one size, the fastest used 10 MiB. ", text)

    def test_a_slower_backward_explains_what_the_model_leaves_out(self):
        text = self.buckets(backward=120, m10=125)
        self.assertIn("backward itself gets slower while collectives run: 120 ms instead of 100 ms", text)
        self.assertIn("which is 80 % of the measured overhead.", text)

    def test_there_may_be_no_overhead(self):
        text = self.buckets(backward=80, m10=90)
        self.assertIn("No step with buckets takes longer than one without exchange", text)
        self.assertNotIn("at worst", text)
        text = self.buckets(silent=None, m10=110)
        self.assertIn("the fastest used 10 MiB.", text)
        self.assertNotIn("without exchange:", text)
        self.assertNotIn("at worst", text)

    def sharded(self, **schemes):
        """The answer to question 36 for the collectives of each scheme, as (operation, MiB) of one step."""
        self.db.clear()
        self.db.database.execute("DELETE FROM collective")
        for choice, (scheme, calls) in enumerate(schemes.items()):
            run_id = self.db.add_ddp(
                "sharding", "sharded_optimizer", {"backward": 100}, passes="time,trace",
                parameters={"scheme": {"value": scheme, "choice": choice, "title": "{}"}},
            )  # fmt: skip
            self.db.database.execute("UPDATE run SET family = 'optimizer_sharding' WHERE run_id = ?", (run_id,))
            columns = {"run_id": run_id, "rank": 0, "pass": "trace", "step": 5}
            self.db.insert(
                "sample", **columns, phase="step", warmup=0, throttled=0, calls=1, start_ns=0, host_ns=100 * NS
            )
            for number, (operation, mib) in enumerate(calls):
                self.db.insert(
                    "collective", **columns, sequence=number, communicator_id=self.db.text_id("world"),
                    call_number=number, operation=operation, bytes=mib * MIB, on_device=1, enqueue_ns=number,
                    kernels=1, phase_id=self.db.text_id("optimizer"), attribution="phase",
                )  # fmt: skip
        return self.db.answer(36)

    def test_the_traffic_is_that_of_the_traces(self):
        gradients = ("all_reduce", 100)
        text = self.sharded(
            none=[gradients], broadcast=[gradients, ("broadcast", 40)],
            zero1=[("reduce_scatter", 100), ("all_gather", 60)],
        )  # fmt: skip
        self.assertIn("a rank moves 140 MiB per step with `broadcast` and 80.0 MiB with ZeRO stage 1", text)
        self.assertIn("compared with 100 MiB without sharding.", text)
        text = self.sharded(broadcast=[("broadcast", 30)], zero1=[("all_gather", 120)])
        self.assertIn("a rank moves 30.0 MiB per step with `broadcast` and 60.0 MiB with ZeRO stage 1.", text)
        self.assertNotIn("Measured", self.sharded(broadcast=[("broadcast", 30)]))

    def test_the_memory_of_a_sharded_optimizer_is_compared_with_its_share(self):
        self.db.rows("distributed")
        text = self.db.answer(34)
        self.assertIn("of optimizer state instead of 7.81 KiB: 50.0 % of it, where 50.0 % is expected. That is", text)
        self.assertIn("Optimizer state appears with the first update.", text)
        self.assertIn("The total after the step falls from", text)
        self.db.database.execute("UPDATE memory_point SET allocated_bytes = 20000 WHERE run_id = 27 AND time_ns > 200")
        for size, time in ((9000, "> 200"), (100, "= 90")):
            self.db.database.execute(
                f"UPDATE allocation SET allocated_bytes = {size} "
                f"WHERE run_id = 27 AND category = 'optimizer_state' AND alloc_ns {time}"
            )
        text = self.db.answer(34)
        self.assertIn("112.5 % of it, where 50.0 % is expected. That is not as expected", text)
        self.assertIn("The total after the step does not fall, but goes from", text)
        self.assertIn("Optimizer state is present after initialization, before the first update.", text)


if __name__ == "__main__":
    unittest.main()
