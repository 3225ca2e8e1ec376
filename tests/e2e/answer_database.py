# SPDX-License-Identifier: Apache-2.0
"""Databases with constructed runs of the suite cs336, and the answers that its reports give from them."""

import itertools
import json
import re
import sqlite3
from pathlib import Path

import tomllib
from kymo_tool import PLUGINS

ROOT = Path(__file__).resolve().parents[2]
COMMON = ROOT / "tests" / "sql" / "common"
NS = 1e6  # nanoseconds in a millisecond
GIB = 1 << 30
CPU, GPU = 1, 2  # the devices of common/runs.sql
KEYS = ("title", "suite", "profile", "hides_history")  # of a report, which decide what runs it is about
SIZES = ("small", "medium", "large", "xl", "2.7B", "8B", "10B")


class AnswerDatabase:
    """A database without runs. `add` inserts a run; `answer` is the text of a question in the report."""

    def __init__(self, test):
        self.test = test
        self.path = test.work / "kymo.db"
        test.kymo("run", PLUGINS / "probe.so", "--steps", "1", "--warmup", "0", "--no-verify")
        self.database = sqlite3.connect(self.path, isolation_level=None)
        test.addCleanup(self.database.close)
        tables = self.database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'meta'")
        for (table,) in tables.fetchall():
            self.database.execute(f'DELETE FROM "{table}"')
        self.rows("runs")
        self.database.execute("DELETE FROM run")
        self.run_ids = itertools.count(100)
        self.database.execute("UPDATE device SET memory_bytes = 85000000000 WHERE device_id = ?", (GPU,))

    def rows(self, name):
        """Insert the rows of common/NAME.sql."""
        self.database.executescript((COMMON / f"{name}.sql").read_text(encoding="utf-8"))

    def insert(self, table, **columns):
        names = ", ".join(f'"{name}"' for name in columns)
        marks = ", ".join("?" for _ in columns)
        self.database.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(columns.values()))

    def clear(self):
        """Delete all runs with their times, kernels and memory."""
        for table in (
            "run",
            "statistic",
            "sample",
            "verification",
            "kernel_total",
            "step_activity",
            "memory_phase",
            "memory_phase_category",
        ):
            self.database.execute(f"DELETE FROM {table}")

    def text_id(self, text):
        """The id of a string, which is inserted if it is new."""
        found = self.database.execute("SELECT string_id FROM string WHERE text = ?", (text,)).fetchone()
        if found:
            return found[0]
        self.database.execute(
            "INSERT INTO string (string_id, text) SELECT coalesce(max(string_id), 0) + 1, ? FROM string", (text,)
        )
        return self.text_id(text)

    def scope_id(self, scope):
        """The id of a scope path, whose module has no indices."""
        scope_id = self.text_id(scope)
        self.database.execute(
            "INSERT OR IGNORE INTO scope_path (scope_id, module, depth) VALUES (?, ?, ?)",
            (scope_id, re.sub(r"_\d+", "", scope), scope.count("/") + 1),
        )
        return scope_id

    def add(
        self, suite_case, *, workload="transformer_lm", family="transformer", title="", status="ok", device=GPU,
        warmup=5, ranks=1, passes="time", phases=None, parameters=None, metrics=None, case_key="", verification="",
    ):  # fmt: skip
        """Insert a run. `phases` are times in ms: a median, or a median and the ends of its confidence interval.
        A parameter is a value, or a dict of the columns of `param`."""
        run_id = next(self.run_ids)
        parameters = parameters or {}
        shown = {name: value["value"] if isinstance(value, dict) else value for name, value in parameters.items()}
        self.insert(
            "run", run_id=run_id, invocation_id=2, sequence=run_id, plugin_id=1, workload=workload, title=title,
            family=family, case_key=case_key or f"{workload} {sorted(shown.items())} {ranks}",
            settings_key=f"s{run_id}", plan_key=f"p{run_id}", suite="cs336", suite_case=suite_case, label="",
            repetition=0, ranks=ranks, device_kind="cuda" if device == GPU else "cpu", timing="sync", sync="step",
            warmup=warmup, steps=10, passes=passes, seed=0, status=status,
            detail="" if status == "ok" else "CUDA out of memory", verification=verification, failed_pass="",
            failed_phase="", started_at=f"2026-01-03T00:{run_id // 60:02}:{run_id % 60:02}.000Z",
        )  # fmt: skip
        for position, (name, given) in enumerate(parameters.items()):
            columns = dict(given) if isinstance(given, dict) else {"value": given}
            kind = {bool: "bool", int: "int", float: "real", str: "text"}[type(columns["value"])]
            columns = {"position": position, "type": kind, **columns}
            if name == "size":
                columns.setdefault("choice", SIZES.index(columns["value"]))
            self.insert("param", run_id=run_id, name=name, **columns)
        for name in passes.split(","):
            self.insert(
                "rank", run_id=run_id, rank=0, **{"pass": name}, pid=1, host="h", status=status, device_id=device,
                resident_peak_bytes=10, stdout="", stderr="",
            )  # fmt: skip
        for phase, time in (phases or {}).items():
            self.add_time(run_id, phase, time, "device" if device == GPU else "host")
        for name, value in (metrics or {}).items():
            self.insert(
                "metric", run_id=run_id, rank=0, **{"pass": "time"}, sequence=self.next("metric", run_id),
                level="run", step=-1, phase="", name=name, value=value, unit="",
            )  # fmt: skip
        return run_id

    def next(self, table, run_id):
        (value,) = self.database.execute(
            f"SELECT coalesce(max(sequence) + 1, 0) FROM {table} WHERE run_id = ?", (run_id,)
        ).fetchone()
        return value

    def add_time(self, run_id, phase, time, clock="device"):
        median, low, high = time if isinstance(time, tuple) else (time, 0.999 * time, 1.001 * time)
        self.insert(
            "statistic", run_id=run_id, phase=phase, clock=clock, count=10, excluded=0, all_throttled=0,
            mean_ns=median * NS, std_ns=(high - low) * NS, median_ns=median * NS, min_ns=low * NS, max_ns=high * NS,
            median_low_ns=low * NS, median_high_ns=high * NS, median_confidence=0.97,
        )  # fmt: skip

    def add_model(self, suite_case, size="small", context=128, **columns):
        """Insert a run of the Transformer; the key `parameters` adds to those of a training step in fp32."""
        parameters = {"size": size, "context": context, "batch": 4, "dtype": "fp32", "autocast": False, "mode": "train"}
        parameters.update(columns.pop("parameters", {}))
        return self.add(suite_case, parameters=parameters, **columns)

    def add_ddp(self, suite_case, workload, phases, order=1, parameters=None, **columns):
        """Insert a run of data-parallel training on two ranks; `phases` are times in ms of every step and rank."""
        run_id = self.add(
            suite_case, workload=workload, family="data_parallel", title=suite_case, ranks=2,
            phases={"step": sum(phases.values())}, parameters=parameters, metrics={"gradient_bytes": 1000}, **columns,
        )  # fmt: skip
        self.database.execute("UPDATE run SET family_order = ? WHERE run_id = ?", (order, run_id))
        for phase, ms in {**phases, "step": sum(phases.values())}.items():
            self.insert(
                "sample", run_id=run_id, rank=0, **{"pass": "time"}, step=5, phase=phase, warmup=0, throttled=0,
                calls=1, start_ns=0, host_ns=ms * NS, device_ns=ms * NS,
            )  # fmt: skip
        return run_id

    def plan_model(self, suite_case, **parameters):
        """Insert a run of the Transformer that the newest command planned and did not start."""
        (sequence,) = self.database.execute("SELECT coalesce(max(sequence), 1000000) + 1 FROM planned_run").fetchone()
        key = f"{suite_case} {sequence}"
        self.insert(
            "planned_run", invocation_id=2, sequence=sequence, workload="transformer_lm",
            parameters=json.dumps(parameters), case_key=key, settings_key=key, plan_key=key, suite="cs336",
            suite_case=suite_case, label="", repetition=0, ranks=1, device_kind="cuda", warmup=5,
        )  # fmt: skip

    def add_kernels(self, run_id, kernels):
        """Insert kernels of a traced run: (phase, class, module, ms of a step)."""
        for phase, kind, module, ms in kernels:
            name_id, scope_id = self.text_id(f"{kind}_kernel"), self.scope_id(module)
            self.database.execute(
                "INSERT OR IGNORE INTO kernel_class (name_id, short_name, class) VALUES (?, ?, ?)",
                (name_id, f"{kind}_kernel", kind),
            )
            self.insert(
                "kernel_total", run_id=run_id, rank=0, **{"pass": "trace"}, sequence=self.next("kernel_total", run_id),
                kind="kernel", phase_id=self.text_id(phase), scope_id=scope_id, name_id=name_id, attribution="launch",
                steps=1, calls=1, bytes=0, total_ns=ms * NS, min_ns=ms * NS, max_ns=ms * NS,
            )  # fmt: skip

    def add_activity(self, run_id, phase, span_ms, busy_ms):
        """Insert how long a phase of the traced step took and the GPU was busy in it."""
        self.insert(
            "step_activity", run_id=run_id, rank=0, **{"pass": "trace"}, step=6, warmup=0, phase=phase, start_ns=0,
            end_ns=span_ms * NS, idle_ns=(span_ms - busy_ms) * NS, gaps=10, longest_gap_ns=1000, kernels=100,
            kernel_ns=busy_ms * NS, compute_ns=busy_ms * NS, comm_ns=0, overlap_ns=0, exposed_comm_ns=0, copy_ns=0,
            exposed_copy_ns=0,
        )  # fmt: skip

    def add_peak(self, run_id, phase, categories):
        """Insert the peak of a phase of step 6 and of the step: GiB by category."""
        total = int(sum(categories.values()) * GIB)
        for name in (phase, "step"):
            self.insert(
                "memory_phase", run_id=run_id, rank=0, **{"pass": "memory"}, device="cuda", step=6, phase=name,
                warmup=0, begin_allocated_bytes=0, end_allocated_bytes=0, peak_requested_bytes=total,
                peak_allocated_bytes=total, peak_active_bytes=total, peak_reserved_bytes=total, peak_ns=1,
            )  # fmt: skip
            for category, gib in categories.items():
                self.insert(
                    "memory_phase_category", run_id=run_id, rank=0, **{"pass": "memory"}, device="cuda", step=6,
                    phase=name, category=category, bytes=int(gib * GIB),
                )  # fmt: skip

    def add_block(self, run_id, size, phase, scope, operator, alloc_ns=1, category="activation"):
        """Insert a memory block that an operator requested in step 6, and that exists until the end of the pass."""
        sequence = self.next("allocation", run_id)
        self.insert(
            "allocation", run_id=run_id, rank=0, **{"pass": "memory"}, sequence=sequence, device="cuda",
            address=sequence, requested_bytes=size, allocated_bytes=size, alloc_ns=alloc_ns, stream=0, thread=0, step=6,
            phase_id=self.text_id(phase), scope_id=self.scope_id(scope), op_id=self.text_id(operator),
            category=category, category_source="lifetime",
        )  # fmt: skip

    def add_bandwidth(self, gb_s, backend="nccl", device=GPU, call_ms=0):
        """Insert all-reduces of two ranks whose time is that of a call plus their size over the bandwidth, which is
        then that of a ring."""
        for size in (1_000_000, 100_000_000):
            self.add(
                f"collectives-{backend}", workload="all_reduce", family="collective", ranks=2, device=device,
                parameters={"backend": backend, "bytes": size, "dtype": "fp32", "in_place": True},
                phases={"step": call_ms + size / gb_s / 1e6},
            )  # fmt: skip

    def add_rate(self, tflops, dtype="bf16", device=GPU):
        """Insert matrix products at a rate."""
        run_id = self.add(
            "peaks", workload="peaks", family="peak", device=device, parameters={"kind": "matmul", "dtype": dtype},
            phases={"operation": 1},
        )  # fmt: skip
        self.insert("work", run_id=run_id, rank=0, phase="operation", flops=tflops * 1e9, bytes=0)

    def report(self, name="cs336", folder=ROOT / "reports"):
        """The report in Markdown, with plain spaces."""
        out = self.test.work / "out"
        self.test.kymo("report", folder / name, "--db", self.path, "--format", "markdown", "--out", out)
        return (out / "report.md").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")

    def section(self, heading, name="cs336"):
        """The text of the section with this heading, up to the next one."""
        return self.text_of(heading, self.report(name))

    def text_of(self, heading, text):
        found = re.search(rf"^#+ {re.escape(heading)}.*?\n(.*?)(?=^#+ |\Z)", text, re.DOTALL | re.MULTILINE)
        self.test.assertIsNotNone(found, f"no section '{heading}' in:\n{text}")
        return found[1]

    def answer(self, number, name="cs336"):
        """The answer to a question, from a report that has no other section: a whole one takes ten times as long."""
        reports = self.test.work / "reports"
        if not reports.exists():
            reports.mkdir()
            for folder in (ROOT / "reports").iterdir():
                (reports / folder.name).symlink_to(folder)
        given = tomllib.loads((reports / name / "report.toml").read_text(encoding="utf-8"))
        heading = f"Question {number}."
        (section,) = (each for each in given["section"] if each["heading"].startswith(heading))
        content = section["content"] if "/" in section["content"] else f"../{name}/{section['content']}"
        detail = tomllib.loads((reports / name / section["content"]).read_text(encoding="utf-8")).get("detail", [])
        lines = [f"{key} = {json.dumps(given[key])}" for key in KEYS if key in given]
        lines += ["[[section]]", f'heading = "{section["heading"]}"', "level = 2", f'content = "{content}"']
        for each in detail:
            lines += ["[[section]]", f'heading = "{each}"', 'prose = "Details."']
        (reports / "answer").mkdir(exist_ok=True)
        (reports / "answer" / "report.toml").write_text("\n".join(lines), encoding="utf-8")
        return self.text_of(heading, self.report("answer", reports))
