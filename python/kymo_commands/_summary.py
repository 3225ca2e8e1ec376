# SPDX-License-Identifier: Apache-2.0
"""What the exporters to experiment trackers and dashboards take from a run, as the views and reports state it."""

import csv
import dataclasses
import datetime
import os
import pathlib
import subprocess
import tempfile

import kymo
from kymo._results import kymo_json, program

from kymo_commands import UsageError

_NS_PER_MS = 1e6
_TIMES = ("time", "mean", "median", "std", "min", "max", "ci_low", "ci_high", "median_low", "median_high")
_RATES = ("flops_per_s", "bytes_per_s")
_METHOD = ("timing", "sync", "warmup", "steps", "passes", "repetition")
_IDENTITY = ("workload", "suite", "suite_case", "label", "ranks", "device", "status", "verification", "started_at")
_KEYS = ("case_key", "plan_key", "plugin_sha256")


@dataclasses.dataclass
class Summary:
    """A run: what is fixed (`config`), its numbers by name (`metrics`, times in ms), the times of its measured steps in
    ms by phase (`series`, as (step, time)), and facts of its machine (`environment`)."""

    run: dict
    config: dict
    metrics: dict
    series: dict
    environment: dict

    @property
    def title(self):
        parameters = " ".join(f"{name}={value}" for name, value in self.run["parameters"].items())
        return f"{self.run['workload']} {parameters}".strip()

    @property
    def started_at(self):
        return datetime.datetime.fromisoformat(self.run["started_at"].replace("Z", "+00:00"))

    @property
    def name(self):
        return f"run-{self.run['run_id']}-{self.run['workload']}"


def _metrics_of(run):
    metrics = {}
    for phase, times in run["phases"].items():
        for name in _TIMES:
            if times.get(f"{name}_ns") is not None:
                metrics[f"{phase}/{name}_ms"] = times[f"{name}_ns"] / _NS_PER_MS
        metrics |= {f"{phase}/{name}": times[name] for name in _RATES if times.get(name) is not None}
    for name, metric in run["metrics"].items():
        if isinstance(metric["value"], (int, float)):
            metrics[f"reported/{name}"] = metric["value"]
    for row in run["memory"]:
        for name, value in row.items():
            if name.endswith("_bytes") and value is not None:
                key = "/".join(("memory", row.get("pass", ""), row.get("phase", ""), name))
                metrics[key] = max(value, metrics.get(key, value))
    return metrics


def _newest_run(database):
    newest = database.rows("SELECT max(run_id) FROM run WHERE status <> 'running'")[1][0][0]
    if newest is None:
        raise UsageError(f"database '{database.path}' has no runs; run `kymo run WORKLOAD --db FILE`")
    return newest


def _check_run(database, run_id):
    if not database.rows("SELECT 1 FROM run WHERE run_id = ?", [run_id])[1]:
        raise UsageError(f"database '{database.path}' has no run {run_id}; list them with `kymo runs --db FILE`")


def summary_of(database, run_id=None):
    """Return the Summary of a run, by default the newest one. Raises UsageError if there is none."""
    if run_id is None:
        run_id = _newest_run(database)
    _check_run(database, run_id)
    sql = "SELECT phase, step, time_ms FROM step_time WHERE run_id = ? AND warmup = 0 ORDER BY step"
    series = {}
    for phase, step, time_ms in database.rows(sql, [run_id])[1]:
        series.setdefault(phase, []).append((step, time_ms))
    sql = "SELECT e.name, e.value FROM environment e JOIN run r USING (invocation_id) WHERE r.run_id = ?"
    environment = dict(database.rows(sql, [run_id])[1])
    run = kymo_json(["show", str(run_id), "--db", os.fspath(database.path)])
    config = {f"parameter/{name}": value for name, value in run["parameters"].items()}
    config |= {name: run[name] for name in (*_IDENTITY, *_METHOD, *_KEYS)}
    return Summary(run, config, _metrics_of(run), series, environment)


def current_runs(database):
    """Return the ids of the runs that reports select: the newest of each plan."""
    return [run_id for (run_id,) in database.rows("SELECT run_id FROM current_run ORDER BY run_id")[1]]


class Report:
    """The tables (CSV) and figures (SVG) of the report `quick` of the run's invocation, in a temporary folder."""

    def __init__(self, path, invocation_id):
        self._folder = tempfile.TemporaryDirectory(prefix="kymo-report-")
        self.folder = pathlib.Path(self._folder.name)
        words = ["report", "quick", "--db", os.fspath(path), "--invocation", str(invocation_id)]
        done = subprocess.run(
            [program(), *words, "--format", "markdown,csv", "--out", self.folder],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            self._folder.cleanup()
            raise kymo.Error(f"the report of the run failed: {done.stderr.strip().removeprefix('kymo: ')}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    @property
    def figures(self):
        return sorted(self.folder.glob("figures/*.svg"))

    def tables(self):
        """Yield the name, columns and rows (of texts) of each table."""
        for file in sorted(self.folder.glob("tables/*.csv")):
            with file.open(newline="", encoding="utf-8") as stream:
                rows = list(csv.reader(stream))
            if rows:
                yield file.stem, rows[0], rows[1:]
