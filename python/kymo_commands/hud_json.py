# SPDX-License-Identifier: Apache-2.0
"""kymo export hud-json: runs in the format of PyTorch's benchmark database, a list with one object per metric.

Its fields are those of the table oss_ci_benchmark_v3; the upload adds the fields of the workflow.
"""

import json
import pathlib

import kymo

from kymo_commands._summary import current_runs, summary_of

_MODES = {"forward": "inference", "inference": "inference", "train": "training", "training": "training"}


def _texts(values):
    return {name: str(value) for name, value in values.items() if value not in (None, "")}


def _gib(text):
    return int(text) >> 30 if text.isdigit() else 0


def _runner(summary, devices):
    environment = summary.environment
    gpus = [(name, memory) for kind, name, memory in devices if kind == "cuda"]
    return {
        "name": environment.get("host", ""),
        "type": gpus[0][0] if gpus else environment.get("cpu", ""),
        "cpu_info": environment.get("cpu", ""),
        "cpu_count": int(environment["cores"]) if environment.get("cores", "").isdigit() else 0,
        "avail_mem_in_gb": _gib(environment.get("memory_bytes", "")),
        "gpu_info": gpus[0][0] if gpus else "",
        "gpu_count": len(gpus),
        "avail_gpu_mem_in_gb": sum(memory for _, memory in gpus) >> 30,
        "extra_info": _texts({name: environment.get(name) for name in ("os", "kernel", "driver", "cuda")}),
    }


def _records(summary, devices):
    run = summary.run
    parameters = run["parameters"]
    benchmark = {
        "name": f"kymo {run['suite']}".strip(),
        "mode": _MODES.get(str(parameters.get("mode", "")), ""),
        "dtype": str(parameters.get("dtype", parameters.get("precision", ""))),
        "extra_info": _texts({name: run[name] for name in ("timing", "sync", "warmup", "passes", "label", "plan_key")}),
    }
    model = {
        "name": " ".join([run["workload"], *(f"{name}={value}" for name, value in parameters.items())]),
        "type": run["family"] or "workload",
        "backend": run["device"],
        "origins": ["kymo"],
        "extra_info": _texts({**parameters, "ranks": run["ranks"], "case_key": run["case_key"]}),
    }
    dependencies = {
        name: {"version": summary.environment[name]} for name in ("kymo", "torch") if summary.environment.get(name)
    }
    samples = {f"{phase}/time_ms": [time_ms for _, time_ms in times] for phase, times in summary.series.items()}
    for name, value in summary.metrics.items():
        yield {
            "benchmark": benchmark,
            "model": model,
            "metric": {
                "name": name,
                "benchmark_values": [value],
                "extra_info": {"steps": str(len(samples[name]))} if name in samples else {},
            },
            "runners": [_runner(summary, devices)],
            "dependencies": dependencies,
        }


def _devices(database, run_id):
    sql = (
        "SELECT DISTINCT d.device_id, d.kind, d.name, d.memory_bytes FROM rank k "
        "JOIN device d ON d.device_id = k.device_id WHERE k.run_id = ? ORDER BY d.device_id"
    )
    return [row[1:] for row in database.rows(sql, [run_id])[1]]


def main(options):
    records = []
    with kymo.open(options["database"]) as database:
        for run_id in current_runs(database) if options["run"] is None else [options["run"]]:
            records += _records(summary_of(database, run_id), _devices(database, run_id))
    text = json.dumps(records, indent=1, allow_nan=False) + "\n"
    if options["out"] == "-":
        print(text, end="")
    else:
        pathlib.Path(options["out"]).write_text(text, encoding="utf-8")
        print(options["out"])
    return 0
