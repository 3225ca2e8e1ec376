# SPDX-License-Identifier: Apache-2.0
"""Workloads in Python are run, observed and compared as those in C++ are."""

import re
import unittest
from pathlib import Path

from kymo_tool import OTHER_PYTHON, OTHER_TORCH, KymoTest, SharedRunTest, needs_other_torch, needs_torch_parts

MODEL = Path(__file__).resolve().parent.parent / "python" / "workloads" / "model.py"
QUICK = ["--warmup", "1", "--steps", "4"]
OPERATORS = """SELECT n.text AS name, o.backward, p.text AS phase, q.module FROM op o
               JOIN string n ON n.string_id = o.name_id LEFT JOIN string p ON p.string_id = o.phase_id
               LEFT JOIN scope_path q ON q.scope_id = o.scope_id WHERE o.pass = 'ops' AND o.step >= 1"""
# A workload that does not import torch, which takes seconds in each process.
COUNT = """
import kymo

@kymo.workload(phases=("count",), ranks=(1, 2), asynchronous=True)
def count(run, n: kymo.Int(minimum=1) = 1000):
    phase = run.phase("count")
    def step():
        with phase:
            sum(range(n))
    return {"step": step, "before_step": lambda: None}
"""
# Where the operators of the model's modules run, forward and backward.
PLACES = {
    "aten::addmm": ("forward", "linear"),
    "aten::native_layer_norm": ("forward", "norm"),
    "AddmmBackward0": ("backward", "linear"),
    "NativeLayerNormBackward0": ("backward", "norm"),
    "aten::native_layer_norm_backward": ("backward", "norm"),
}


@needs_torch_parts
class ObservedModelTest(SharedRunTest):
    words = [f"{MODEL}:model", *QUICK, "--passes", "verify,time,memory,trace,ops", "--observed-steps", "3"]

    def test_passes_end_well(self):
        self.assertEqual(self.rows("SELECT status, passes FROM run"), [("ok", "verify,time,memory,trace,ops")])
        self.assertEqual(self.rows("SELECT DISTINCT outcome FROM verification"), [("passed",)])
        lost = self.rows("SELECT source, detail FROM dropped_record WHERE source <> 'device'")
        self.assertEqual([row for row in lost if "cuda" not in row[0]], [])

    def test_phases_partition_the_step(self):
        rows = self.rows("SELECT step, phase, host_ns FROM sample WHERE pass = 'time' AND warmup = 0")
        steps = {step: ns for step, phase, ns in rows if phase == "step"}
        self.assertEqual(len(steps), 4)
        parts = dict.fromkeys(steps, 0)
        for step, phase, ns in rows:
            if phase != "step":
                parts[step] += ns
        self.assertEqual({phase for _, phase, _ in rows}, {"step", "forward", "backward", "optimizer", "other"})
        for step, ns in steps.items():
            self.assertAlmostEqual(parts[step], ns, delta=1000)

    def test_operators_are_in_their_scopes_forward_and_backward(self):
        found = {}
        for row in self.records(OPERATORS):
            found.setdefault(row["name"], set()).add((row["phase"], row["module"]))
        for name, place in PLACES.items():
            self.assertEqual(found.get(name), {place}, name)

    def test_memory_has_categories(self):
        found = {category for (category,) in self.rows("SELECT category FROM memory_by_category WHERE bytes > 0")}
        self.assertLessEqual({"parameter", "gradient", "optimizer_state", "input"}, found)

    def test_declared_work_metrics_and_output(self):
        self.assertEqual(self.rows("SELECT phase, flops FROM work"), [("forward", 2 * 2 * 8 * 32**2)])
        parameters = 2 * (32 * 32 + 32 + 2 * 32)
        found = self.rows("SELECT DISTINCT value, unit FROM metric WHERE name = 'parameters'")
        self.assertEqual(found, [(parameters, "elements")])
        self.assertIn("prepared 32", self.kymo("log", "1").stdout)

    def test_list_and_describe(self):
        plugins = self.kymo_json("list", "--plugin", MODEL)["plugins"]
        found = next(plugin for plugin in plugins if plugin["name"] == "model")
        names = ["model", "mean", "asynchronous", "checkpointed_model"]
        self.assertEqual([each["name"] for each in found["workloads"]], names)
        text = self.kymo("describe", f"{MODEL}:model").stdout
        for part in ("A training step of two blocks", "forward, backward, optimizer", "width of the blocks", ">= 1"):
            self.assertIn(part, text)
        done = self.kymo("run", MODEL, code=2)
        self.assertIn("pass FILE:NAME with one of model, mean, asynchronous, checkpointed_model", done.stderr)

    def test_the_plugin_names_interpreter_and_torch(self):
        name, framework, version, compiler = self.rows(
            "SELECT name, framework, framework_version, compiler FROM plugin"
        )[0]
        self.assertEqual((name, framework), ("model", "libtorch"))
        self.assertRegex(version, r"^2\.\d+\.\d+$")
        self.assertRegex(compiler, r"^CPython 3\.\d+\.\d+$")


@needs_other_torch
class ModelUnderAnotherTorchTest(ObservedModelTest):
    words = [*ObservedModelTest.words, "--python", OTHER_PYTHON]
    shared = None  # not the run of the other class

    def test_its_torch_is_the_other_one(self):
        text = (OTHER_TORCH / "version.py").read_text(encoding="utf-8")
        version = re.search(r"^__version__ = '([0-9.]+)", text, re.MULTILINE)[1]
        self.assertEqual(self.rows("SELECT framework_version FROM plugin"), [(version,)])
        self.assertEqual(self.rows("SELECT DISTINCT kind FROM device"), [("cpu",)])

    def test_nothing_is_dropped(self):
        self.assertEqual(self.rows("SELECT * FROM dropped_record"), [])


class PythonWorkloadTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.file = self.work / "count.py"
        self.file.write_text(COUNT, encoding="utf-8")

    def statuses(self):
        return [status for (status,) in self.rows("SELECT status FROM run ORDER BY run_id")]

    def test_axes_and_resume(self):
        words = ["run", self.file, *QUICK, "--axis", "n=8,16", "--axis", "ranks=1,2"]
        self.kymo(*words)
        self.assertEqual(self.statuses(), ["ok"] * 4)
        self.assertIn("nothing to do", self.kymo(*words, "--resume").stderr)
        done = self.kymo(*words[:2], "--set", "n=0", code=2)
        self.assertIn("expected a whole number of at least 1", done.stderr)

    @needs_torch_parts
    def test_ranks_communicate(self):
        self.kymo("run", f"{MODEL}:mean", *QUICK, "--ranks", "2", "--passes", "verify,trace")
        self.assertEqual(self.statuses(), ["ok"])
        calls = self.rows("SELECT rank, count(*) FROM collective WHERE pass = 'trace' GROUP BY rank")
        self.assertEqual([rank for rank, _ in calls], [0, 1])
        self.assertEqual(len({count for _, count in calls}), 1)
        self.assertGreaterEqual(calls[0][1], 4)

    def test_comparison_with_a_workload_in_cpp(self):
        self.kymo("run", self.file, *QUICK, "--against", "saxpy", "--repeat", "5")
        self.assertEqual(self.statuses(), ["ok"] * 10)

    def test_two_parameters_are_compared(self):
        candidates = [f"./count.py:count:n={n}" for n in (100, 10000)]
        verdict = self.kymo("ab", *candidates, "--min-time", "0.05", "--max-time", "30").stdout
        self.assertIn(" times as long as ", verdict)

    def test_passes_are_forks_of_one_process_except_for_fresh_runs(self):
        places = "\nimport os\nprint('imported in', os.getpid(), 'of', os.getppid())\n"
        self.file.write_text(COUNT + places, encoding="utf-8")
        for options in (["--repeat", "3", "--fresh"], ["--wrap", "env"]):
            self.kymo("run", self.file, *QUICK, *options)
        found = self.rows("SELECT run_id, pid, stdout FROM rank ORDER BY run_id, pass")
        self.assertEqual(self.statuses(), ["ok"] * 4)
        self.assertEqual(len({pid for _, pid, _ in found}), 8)  # of the passes verify and time
        parents = {}
        for run_id, pid, text in found:
            ((imported_in, parent),) = re.findall(r"imported in (\d+) of (\d+)", text)  # in each pass, and once
            self.assertEqual(int(imported_in), pid)
            parents.setdefault(run_id, []).append(parent)
        fresh = [set(parents[run_id]) for run_id in (1, 2, 3)]
        self.assertEqual([len(run) for run in fresh], [1, 1, 1], "the passes of a run are forks of one process")
        self.assertEqual(len(set.union(*fresh)), 3, "runs are not")
        self.assertFalse(set(parents[4]) & set.union(*fresh))

    def test_hot_and_cold_timing(self):
        for timing in ("hot", "cold"):
            self.kymo("run", self.file, *QUICK, "--timing", timing)
        self.assertEqual(self.statuses(), ["ok", "ok"])
        self.file.write_text(COUNT.replace(", asynchronous=True", ""), encoding="utf-8")
        done = self.kymo("run", self.file, *QUICK, "--timing", "hot", code=2)
        self.assertIn("does not support timing hot", done.stderr)

    def test_a_suite(self):
        suite = f'title = "t"\n[[case]]\nname = "c"\nworkload = "{self.file}:count"\naxes = {{ n = [8, 16] }}\n'
        (self.work / "s.toml").write_text(suite + "warmup = 1\nsteps = 2\n", encoding="utf-8")
        self.kymo("suite", "run", "./s.toml")
        self.assertEqual(self.statuses(), ["ok", "ok"])

    def test_a_changed_file_is_another_build(self):
        self.kymo("run", self.file, *QUICK)
        self.file.write_text(COUNT + "# changed\n", encoding="utf-8")
        self.kymo("run", self.file, *QUICK, "--resume")
        self.assertEqual(self.statuses(), ["ok", "ok"])
        self.assertEqual(self.rows("SELECT count(DISTINCT sha256) FROM plugin"), [(2,)])

    def test_the_interpreter_is_chosen(self):
        done = self.kymo("run", self.file, "--python", "/no/such/python3", code=2)
        self.assertIn("/no/such/python3", done.stderr)
        environment = self.folder / "venv" / "bin"
        environment.mkdir(parents=True)
        (environment / "python3").write_text("#!/bin/sh\nexit 9\n", encoding="utf-8")
        (environment / "python3").chmod(0o700)
        self.environment["VIRTUAL_ENV"] = str(self.folder / "venv")
        self.assertIn("exit code 9", self.kymo("run", self.file, code=2).stderr)


if __name__ == "__main__":
    unittest.main()
