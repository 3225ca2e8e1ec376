# SPDX-License-Identifier: Apache-2.0
"""kymo export mlflow: a run of kymo as a run in an MLflow tracking store."""

import os
import pathlib
import re

import kymo

from kymo_commands import require
from kymo_commands._summary import Report, summary_of

_ENDED = ("ok", "skipped")
# Names may contain letters, digits and these characters; keys of parameters and metrics are alike.
_OTHER_CHARACTERS = re.compile(r"[^\w\-. /]")


def _names(values):
    return {_OTHER_CHARACTERS.sub("_", name): value for name, value in values.items()}


def _uri(store):
    return store if "://" in store else pathlib.Path(store).resolve().as_uri()


def main(options):
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = require("mlflow", "mlflow-skinny", "kymo export mlflow")
    entities = require("mlflow.entities", "mlflow-skinny", "kymo export mlflow")
    with kymo.open(options["database"]) as database:
        summary = summary_of(database, options["run"])
    started_ms = int(summary.started_at.timestamp() * 1000)
    try:
        mlflow.set_tracking_uri(_uri(options["out"]))
        client = mlflow.MlflowClient()
        experiment = client.get_experiment_by_name(options["name"])
        experiment_id = experiment.experiment_id if experiment else client.create_experiment(options["name"])
        run = client.create_run(experiment_id, start_time=started_ms, run_name=summary.title)
        run_id = run.info.run_id
        metrics = [entities.Metric(name, value, started_ms, 0) for name, value in _names(summary.metrics).items()]
        for phase, times in summary.series.items():
            (name,) = _names({f"steps/{phase}_ms": None})
            metrics += [entities.Metric(name, time_ms, started_ms, step) for step, time_ms in times]
        params = [entities.Param(name, str(value)) for name, value in _names(summary.config).items()]
        tags = [
            entities.RunTag(name, str(value))
            for name, value in _names({f"machine/{name}": value for name, value in summary.environment.items()}).items()
        ]
        _log_in_parts(client, run_id, metrics, params, tags)
        with Report(options["database"], summary.run["invocation_id"]) as report:
            client.log_artifacts(run_id, str(report.folder), "report")
        client.set_terminated(run_id, "FINISHED" if summary.run["status"] in _ENDED else "FAILED")
    except mlflow.MlflowException as error:
        raise kymo.Error(f"MLflow store '{options['out']}': {error}") from None
    print(f"{options['out']}: run {summary.run['run_id']} is run {run_id} of experiment {options['name']}")
    return 0


def _log_in_parts(client, run_id, metrics, params, tags):
    """Log everything within the limits of a request: 1,000 metrics, 100 parameters, 100 tags."""
    for start in range(0, max(len(metrics), 1), 1000):
        client.log_batch(run_id, metrics=metrics[start : start + 1000])
    for start in range(0, max(len(params), len(tags)), 100):
        client.log_batch(run_id, params=params[start : start + 100], tags=tags[start : start + 100])
