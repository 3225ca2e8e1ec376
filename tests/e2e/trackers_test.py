# SPDX-License-Identifier: Apache-2.0
"""kymo export wandb, mlflow, tensorboard and hud-json: what is written is read back with the trackers' own readers."""

import importlib.util
import json
import os
import struct
import sys
import unittest
from unittest import mock

from kymo_tool import SharedRunTest, needs_installed


def installed(module):
    return needs_installed(importlib.util.find_spec(module), module)


def logged_records(data):
    """The records of a .wandb file: after a header of 7 bytes a log of LevelDB, in blocks of 32 KiB, in which each
    fragment has a checksum, a length and a type (1: whole, 2: first, 3: middle, 4: last)."""
    block, header = 1 << 15, struct.Struct("<IHB")
    at, parts = 7, []
    while at + header.size <= len(data):
        if block - at % block < header.size:
            at += block - at % block
            continue
        _, length, kind = header.unpack_from(data, at)
        parts.append(data[at + header.size : at + header.size + length])
        at += header.size + length
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []


# The report has a figure of steps that have several phases.
PHASED = """
import kymo


@kymo.workload(phases=("first", "second"))
def phased(run, n: kymo.Int = 100):
    first, second = run.phase("first"), run.phase("second")

    def step():
        with first:
            sum(range(n))
        with second:
            sum(range(n))

    return step
"""


class TrackerTest(SharedRunTest):
    words = ["phased.py", "--set", "n=1024", "--steps", "5", "--warmup", "1", "--label", "first"]

    def run_once(self):
        (self.work / "phased.py").write_text(PHASED, encoding="utf-8")
        super().run_once()

    def export(self, tracker, *words):
        return self.kymo("export", tracker, *words, "--python", sys.executable)

    def median(self):
        return self.rows("SELECT median_ns / 1e6 FROM statistic WHERE phase = 'step'")[0][0]

    def step_times(self):
        return [row[0] for row in self.rows("SELECT host_ns / 1e6 FROM sample WHERE phase = 'step' AND warmup = 0")]

    @installed("wandb")
    def test_wandb(self):
        from wandb.proto import wandb_internal_pb2

        self.export("wandb", "-o", "tracked", "--project", "mine")
        (file,) = (self.work / "tracked" / "wandb").glob("offline-run-*/run-*.wandb")
        records = [wandb_internal_pb2.Record.FromString(data) for data in logged_records(file.read_bytes())]
        (run,) = [record.run for record in records if record.WhichOneof("record_type") == "run"][:1]
        self.assertEqual((run.project, run.run_group), ("mine", "first"))
        config = {item.key: json.loads(item.value_json) for item in run.config.update}
        self.assertEqual((config["parameter/n"], config["workload"]), (1024, "phased"))
        history = {}
        for record in records:
            for item in record.history.item:
                name = item.key or "/".join(item.nested_key)
                history.setdefault(name, []).append(json.loads(item.value_json))
        self.assertEqual(history["steps/step_ms"], self.step_times())
        self.assertEqual(history["tables/phases/_type"], ["table-file"])
        self.assertEqual(history["figures/overview/_type"], ["html-file"])
        summary = {
            item.key or "/".join(item.nested_key): json.loads(item.value_json)
            for record in records
            for item in record.summary.update
        }
        self.assertEqual(summary["step/median_ms"], self.median())

    @installed("mlflow")
    def test_mlflow(self):
        with mock.patch.dict(os.environ, {"MLFLOW_ALLOW_FILE_STORE": "true"}):
            import mlflow

            self.export("mlflow", "-o", "store", "--experiment", "mine")
            client = mlflow.MlflowClient((self.work / "store").as_uri())
            experiment = client.get_experiment_by_name("mine")
            (run,) = client.search_runs([experiment.experiment_id])
            self.assertEqual(run.data.params["parameter/n"], "1024")
            self.assertEqual(run.data.metrics["step/median_ms"], self.median())
            self.assertEqual(run.info.status, "FINISHED")
            history = client.get_metric_history(run.info.run_id, "steps/step_ms")
            times = [metric.value for metric in sorted(history, key=lambda metric: metric.step)]
            self.assertEqual(times, self.step_times())
            artifacts = {file.path for file in client.list_artifacts(run.info.run_id, "report")}
            self.assertLessEqual({"report/report.md", "report/tables", "report/figures"}, artifacts)

    @installed("tensorboard")
    def test_tensorboard(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        self.export("tensorboard", "-o", "logs", "--run", "1")
        events = EventAccumulator(str(self.work / "logs" / "run-1-phased"), size_guidance={"tensors": 0, "scalars": 0})
        events.Reload()
        (median,) = events.Scalars("step/median_ms")
        self.assertAlmostEqual(median.value / self.median(), 1, places=6)
        times = [event.value for event in events.Scalars("steps/step_ms")]
        for shown, stored in zip(times, self.step_times(), strict=True):
            self.assertAlmostEqual(shown / stored, 1, places=6)  # TensorBoard keeps float32
        (table,) = events.Tensors("tables/phases")
        self.assertIn("| phased |", table.tensor_proto.string_val[0].decode())

    def test_hud_json(self):
        self.export("hud-json", "-o", "results.json")
        records = json.loads((self.work / "results.json").read_text(encoding="utf-8"))
        # Types of the columns of the table oss_ci_benchmark_v3.
        texts, maps = (str,), (dict,)
        fields = {
            "benchmark": {"name": texts, "mode": texts, "dtype": texts, "extra_info": maps},
            "model": {"name": texts, "type": texts, "backend": texts, "origins": (list,), "extra_info": maps},
            "metric": {"name": texts, "benchmark_values": (list,), "extra_info": maps},
        }
        runner = {"name": texts, "type": texts, "cpu_info": texts, "cpu_count": (int,), "avail_mem_in_gb": (int,)}
        runner |= {"gpu_info": texts, "gpu_count": (int,), "avail_gpu_mem_in_gb": (int,), "extra_info": maps}
        for record in records:
            self.assertEqual(set(record), {*fields, "runners", "dependencies"})
            checked = [(record[name], kinds) for name, kinds in fields.items()]
            for value, kinds in [*checked, *((one, runner) for one in record["runners"])]:
                self.assertEqual(set(value), set(kinds))
                for name, kind in kinds.items():
                    self.assertIsInstance(value[name], kind, name)
                self.assertTrue(all(isinstance(text, str) for text in value["extra_info"].values()))
        (median,) = [record for record in records if record["metric"]["name"] == "step/median_ms"]
        self.assertEqual(median["metric"]["benchmark_values"], [self.median()])
        self.assertEqual(json.loads(self.export("hud-json", "--run", "1").stdout), records)

    def test_errors(self):
        done = self.kymo("export", "hud-json", "--run", "99", "--python", sys.executable, code=2)
        self.assertRegex(done.stderr, "has no run 99")
        done = self.kymo("export", "wandb", "--python", "/usr/bin/python3", code=2)
        self.assertRegex(done.stderr, "needs the Python package wandb: run '.* -m pip install wandb'")


if __name__ == "__main__":
    unittest.main()
