# SPDX-License-Identifier: Apache-2.0
"""kymo mcp: a results database for agents, by the Model Context Protocol on stdin and stdout.

Every tool returns an object with the same members: `answer`, or null with the `reason` why the database cannot give one
and `how` to get it, and `truncated` if there are more rows than the limit. The tools run kymo's own commands, which
only read, and limit the time and memory of queries.
"""

import functools
import inspect
import pathlib
import re

import kymo
from kymo._database import DOCUMENTATION
from kymo._results import kymo_json

from kymo_commands import require, sql_text

_INSTRUCTIONS = (
    "Measurements of LLM training code on CPUs and GPUs. Begin with list_runs; findings says what makes a run slow. "
    "Times in views are in ms. Answers that the database cannot give have answer null, with the reason and how to get "
    "them; do not guess them."
)


def _answer(value, truncated=False):
    return {"answer": value, "reason": None, "how": None, "truncated": truncated}


def _no_answer(reason, how):
    return {"answer": None, "reason": reason, "how": how, "truncated": False}


def _section(name):
    """The documentation of a view or table in docs/schema.md, or None."""
    if not DOCUMENTATION.exists():
        return None
    found = re.search(rf"^### {re.escape(name)}\n(.*?)(?=^##|\Z)", DOCUMENTATION.read_text("utf-8"), re.M | re.S)
    return found and found[1].strip()


class Tools:
    """The tools, each a method whose signature and docstring describe it to the client."""

    def __init__(self, database, rows, seconds):
        self._database = database
        self._most_rows = rows
        self._limits = ["--timeout", str(seconds)]

    def _kymo(self, *words):
        return kymo_json([*words, "--db", self._database])

    def _query(self, sql):
        statement = sql.strip().rstrip(";")
        limited = f"SELECT * FROM (\n{statement}\n) LIMIT {self._most_rows + 1}"
        rows = self._kymo("sql", limited, *self._limits)
        return rows[: self._most_rows], len(rows) > self._most_rows

    def _has_run(self, run_id):
        return bool(self._query(f"SELECT 1 FROM run WHERE run_id = {int(run_id)}")[0])

    def _unknown_run(self, run_id):
        return _no_answer(f"the database has no run {run_id}", "list_runs")

    def list_runs(self, workload: str = "", label: str = "", status: str = ""):
        """List the runs, newest first: id, workload, parameters, device, status, step time in ms. Filter by workload,
        label or status (ok, oom, failed, crashed, timeout, interrupted, skipped)."""
        conditions = [
            f"{name} = {sql_text(value)}"
            for name, value in (("workload", workload), ("label", label), ("status", status))
            if value
        ]
        rows, truncated = self._query(
            "SELECT run_id, invocation_id, started_at, workload, parameters, label, suite, suite_case, ranks, "
            "device_kind, device_name, status, detail, step_median_ms, step_mean_ms FROM run_list"
            + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
            + " ORDER BY run_id DESC"
        )
        if rows:
            return _answer(rows, truncated)
        if conditions:
            return _no_answer("no run has these properties", "list_runs without arguments")
        return _no_answer("the database has no runs", f"kymo run WORKLOAD --db {self._database}")

    def show_run(self, run_id: int):
        """Show one run: parameters, method, times of its phases in ns with intervals, warnings, top kernels and
        operators, memory, cause of failure."""
        return _answer(self._kymo("show", str(int(run_id)))) if self._has_run(run_id) else self._unknown_run(run_id)

    def findings(self, run_id: int):
        """What takes the time of a run's steps and what to do next, warnings about its numbers, and what it did not
        record, so that there are no findings about it."""
        if not self._has_run(run_id):
            return self._unknown_run(run_id)
        found = {}
        truncated = False
        for name, view in (("findings", "step_finding"), ("warnings", "run_warning"), ("not_recorded", "not_recorded")):
            rows, more = self._query(f"SELECT * FROM {view} WHERE run_id = {int(run_id)}")
            found[name] = rows
            truncated = truncated or more
        if any(found.values()):
            return _answer(found, truncated)
        return _no_answer(
            f"run {run_id} has no findings, no warnings, and recorded everything that the rules need",
            "show_run, or query the views that `schema` lists",
        )

    def compare(self, before: str, after: str, phase: str = "step"):
        """Compare the runs of two labels or invocation numbers and test whether their times differ: per case the ratio
        after / before with its 95 % interval and the verdict. A verdict needs five runs on each side, each in processes
        of its own."""
        for side in (before, after):  # kymo compare also takes files
            text = sql_text(side)
            if not self._query(f"SELECT 1 FROM run WHERE label = {text} OR invocation_id = {text}")[0]:
                return _no_answer(f"no run has the label or invocation number '{side}'", "list_runs")
        compared = self._kymo("compare", before, after, "--phase", phase)
        if compared["cases"]:
            return _answer(compared)
        return _no_answer(
            f"{before} and {after} have no case in common with times of phase {phase}",
            "kymo run W --repeat 5 --fresh --label before, and again with another label after the change",
        )

    def sql(self, query: str):
        """Run one SELECT of SQLite against the views and tables that `schema` lists. Besides SQLite's functions there
        are median(x), percentile(x, p) with p from 0 to 100, and stddev(x)."""
        rows, truncated = self._query(query)
        return _answer(rows, truncated) if rows else _no_answer("the query has no rows", "schema")

    def schema(self, name: str = ""):
        """List the views with what they contain, or describe one view or table with its columns."""
        with kymo.open(self._database) as database:
            if not name:
                return _answer(database.views())
            try:
                columns = database.columns(name)
            except kymo.Error as error:
                return _no_answer(str(error), "schema without arguments")
        return _answer({"name": name, "columns": columns, "documentation": _section(name)})


TOOLS = ("list_runs", "show_run", "findings", "compare", "sql", "schema")


def _reporting(tool):
    """The tool, with errors of kymo as answers in the fixed form."""

    @functools.wraps(tool)
    def wrapped(*arguments, **named):
        try:
            return tool(*arguments, **named)
        except kymo.Error as error:
            return _no_answer(str(error), "schema" if tool.__name__ == "sql" else "list_runs")

    return wrapped


def main(options):
    server_module = require("mcp.server.mcpserver", "'mcp>=2'", "kymo mcp")
    types = require("mcp.types", "'mcp>=2'", "kymo mcp")
    tools = Tools(str(pathlib.Path(options["database"])), options["rows"], options["seconds"])
    server = server_module.MCPServer("kymo", version=kymo.__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    for name in TOOLS:
        tool = getattr(tools, name)
        server.tool(
            description=inspect.getdoc(tool),
            annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
            structured_output=False,
        )(_reporting(tool))
    server.run("stdio")
    return 0
