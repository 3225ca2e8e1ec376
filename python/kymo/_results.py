# SPDX-License-Identifier: Apache-2.0
"""kymo.open, kymo.run and kymo.compare: results as data frames."""

import functools
import inspect
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref

from . import _plots
from ._database import ROOT, Database, Error, _module, frame, open

__all__ = ["Database", "Error", "Results", "compare", "open", "run"]

_USAGE = 2  # exit code of `kymo`
_RUN_FAILED = 3
_NS_PER_MS = 1e6


def program():
    """The `kymo` program: $KYMO_PROGRAM, that of this installation, or the one on PATH."""
    chosen = os.environ.get("KYMO_PROGRAM")
    if chosen:
        if not os.access(chosen, os.X_OK):
            raise Error(f"KYMO_PROGRAM: no program '{chosen}'; set it to the path of kymo, or remove the variable")
        return chosen
    own = ROOT / "bin" / "kymo"
    found = str(own) if os.access(own, os.X_OK) else shutil.which("kymo")
    if not found:
        raise Error(f"no kymo program in '{own.parent}' or on PATH; set KYMO_PROGRAM to its path")
    return found


def _wait(child):
    """Wait for a process and pass Ctrl-C and the interrupt of a notebook on to it, so that it ends its workers."""
    try:
        return child.wait()
    except KeyboardInterrupt:
        child.send_signal(signal.SIGINT)
        _wait(child)
        raise


def kymo_json(words):
    """Run `kymo WORDS --json` and return what it prints. Shows its messages if it or a run failed."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        child = subprocess.Popen(
            [program(), *words, "--json"], stdin=subprocess.DEVNULL, stdout=output, stderr=messages
        )
        code = _wait(child)
        output.seek(0)
        messages.seek(0)
        text = messages.read().decode(errors="replace").strip()
        if code not in (0, _RUN_FAILED):
            last = text.splitlines()[-1].removeprefix("kymo: ") if text else f"kymo ended with exit code {code}"
            raise Error(last if code == _USAGE else f"{last}\n{text}" if "\n" in text else last)
        if code == _RUN_FAILED and text:
            print(text, file=sys.stderr)
        return json.load(output)


def _source_of(workload):
    """FILE or FILE:NAME of a workload that is defined in Python."""
    original = inspect.unwrap(workload) if callable(workload) else workload
    name = getattr(original, "__name__", repr(workload))
    # For a class, inspect only knows the file of its module, which in a notebook is another one.
    code = (
        next((each for each in vars(original).values() if inspect.isfunction(each)), original)
        if inspect.isclass(original)
        else original
    )
    try:
        file = inspect.getfile(code)
    except TypeError:
        file = None
    if not file or not os.path.isfile(file):
        raise Error(
            f"workload {name} is not defined in a file, but each run imports it in a new process; in a notebook, start "
            f"its cell with '%%writefile {name.lower()}.py' and pass '{name.lower()}.py' to kymo.run"
        )
    return f"{os.path.abspath(file)}:{workload.name}"


def _words_of(workload):
    if isinstance(workload, (list, tuple)):
        return [word for each in workload for word in _words_of(each)]
    return [os.fspath(workload) if isinstance(workload, (str, os.PathLike)) else _source_of(workload)]


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _axis(name, values):
    """An axis as the program reads it; a text such as "64..256*2" and None, the default values, are passed through."""
    if values is None:
        return name
    if isinstance(values, str):
        return f"{name}={values}"
    texts = [_text(value) for value in values]
    invalid = next((text for text in texts if "," in text), None)
    if invalid is not None:
        raise Error(
            f"axis {name}: '{invalid}' contains a comma; pass it with set={{'{name}': ...}} in a run of its own"
        )
    return f"{name}={','.join(texts)}"


def _option_words(options):
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            yield option
        elif isinstance(value, (list, tuple)):
            for each in value:
                yield from (option, _text(each))
        elif value is not None and value is not False:
            yield from (option, _text(value))


class _TemporaryFolder:
    """Exists as long as this object."""

    def __init__(self):
        self.name = tempfile.mkdtemp(prefix="kymo-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def run(
    workload,
    *,
    axes=None,
    set=None,
    passes=None,
    steps=None,
    repeat=None,
    device=None,
    ranks=None,
    database=None,
    python=None,
    **options,
):
    """Run and measure a workload as `kymo run` does, and return its Results.

    workload: a name that `kymo list` shows, "FILE.py", "FILE.py:NAME", "FILE.so", a kymo.Workload class or a function
        decorated with kymo.workload that is defined in a file, or a list of these.
    axes: parameters to sweep: {"n": [1024, 4096]}, {"n": "64..256*2"}, or {"n": None} for the workload's own values.
    set: values of other parameters: {"dtype": "bf16"}.
    passes: "verify,time" by default; also memory, trace, ops, counters and predict, as text or a list.
    database: results database; by default a temporary one that lasts as long as the Results.
    python: interpreter that runs the workloads in Python; by default the current one.
    options: every other option of `kymo run`: `label="before"`, `min_time=2`, `fresh=True`, `against="attention_sdpa"`.

    Runs that fail are rows with their status. Raises Error for wrong arguments.
    """
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    if main and os.path.basename(main) == "kymo_worker.py":
        raise Error(
            "kymo.run in the file of a workload runs whenever it is imported; move it under "
            "'if __name__ == \"__main__\":' or to another file"
        )
    if database is None:
        _module("pandas", "pandas; or pass database=FILE, which keeps the results")
    folder = _TemporaryFolder() if database is None else None
    file = pathlib.Path(folder.name, "kymo.db") if folder else pathlib.Path(database)
    words = ["run", *_words_of(workload), "--db", str(file), "--python", python or sys.executable]
    for name, values in (axes or {}).items():
        words += ["--axis", _axis(name, values)]
    for name, value in (set or {}).items():
        words += ["--set", f"{name}={_text(value)}"]
    if passes is not None and not isinstance(passes, str):
        passes = ",".join(passes)
    words += _option_words(
        {"passes": passes, "steps": steps, "repeat": repeat, "device": device, "ranks": ranks, **options}
    )
    return Results(kymo_json(words), file, folder)


def _run_row(run):
    """One row of Results.frame: parameters, step times, the statistic that represents the run and its value, the time
    of each phase by this statistic, and metrics."""
    row = {name: run[name] for name in ("run_id", "workload")}

    def add(prefix, name, value):
        row[name if name not in row and name not in run else f"{prefix}_{name}"] = value

    for name, value in run["parameters"].items():
        add("parameter", name, value)
    for name in ("ranks", "device", "label", "repetition", "status", "detail", "verification"):
        row[name] = run[name]
    step = run["phases"].get("step", {})
    for name in ("median", "median_low", "median_high", "mean", "std", "min", "max", "time"):
        value = step.get(f"{name}_ns")
        row[f"{name}_ms"] = None if value is None else value / _NS_PER_MS
    row["statistic"] = step.get("statistic")
    for name in ("flops_per_s", "bytes_per_s"):
        if name in step:
            row[name] = step[name]
    for name, phase in run["phases"].items():
        if name != "step":
            add("phase", f"{name}_ms", phase[f"{step.get('statistic', 'median')}_ns"] / _NS_PER_MS)
    for name, metric in run["metrics"].items():
        add("metric", name, metric["value"])
    return row


def _frame_of(rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    return frame(names, [[row.get(name) for name in names] for row in rows])


class Results:
    """The results of one kymo.run: `.frame` has a row per run; `.database` has everything, as kymo.open returns it."""

    def __init__(self, output, file, folder):
        self._folder = folder  # removed with this object
        self.path = file
        self.invocation_id = output["invocation_id"]
        self.runs = output["runs"]
        """The runs as `kymo run --json` prints them, as dictionaries."""
        self.against = output.get("against", [])

    @functools.cached_property
    def database(self):
        database = open(self.path)
        database.folder = self._folder  # a temporary database lasts as long as somebody uses it
        return database

    @functools.cached_property
    def frame(self):
        """One row per run: parameters, status, times of a step and medians of the phases in ms, metrics."""
        return _frame_of([_run_row(run) for run in self.runs])

    @functools.cached_property
    def phase_times(self):
        """One row per run and phase: what differs between the runs, and the times of the phase in ms."""
        names = _plots.varied(self.runs)
        rows = []
        for run in self.runs:
            values = _plots.title_values(run)
            for phase, each in run["phases"].items():
                row = {"run_id": run["run_id"], **{name: values.get(name) for name in names}, "phase": phase}
                for name in ("mean", "std", "median", "min", "max"):
                    row[f"{name}_ms"] = None if each.get(f"{name}_ns") is None else each[f"{name}_ns"] / _NS_PER_MS
                rows.append(row)
        return _frame_of(rows)

    def plot(self, kind="times", *, x=None, run_id=None, ax=None):
        """Draw a figure with matplotlib, in `ax` or a new one, and return its axes.

        kind: "times": the time of a step with its 95 % interval over `x`, by default the number that varies most, with
            a line for each combination of what else varies; "phases": the phases of a step, a bar for each run;
            "roofline": the operators of one run below the measured peaks of its device, if the pass `ops` recorded
            their work (trace_detail="shapes") and `kymo peaks` is in the same database.
        run_id: only this run.
        """
        return _plots.plot(self, kind, x, run_id, ax)

    @functools.cached_property
    def warnings(self):
        """One row per warning about a run, such as `interference`: whether the numbers can be trusted."""
        rows = [(run["run_id"], each["kind"], each["detail"]) for run in self.runs for each in run["warnings"]]
        return frame(["run_id", "kind", "detail"], rows)

    def __repr__(self):
        return repr(self.frame)

    def _repr_html_(self):
        return self.frame._repr_html_()


def _side(side):
    """The database of one side of a comparison, if it has one of its own, and the word for its runs in it."""
    if isinstance(side, Results):
        return side.path, str(side.invocation_id)
    if isinstance(side, Database):
        return side.path, None
    if isinstance(side, os.PathLike) or (isinstance(side, str) and (side.endswith(".db") or "/" in side)):
        return pathlib.Path(side), None
    return None, str(side)


def _word_of_side(file, word, database):
    if file is None or (database is not None and word is not None):
        return word
    if word is not None and len(open(file).rows("SELECT 1 FROM invocation")[1]) > 1:
        raise Error(f"database '{file}' also contains other runs; measure both sides with the same database=FILE")
    return str(file) if "/" in str(file) else f"./{file}"


def compare(before, after, *, phase="step", margin=None, database=None):
    """Compare two sets of runs and test whether their times differ, as `kymo compare` does.

    before, after: Results of kymo.run, a database or its path, or a label or invocation number in `database`.
    margin: largest relative difference that is treated as no difference, 0.01 by default.

    Returns one row per case: times in ms, what they are (mean or median), ratio after / before with its 95 % interval,
    and the verdict. A verdict needs five runs on each side in processes of their own:
    kymo.run(..., repeat=5, fresh=True).
    """
    sides = [_side(before), _side(after)]
    files = {file for file, word in sides if word is not None and file is not None}
    common = None
    if database is not None:
        common = pathlib.Path(database)
    elif len(files) == 1 and all(file is not None and word is not None for file, word in sides):
        common = files.pop()
    words = ["compare", *(_word_of_side(file, word, common) for file, word in sides), "--phase", phase]
    if common is not None:
        words += ["--db", str(common)]
    if margin is not None:
        words += ["--margin", _text(margin)]
    return _frame_of([_comparison_row(case) for case in kymo_json(words)["cases"]])


def _comparison_row(case):
    row = {"workload": case["workload"]}
    for name, value in case["parameters"].items():
        row[name if name not in case else f"parameter_{name}"] = value
    row |= {name: case[name] for name in ("ranks", "device", "phase")}
    for side in ("before", "after"):
        time_ns = case[side]["time_ns"]
        row[f"{side}_ms"] = None if time_ns is None else time_ns / _NS_PER_MS
        row[f"{side}_runs"] = case[side]["runs"]
    for name in ("statistic", "ratio", "ratio_low", "ratio_high", "probability", "verdict", "more_runs"):
        row[name] = case[name]
    row["notes"] = "; ".join(case["notes"])
    return row
