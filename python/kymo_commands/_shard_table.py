# SPDX-License-Identifier: Apache-2.0
"""The progress of all shards of a sweep in one table: redrawn on a terminal, otherwise a line for each change."""

import os
import shutil
import signal
import sys

_HEAD = ("shard", "state", "node", "runs", "not ok")
_ORDER = {"running": 0, "pending": 1, "waiting": 2}  # all others have ended


def state_text(shard, state, waits):
    """What a shard does, or how its last attempt ended. `waits`: shards without a state will be submitted."""
    if state is None:
        return "waiting" if waits else "not started"
    detail = f" ({state.detail})" if state.detail else ""
    if state.kind != "ended":
        return state.kind + detail
    attempts = shard.attempts()
    code = attempts[-1].exit_code if attempts else None
    if code in (0, 3):
        return "ended"
    if code is None:
        return ("killed" if attempts else "not started") + detail
    if code < 0:
        return f"killed by {signal.Signals(-code).name}" + detail
    return "interrupted" + detail if code > 128 else f"failed with exit code {code}"


def is_complete(shard):
    """Whether kymo has run all cases of the shard, whatever their status."""
    attempts = shard.attempts()
    return bool(attempts) and attempts[-1].exit_code in (0, 3)


def rows_of(shards, states, waits=False):
    """(shard, state, node, runs, not ok) of each shard, as texts."""
    rows = []
    for shard in shards:
        state = states.get(shard.index)
        attempts, progress = shard.attempts(), shard.progress()
        node = state.node if state and state.node else attempts[-1].node if attempts else ""
        runs = f"{progress['finished']}/{progress['runs']}" if progress else ""
        not_ok = str(progress["not_ok"]) if progress else ""
        rows.append((str(shard.index), state_text(shard, state, waits), node, runs, not_ok))
    return rows


def columns_of_terminal():
    return shutil.get_terminal_size((100, 24)).columns


def lines_of(head, rows, right, columns):
    """The lines of a table, at most `columns` characters each; the columns `right` are aligned to the right."""
    table = [head, *rows]
    widths = [max(len(row[at]) for row in table) for at in range(len(head))]
    return [
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()[:columns]
        for row in table
    ]


def text_of(rows, columns, most=None):
    """The table of shards in at most `most` lines, those that run first."""
    shown = rows if most is None else sorted(rows, key=lambda row: _ORDER.get(row[1].split()[0], 3))[: max(1, most - 2)]
    lines = lines_of(_HEAD, shown, {0, 3, 4}, columns)
    if len(shown) < len(rows):
        lines.append(f"and {len(rows) - len(shown)} more shards")
    return "\n".join(lines)


def _change_text(row):
    shard, state, node, runs, not_ok = row
    parts = [state, node and f"on {node}", runs and f"{runs} runs", not_ok not in ("", "0") and f"{not_ok} not ok"]
    return f"kymo: shard {shard}: {', '.join(filter(None, parts))}"


class Progress:
    """Shows the table on stderr."""

    def __init__(self):
        self._terminal = sys.stderr.isatty()
        self._drawn = ""
        self._before = {}

    def show(self, rows):
        if not self._terminal:
            for row in rows:
                if self._before.get(row[0]) != row:
                    print(_change_text(row), file=sys.stderr, flush=True)
                self._before[row[0]] = row
            return
        size = shutil.get_terminal_size() if "COLUMNS" in os.environ else os.get_terminal_size(sys.stderr.fileno())
        text = text_of(rows, size.columns - 1, size.lines - 1)
        if text != self._drawn:
            self.clear()
            print(text, file=sys.stderr, flush=True)
            self._drawn = text

    def clear(self):
        """Remove the table from the terminal."""
        if self._drawn:
            lines = self._drawn.count("\n") + 1
            print(f"\033[{lines}F\033[J", end="", file=sys.stderr, flush=True)
        self._drawn = ""
