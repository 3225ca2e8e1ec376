# SPDX-License-Identifier: Apache-2.0
"""Results of the observed passes for a training step on a CPU: ranges, operators, attribution of backward work, and
tracing overhead."""

import collections
import itertools
import statistics
import unittest

from kymo_tool import OBSERVED, PLUGINS, SAXPY, SharedRunTest, needs_torch_parts
from small_model import ALL_PASSES, CASE, LAYERS, METHOD, MODULES, PARAMETER_TENSORS, PHASES, STEPS, WARMUP

OPS = """SELECT o.sequence, o.parent, n.text AS name, o.backward, o.start_ns, o.end_ns, o.self_ns, o.thread,
                o.autograd_sequence AS number, o.step, p.text AS phase, s.text AS scope, q.module, o.attribution,
                h.text AS shapes
         FROM op o JOIN string n ON n.string_id = o.name_id LEFT JOIN string p ON p.string_id = o.phase_id
         LEFT JOIN string s ON s.string_id = o.scope_id LEFT JOIN scope_path q ON q.scope_id = o.scope_id
         LEFT JOIN string h ON h.string_id = o.shapes_id WHERE o.pass = 'ops' ORDER BY o.sequence"""
RANGES = """SELECT g.sequence, g.parent, g.kind, n.text AS name, s.text AS scope, q.module, q.depth, g.step,
                   p.text AS phase, g.thread, g.start_ns, g.end_ns
            FROM range g JOIN string n ON n.string_id = g.name_id LEFT JOIN string s ON s.string_id = g.scope_id
            LEFT JOIN scope_path q ON q.scope_id = g.scope_id LEFT JOIN string p ON p.string_id = g.phase_id
            WHERE g.pass = ? ORDER BY g.sequence"""
# Modules whose forward function creates nodes with these names: an independent reference for the attribution of
# backward work.
NODE_MODULES = {
    "EmbeddingBackward0": {"embedding"},
    "SoftmaxBackward0": {"block/attention/softmax"},
    "NllLossBackward0": {"loss"},
    "LogSoftmaxBackward0": {"loss"},
    "BmmBackward0": {"block/attention/scores", "block/attention/values"},
}


@needs_torch_parts
class TrainingStepTest(SharedRunTest):
    words = [*CASE, *METHOD, *ALL_PASSES, "--trace-detail", "shapes"]

    def measured_ops(self):
        return [op for op in self.records(OPS) if op["step"] >= WARMUP]

    def test_is_ok_and_drops_no_records(self):
        self.assertEqual(
            self.rows("SELECT status, verification, passes, keep FROM run"),
            [("ok", "passed", "verify,time,memory,trace,ops", "all")],
        )
        self.assertEqual(
            self.rows("SELECT pass, status, trace_status FROM rank ORDER BY pass"),
            [(name, "ok", "") for name in ("memory", "ops", "time", "trace", "verify")],
        )
        self.assertEqual(self.rows("SELECT pass, source, count, detail FROM dropped_record"), [])

    def test_observed_passes_make_few_steps(self):
        for name, warmup, steps in (("time", 1, 4), *((name, WARMUP, STEPS) for name in OBSERVED)):
            self.assertEqual(
                self.rows("SELECT sum(warmup), sum(NOT warmup) FROM sample WHERE pass = ? AND phase = 'step'", name),
                [(warmup, steps)],
            )
            self.assertEqual(
                self.rows("SELECT DISTINCT phase FROM sample WHERE pass = ? ORDER BY phase", name),
                [("backward",), ("forward",), ("optimizer",), ("other",), ("step",)],
            )

    def test_every_step_has_its_phases_and_modules(self):
        for name in OBSERVED:
            ranges = self.records(RANGES, name)
            phases = [(one["step"], one["name"]) for one in ranges if one["kind"] == "phase"]
            self.assertEqual(phases, list(itertools.product(range(WARMUP + STEPS), PHASES)), name)
            for step in range(WARMUP + STEPS):
                found = collections.defaultdict(dict)
                for one in ranges:
                    if one["kind"] == "scope" and one["step"] == step:
                        found[one["phase"]][one["module"]] = found[one["phase"]].get(one["module"], 0) + 1
                self.assertEqual(found, MODULES, f"{name}, step {step}")
        self.assertEqual(
            self.rows(
                "SELECT count(DISTINCT text) FROM string JOIN scope_path ON scope_id = string_id WHERE module = 'block'"
            ),
            [(LAYERS,)],
        )

    def test_ranges_nest(self):
        for name in OBSERVED:
            ranges = {one["sequence"]: one for one in self.records(RANGES, name)}
            self.assertEqual(list(ranges), list(range(len(ranges))))
            steps = {
                step: (start, start + host)
                for step, start, host in self.rows(
                    "SELECT step, start_ns, host_ns FROM sample WHERE pass = ? AND phase = 'step'", name
                )
            }
            for one in ranges.values():
                begin, end = steps[one["step"]]
                self.assertTrue(begin <= one["start_ns"] <= one["end_ns"] <= end, one)
                parent = ranges.get(one["parent"])
                self.assertEqual(parent is None, one["kind"] == "phase", one)
                if one["kind"] == "phase":
                    continue
                self.assertTrue(
                    parent["start_ns"] <= one["start_ns"]
                    and one["end_ns"] <= parent["end_ns"]
                    and parent["thread"] == one["thread"],
                    one,
                )
                path = one["name"] if parent["kind"] == "phase" else f"{parent['scope']}/{one['name']}"
                self.assertEqual((one["scope"], one["depth"]), (path, path.count("/") + 1))

    def test_operators_nest(self):
        ops = {op["sequence"]: op for op in self.records(OPS)}
        self.assertEqual(list(ops), list(range(len(ops))))
        inner_ns = collections.Counter()
        for op in ops.values():
            self.assertIsNotNone(op["end_ns"], op)
            self.assertGreaterEqual(op["end_ns"], op["start_ns"], op)
            if op["parent"] is None:
                continue
            parent = ops[op["parent"]]
            self.assertTrue(
                parent["start_ns"] <= op["start_ns"]
                and op["end_ns"] <= parent["end_ns"]
                and parent["thread"] == op["thread"],
                op,
            )
            inner_ns[op["parent"]] += op["end_ns"] - op["start_ns"]
        for op in ops.values():
            self.assertEqual(op["self_ns"], op["end_ns"] - op["start_ns"] - inner_ns[op["sequence"]], op)

    def test_steps_are_alike(self):
        ops = [op for op in self.measured_ops() if op["phase"]]
        calls = [
            collections.Counter(
                (op["name"], op["phase"], op["scope"], op["backward"]) for op in ops if op["step"] == step
            )
            for step in range(WARMUP, WARMUP + STEPS)
        ]
        self.assertEqual(calls[0], calls[1])
        self.assertEqual(calls[1], calls[2])
        self.assertEqual(
            sum(
                count
                for (name, phase, _, _), count in calls[0].items()
                if (name, phase) == ("aten::_fused_adamw_", "optimizer")
            ),
            1,
        )
        softmax = [call for call in calls[0] if call[0] == "aten::_softmax"]
        self.assertEqual(
            softmax, [("aten::_softmax", "forward", f"block_{layer}/attention/softmax", 0) for layer in range(LAYERS)]
        )

    def test_forward_operators_have_the_open_scope(self):
        forward = [op for op in self.measured_ops() if op["phase"] == "forward" and op["scope"]]
        self.assertGreater(len(forward), 100)
        scopes = [one for one in self.records(RANGES, "ops") if one["kind"] == "scope"]
        for op in forward:
            around = [one for one in scopes if one["start_ns"] <= op["start_ns"] and op["end_ns"] <= one["end_ns"]]
            self.assertEqual(
                (max(around, key=lambda one: one["depth"])["scope"], op["attribution"]), (op["scope"], "launch"), op
            )

    def test_backward_work_belongs_to_forward_scopes(self):
        nodes = [op for op in self.measured_ops() if op["backward"]]
        self.assertEqual({op["phase"] for op in nodes}, {"backward"})
        left = collections.Counter(op["name"] for op in nodes if not (op["attribution"] == "autograd" and op["scope"]))
        self.assertEqual(
            left, {"torch::autograd::AccumulateGrad": PARAMETER_TENSORS * STEPS}, "these alone have no number"
        )
        # For each node the fastest of the steps, because a single interruption by the machine is longer than all of
        # them.
        steps = [[op for op in nodes if op["step"] == step] for step in range(WARMUP, WARMUP + STEPS)]
        shares = collections.Counter()
        for alike in zip(*steps, strict=True):
            self.assertEqual(len({(op["name"], op["scope"]) for op in alike}), 1, alike)
            shares[alike[0]["scope"] is not None] += min(op["end_ns"] - op["start_ns"] for op in alike)
        self.assertGreaterEqual(shares[True] / shares.total(), 0.98)
        seen = set()
        for op in nodes:
            for name, modules in NODE_MODULES.items():
                if op["name"].split("::")[-1] == name:
                    self.assertIn(op["module"], modules, op)
                    seen.add(name)
        self.assertEqual(seen, NODE_MODULES.keys())
        # Operators called by a node have the same attribution as the node.
        by_sequence = {op["sequence"]: op for op in nodes}
        inner = [op for op in self.measured_ops() if op["parent"] in by_sequence]
        self.assertGreater(len(inner), 50)
        for op in inner:
            node = by_sequence[op["parent"]]
            self.assertEqual((op["scope"], op["attribution"]), (node["scope"], node["attribution"]), (op, node))

    def test_numbers_of_backward_nodes_are_those_of_forward_operators(self):
        ops = self.measured_ops()
        forward = collections.defaultdict(list)
        for op in ops:
            if not op["backward"] and op["phase"] == "forward" and op["number"] is not None:
                forward[op["step"], op["number"]].append(op)
        nodes = [op for op in ops if op["backward"] and op["number"] is not None]
        without = collections.Counter(op["name"] for op in nodes if (op["step"], op["number"]) not in forward)
        self.assertTrue(
            all("SplitAndRotate" in name or "SwiGlu" in name for name in without),
            "custom functions alone have no operator",
        )
        matched = [op for op in nodes if (op["step"], op["number"]) in forward]
        self.assertGreater(len(matched), 60)
        for op in matched:
            makers = forward[op["step"], op["number"]]
            self.assertIn(op["scope"], {maker["scope"] for maker in makers}, (op, makers))
            self.assertTrue(all(maker["end_ns"] <= op["start_ns"] for maker in makers), op)

    def test_shapes(self):
        shapes = [op["shapes"] for op in self.records(OPS) if op["name"] == "aten::mm"]
        self.assertGreater(len(shapes), 0)
        for shape in shapes:
            self.assertRegex(shape, r"\Af32\[\d+, \d+\] f32\[\d+, \d+\]")

    def test_totals_are_the_sums_of_the_operators(self):
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for op in self.measured_ops():
            total = sums[op["phase"], op["scope"], op["name"], op["backward"]]
            for i, value in enumerate((1, op["end_ns"] - op["start_ns"], op["self_ns"])):
                total[i] += value
        stored = self.rows("""SELECT p.text, s.text, n.text, t.backward, t.steps, t.calls, t.host_ns, t.self_host_ns,
                                     t.kernels, t.device_ns
                              FROM op_total t JOIN string n ON n.string_id = t.name_id
                              LEFT JOIN string p ON p.string_id = t.phase_id
                              LEFT JOIN string s ON s.string_id = t.scope_id WHERE t.pass = 'ops'""")
        self.assertEqual({tuple(row[:4]): list(row[5:8]) for row in stored}, dict(sums))
        self.assertEqual(len(stored), len(sums))
        self.assertEqual({(row[4], row[8], row[9]) for row in stored}, {(STEPS, 0, 0)})
        self.assertEqual(self.rows("SELECT DISTINCT pass FROM op_total"), [("ops",)])

    def test_module_times_are_those_of_the_ranges(self):
        expected = collections.Counter()
        for one in self.records(RANGES, "trace"):
            if one["kind"] == "scope" and one["step"] >= WARMUP:
                expected[one["phase"], one["module"]] += one["end_ns"] - one["start_ns"]
        shown = {
            (phase, module): total
            for phase, module, total in self.rows(
                "SELECT phase, module, total_ms FROM cpu_scope_time WHERE pass = 'trace'"
            )
        }
        self.assertEqual(shown.keys(), expected.keys())
        for key, total in shown.items():
            self.assertAlmostEqual(total, expected[key] / 1e6 / STEPS, places=6)

    def test_cost_of_observing(self):
        times = collections.defaultdict(list)
        for name, phase, host_ns in self.rows("SELECT pass, phase, host_ns FROM sample WHERE NOT warmup"):
            times[name, phase].append(host_ns)
        stored = self.rows("SELECT pass, phase, steps, observed_ns, time_ns, ratio FROM overhead WHERE rank = 0")
        self.assertEqual(
            {tuple(row[:2]) for row in stored},
            {(name, phase) for name in OBSERVED for phase in (*PHASES, "other", "step")},
        )
        for name, phase, steps, observed_ns, time_ns, ratio in stored:
            self.assertEqual(steps, STEPS)
            self.assertAlmostEqual(observed_ns, statistics.median(times[name, phase]), delta=1)
            self.assertAlmostEqual(time_ns, statistics.median(times["time", phase]), delta=1)
            self.assertAlmostEqual(ratio, observed_ns / time_ns, places=6)
        self.assertEqual(len(self.rows("SELECT summary FROM trace_overhead WHERE phase = 'step'")), len(OBSERVED))

    def test_every_view_can_be_read(self):
        views = [name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name")]
        self.assertGreater(len(views), 40)
        counts = {name: self.rows(f'SELECT count(*) FROM (SELECT * FROM "{name}")')[0][0] for name in views}
        filled = {name for name, count in counts.items() if count > 0}
        self.assertLessEqual(
            {
                "op_summary",
                "cpu_scope_time",
                "memory_timeline",
                "memory_peak",
                "memory_by_category",
                "memory_block",
                "trace_overhead",
                "phase_time",
                "run_memory",
                "transformer_run",
            },
            filled,
        )
        on_a_gpu = {
            name
            for name in filled
            if name.startswith(("kernel_", "attribution_", "launch_", "step_span", "outlier_", "matmul_"))
        }
        self.assertEqual(on_a_gpu, set(), "nothing ran on a GPU")
        self.assertEqual(
            self.sql("SELECT count(*) AS n FROM op_summary WHERE phase = 'step'"),
            [{"n": len({(op["name"], op["backward"]) for op in self.measured_ops()})}],
        )

    def test_result_is_the_same_model(self):
        """Observing does not change the computation: every pass reports the same losses."""
        losses = self.rows(
            """SELECT m.pass, m.value FROM metric m
               WHERE m.name = 'loss_first' AND m.pass IN ('time', 'memory', 'trace', 'ops')"""
        )
        self.assertEqual(len(losses), 4)
        self.assertEqual(len({value for _, value in losses}), 1, losses)


class WithoutTorchTest(SharedRunTest):
    words = [SAXPY, "--set", "n=1000", *METHOD, *ALL_PASSES, "--ranks", "2"]

    def test_phases_and_scopes_are_all_there_is(self):
        self.assertEqual(self.rows("SELECT status, verification, detail FROM run"), [("ok", "passed", "")])
        self.assertEqual(self.rows("SELECT * FROM dropped_record"), [])
        self.assertEqual(
            self.rows("SELECT DISTINCT rank, pass, status FROM rank ORDER BY pass, rank"),
            [(rank, name, "ok") for name in ("memory", "ops", "time", "trace", "verify") for rank in range(2)],
        )
        for name, rank in itertools.product(OBSERVED, range(2)):
            self.assertEqual(
                self.rows(
                    """SELECT g.step, g.kind, n.text, g.parent IS NULL
                       FROM range g JOIN string n ON n.string_id = g.name_id
                       WHERE g.pass = ? AND g.rank = ? ORDER BY g.sequence""",
                    name,
                    rank,
                ),
                [
                    row
                    for step in range(WARMUP + STEPS)
                    for row in ((step, "phase", "compute", 1), (step, "scope", "fp32", 0))
                ],
            )
        for table in (
            "op",
            "op_total",
            "allocation",
            "memory_point",
            "memory_phase",
            "kernel",
            "kernel_total",
            "step_activity",
        ):
            self.assertEqual(self.rows(f"SELECT count(*) FROM {table}"), [(0,)], table)
        self.assertEqual(
            self.rows("SELECT rank, pass FROM overhead WHERE phase = 'step' ORDER BY pass, rank"),
            [(rank, name) for name in sorted(OBSERVED) for rank in range(2)],
        )

    def test_other_plugins_without_torch(self):
        for plugin, words in (("raw_valid", []), ("probe", [])):
            self.kymo("run", PLUGINS / f"{plugin}.so", *words, *METHOD, *ALL_PASSES, "--db", f"{plugin}.db")
            found = self.sql(
                "SELECT r.status, (SELECT count(*) FROM dropped_record) AS dropped_records, "
                "(SELECT count(DISTINCT pass) FROM range) AS ranged FROM run r",
                f"{plugin}.db",
            )
            self.assertEqual(found, [{"status": "ok", "dropped_records": 0, "ranged": 3}], plugin)


if __name__ == "__main__":
    unittest.main()
