# SPDX-License-Identifier: Apache-2.0
"""`kymo jobs`: lists the sweeps of a database, waits for their jobs, and cancels them."""

import collections
import json
import os
import time

from . import UsageError
from ._collect import cluster_of, finish, log
from ._shard_table import columns_of_terminal, lines_of, state_text
from ._sweep_folder import SweepFolder

_HEAD = ("sweep", "began", "on", "jobs", "runs", "command")


def main(options):
    database = os.path.realpath(options["database"])
    sweeps = SweepFolder.all_of(database)
    if options["action"] == "list":
        return _list(sweeps, options["json"])
    selected = _selected(sweeps, options["sweeps"], database)
    action = {"wait": _wait, "cancel": _cancel}[options["action"]]
    return max((action(sweep) for sweep in selected), default=0)


def _selected(sweeps, names, database):
    known = {sweep.name: sweep for sweep in sweeps}
    for name in names:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise UsageError(f"no sweep '{name}' of {database}; its sweeps: {listed}")
    return [known[name] for name in names] if names else sweeps


def _summary(sweep):
    request, shards = sweep.request(), sweep.shards()
    states = cluster_of(sweep).states()
    waits = not sweep.try_lock()
    if not waits:
        sweep.unlock()
    progress = [shard.progress() for shard in shards]
    return {
        "sweep": sweep.name,
        "began": time.strftime("%Y-%m-%d %H:%M", time.localtime(request.began)),
        "on": request.cluster,
        "jobs": dict(collections.Counter(state_text(shard, states.get(shard.index), waits) for shard in shards)),
        "finished": sum(each.get("finished", 0) for each in progress),
        "cases": request.cases,
        "command": " ".join(request.words),
        "folder": str(sweep.path),
    }


def _list(sweeps, as_json):
    summaries = [_summary(sweep) for sweep in sweeps]
    if as_json:
        print(json.dumps(summaries, indent=2))
    elif not summaries:
        print("no sweeps")
    else:
        rows = [
            (
                *(each["sweep"], each["began"], each["on"]),
                ", ".join(f"{count} {state}" for state, count in each["jobs"].items()),
                *(str(each["finished"]), each["command"]),
            )
            for each in summaries
        ]
        print("\n".join(lines_of(_HEAD, rows, {4}, columns_of_terminal())))
    return 0


def _wait(sweep):
    if not sweep.try_lock():
        raise UsageError(f"another command already waits for sweep {sweep.name}, and merges its results")
    return finish(sweep, as_json=False)


def _cancel(sweep):
    cluster_of(sweep).cancel()
    if not sweep.try_lock():
        log(f"the jobs of sweep {sweep.name} are cancelled; the command that waits for them merges their results")
        return 0
    finish(sweep, as_json=False)
    return 0
