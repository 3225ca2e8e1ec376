# SPDX-License-Identifier: Apache-2.0
"""Results.plot: the usual figures of a sweep with matplotlib, in the colors of the reports."""

import itertools

from ._database import Error, _module

# The first eight of host/report/palette.hpp, on a light background.
COLORS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#6B6B6B", "#B8A800"]
_LINES = ["-", "--", ":", "-."]


def varied(runs):
    """The names of what differs between runs: the workload, parameters, ranks, device, label."""
    rows = [title_values(run) for run in runs]
    names = dict.fromkeys(name for row in rows for name in row)
    return [name for name in names if len({str(row.get(name)) for row in rows}) > 1]


def title_values(run):
    return {
        "workload": run["workload"],
        **run["parameters"],
        **{name: run[name] for name in ("ranks", "device", "label") if name not in run["parameters"]},
    }


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _axis_of(runs, names, x):
    if x is not None:
        if x not in names:
            raise Error(f"plot: '{x}' does not vary among the runs; what does: {', '.join(names) or 'nothing'}")
        return x
    numbers = [name for name in names if all(_is_number(title_values(run).get(name)) for run in runs)]
    values = {name: len({title_values(run)[name] for run in runs}) for name in numbers}
    return max(numbers, key=values.get, default=None)


def _label(values, names):
    return ", ".join(str(values[name]) if name == "workload" else f"{name}={values[name]}" for name in names)


def _lines():
    """(color, line style) of each series; further series than colors have other line styles."""
    for style in _LINES:
        for color in COLORS:
            yield color, style
    raise Error(f"plot: more than {len(COLORS) * len(_LINES)} series; select runs, or name another x")


def _interval(step):
    """Distances in ms from the time that represents the run to the ends of its 95 % interval; 0 without one."""
    names = ("ci_low_ns", "ci_high_ns") if step["statistic"] == "mean" else ("median_low_ns", "median_high_ns")
    return [0 if step.get(name) is None else abs(step[name] - step["time_ns"]) / 1e6 for name in names]


def times(runs, axes, x):
    """Time of a step with its 95 % interval, over a parameter that varies; a line for each other combination."""
    names = varied(runs)
    x = _axis_of(runs, names, x)
    others = [name for name in names if name != x]
    styles = _lines()
    values = {run["run_id"]: title_values(run) for run in runs}
    key = lambda run: tuple(str(values[run["run_id"]][name]) for name in others)  # noqa: E731
    runs = sorted(runs, key=lambda run: (key(run), values[run["run_id"]].get(x, 0) if x else 0))
    for _, group in itertools.groupby(runs, key):
        group = list(group)
        steps = [run["phases"]["step"] for run in group]
        middle = [step["time_ns"] / 1e6 for step in steps]
        errors = [_interval(step) for step in steps]
        at = [values[run["run_id"]][x] for run in group] if x else [_label(values[group[0]["run_id"]], others) or "run"]
        color, style = next(styles)
        label = _label(values[group[0]["run_id"]], others) or None
        if x is None:
            at = at * len(group)  # repetitions are above each other
        axes.errorbar(
            at,
            middle,
            yerr=[*zip(*errors, strict=True)],
            color=color,
            linestyle=style,
            marker="o",
            capsize=3,
            label=label,
        )
    statistics = {run["phases"]["step"]["statistic"] for run in runs}
    axes.set_ylabel(f"{statistics.pop() if len(statistics) == 1 else 'mean or median'} of a step (ms)")
    if x is not None:
        axes.set_xlabel(x)
        numbers = [values[run["run_id"]][x] for run in runs]
        if all(_is_number(number) and number > 0 for number in numbers) and max(numbers) >= 8 * min(numbers):
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
    if axes.get_yscale() == "linear":
        axes.set_ylim(bottom=0)
    if others and x is not None:
        axes.legend()


def phases(runs, axes):
    """The phases of a step, mean times stacked, a bar for each run."""
    names = varied(runs)
    bottoms = [0.0] * len(runs)
    labels = [_label(title_values(run), names) or f"run {run['run_id']}" for run in runs]
    labels = [
        f"{label} ({run['run_id']})" if labels.count(label) > 1 else label
        for label, run in zip(labels, runs, strict=True)
    ]
    entered = dict.fromkeys(name for run in runs for name in run["phases"] if name != "step")
    for number, phase in enumerate(sorted(entered, key=lambda name: name == "other")):
        lengths = [run["phases"].get(phase, {}).get("mean_ns", 0) / 1e6 for run in runs]
        axes.barh(labels, lengths, left=bottoms, color=COLORS[number % len(COLORS)], label=phase)
        bottoms = [bottom + length for bottom, length in zip(bottoms, lengths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("mean time per step (ms)")
    axes.legend()


def _draw_roofs(axes, roofs, intensities):
    """Rates of memory up to the highest rate of compute, and rates of compute from the intensity that reaches them."""
    memory = {label: rate for label, kind, rate in roofs if kind == "memory"}
    compute = {label: rate for label, kind, rate in roofs if kind != "memory"}
    low, high = min(intensities) / 2, 2 * max(intensities)
    for label, rate in memory.items():
        end = max(compute.values()) / rate if compute else high
        axes.plot([low, max(low, end)], [low * rate, max(low, end) * rate], color="#6B6B6B", linewidth=1)
        axes.annotate(label, (low, low * rate), ha="left", va="bottom", fontsize="small")
    for label, rate in compute.items():
        start = rate / max(memory.values()) if memory else low
        axes.plot([start, max(high, 2 * start)], [rate, rate], color="#6B6B6B", linewidth=1)
        axes.annotate(label, (max(high, 2 * start), rate), ha="right", va="bottom", fontsize="small")


def roofline(database, runs, axes):
    """Operators of one run by intensity and rate, below the measured peaks of the device."""
    if len(runs) != 1:
        raise Error(f"plot: a roofline is that of one run, and there are {len(runs)}; pass run_id=...")
    run = runs[0]["run_id"]
    _, marks = database.rows(
        "SELECT class, flops, bytes, ms FROM roofline_mark WHERE run_id = ? AND rank = 0 AND flops > 0 AND bytes > 0 "
        "AND ms > 0 ORDER BY ms DESC",
        [run],
    )
    if not marks:
        raise Error(
            f"plot: run {run} has no operators with known work: kymo.run(..., passes='ops', trace_detail='shapes')"
        )
    _, roofs = database.rows(
        "SELECT DISTINCT label, kind, rate FROM roofline_roof WHERE run_id = ? AND rank = 0", [run]
    )
    classes = list(dict.fromkeys(mark[0] for mark in marks))
    longest = max(mark[3] for mark in marks)
    for number, name in enumerate(classes):
        points = [(flops / size, flops / ms * 1e3, ms) for kind, flops, size, ms in marks if kind == name]
        axes.scatter(
            [point[0] for point in points],
            [point[1] for point in points],
            s=[20 + 180 * point[2] / longest for point in points],
            color=COLORS[number % len(COLORS)],
            alpha=0.8,
            label=name,
        )
    _draw_roofs(axes, roofs, [mark[1] / mark[2] for mark in marks])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("FLOP per byte")
    axes.set_ylabel("FLOP/s")
    axes.legend(fontsize="small")


def plot(results, kind, x, run_id, axes):
    pyplot = _module("matplotlib.pyplot", "matplotlib")
    runs = [run for run in results.runs if run_id in (None, run["run_id"])]
    runs = [run for run in runs if run["phases"].get("step")] if kind != "roofline" else runs
    if not runs:
        raise Error("plot: no run has measured times" + ("" if run_id is None else f" and the number {run_id}"))
    if kind not in ("times", "phases", "roofline"):
        raise Error(f"plot: unknown kind '{kind}'; known: times, phases, roofline")
    if axes is None:
        _, axes = pyplot.subplots(layout="constrained")
    if kind == "roofline":
        roofline(results.database, runs, axes)
    elif kind == "phases":
        phases(runs, axes)
    else:
        times(runs, axes, x)
    return axes
