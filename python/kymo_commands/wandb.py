# SPDX-License-Identifier: Apache-2.0
"""kymo export wandb: a run of kymo as an offline run of Weights & Biases; `wandb sync` uploads it."""

import pathlib

import kymo

from kymo_commands import require
from kymo_commands._summary import Report, summary_of


def main(options):
    wandb = require("wandb", "wandb", "kymo export wandb")
    with kymo.open(options["database"]) as database:
        summary = summary_of(database, options["run"])
    folder = pathlib.Path(options["out"])
    folder.mkdir(parents=True, exist_ok=True)
    settings = wandb.Settings(
        console="off", disable_git=True, save_code=False, silent=True, x_disable_machine_info=True, x_disable_stats=True
    )
    with (
        Report(options["database"], summary.run["invocation_id"]) as report,
        wandb.init(
            mode="offline",
            dir=folder,
            project=options["name"],
            name=summary.title,
            group=summary.run["label"] or None,
            job_type=summary.run["workload"],
            config={**summary.config, **{f"machine/{name}": value for name, value in summary.environment.items()}},
            settings=settings,
        ) as run,
    ):
        for step, values in enumerate(_steps(summary.series)):
            run.log(values, step=step)
        for name, columns, rows in report.tables():
            run.log({f"tables/{name}": wandb.Table(columns=columns, data=rows)})
        for figure in report.figures:
            run.log({f"figures/{figure.stem}": wandb.Html(figure.read_text(encoding="utf-8"), inject=False)})
        run.summary.update(summary.metrics)
        written = pathlib.Path(run.dir).parent
    print(f"{written}: run {summary.run['run_id']}; upload it with `wandb sync {written}`")
    return 0


def _steps(series):
    """The times of each measured step, by metric."""
    steps = {}
    for phase, times in series.items():
        for step, time_ms in times:
            steps.setdefault(step, {})[f"steps/{phase}_ms"] = time_ms
    return [steps[step] for step in sorted(steps)]
