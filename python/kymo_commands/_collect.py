# SPDX-License-Identifier: Apache-2.0
"""Waits for the jobs of a sweep and merges what they have measured."""

import collections
import json
import signal
import socket
import sys
import time

from . import kymo
from ._clusters import CLUSTERS, settings_of
from ._shard_table import Progress, columns_of_terminal, is_complete, rows_of, text_of
from ._sweep_folder import merge

_TOOL_FAILED, _USAGE, _RUN_FAILED = 1, 2, 3


def log(text):
    print(f"kymo: {text}", file=sys.stderr, flush=True)


class Stop:
    """Counts SIGINT and SIGTERM instead of ending the process."""

    def __enter__(self):
        self.received = []
        self._before = {
            number: signal.signal(number, lambda number, _: self.received.append(number))
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(self, *_):
        for number, handler in self._before.items():
            signal.signal(number, handler)


def cluster_of(sweep):
    request = sweep.request()
    return CLUSTERS[request.cluster](sweep, settings_of(request.settings))


class _Questions:
    """Asks the scheduler for the states of the jobs, less often the longer they run; the former states hold while it
    does not answer."""

    def __init__(self, cluster):
        self._cluster = cluster
        self._began = self._asked = time.monotonic()
        self._problem = ""
        self.states = None
        self.has_answer = False

    def ask(self, pause_s):
        """Returns a problem that is to be reported, or an empty text."""
        now = time.monotonic()
        if self.states is not None and now - self._asked < min(pause_s, (now - self._began) / 30):
            return ""
        self._asked, problem = now, ""
        try:
            self.states = self._cluster.states()
        except kymo.Error as error:
            self.states, problem = self.states or {}, str(error)
        self.has_answer = not problem
        is_new, self._problem = problem != self._problem, problem
        return problem if is_new else ""


def wait(sweep, stop, submits):
    """Wait until all jobs have ended, and submit them before if `submits`. A first signal cancels them, a second one
    ends waiting. Returns whether they have ended, and their states."""
    cluster, shards, progress = cluster_of(sweep), sweep.shards(), Progress()
    questions = _Questions(cluster)
    pause_s = cluster.longest_pause_s
    remains, cancelled = submits, False
    while len(stop.received) < 2:
        if stop.received and not cancelled:
            progress.clear()
            log("cancelling the jobs; what they have measured is merged")
            cluster.cancel()
            cancelled, pause_s = True, 0
        remains = remains and cluster.submit(shards)
        if problem := questions.ask(pause_s):
            progress.clear()
            log(f"the scheduler does not answer, asking again: {problem}")
        progress.show(rows_of(shards, questions.states, waits=remains))
        if questions.has_answer and not remains and all(each.kind == "ended" for each in questions.states.values()):
            progress.clear()
            return True, questions.states
        time.sleep(max(0.5, len(shards) / 50))  # a few files of each shard are read
    progress.clear()
    return False, questions.states


def merge_saved(sweep):
    """Merge the databases of the shards, also those that killed attempts left on this machine. Merging again adds
    nothing. Raises Error."""
    shards = sweep.shards()
    for shard in shards:
        shard.absorb(socket.gethostname())
    saved = [shard.database for shard in shards if shard.database.exists()]
    if saved:
        merge(sweep.request().database, saved)


def _statuses(shards):
    """The number of runs of each status in the saved databases."""
    counts = collections.Counter()
    for shard in shards:
        if shard.database.exists():
            with kymo.open(shard.database) as database:
                counts.update(dict(database.rows("SELECT status, count(*) FROM run GROUP BY status")[1]))
    return counts


def _exit_code(shards):
    codes = [shard.attempts()[-1].exit_code if shard.attempts() else None for shard in shards]
    for code in (_TOOL_FAILED, _USAGE):
        if code in codes:
            return code
    return 0 if all(code == 0 for code in codes) else _RUN_FAILED


def problems_of(sweep):
    """What cannot be merged from here, and why shards did not run, as sentences."""
    for shard in sweep.shards():
        for attempt in shard.attempts():
            if attempt.exit_code is None:
                yield (
                    f"shard {shard.index} was killed on {attempt.node}; what it measured after its last saved copy may "
                    f"be in {attempt.folder} there: merge it with 'kymo merge', or remove it"
                )
            elif attempt.exit_code in (_TOOL_FAILED, _USAGE):
                yield f"shard {shard.index}: {attempt.last_error()} (output: {attempt.output})"
        if shard.left.exists():
            yield f"shard {shard.index} left what cannot be merged: {shard.left}"


def finish(sweep, as_json, submits=False):
    """Wait for the jobs of a sweep, which is locked, and merge their databases. Returns the exit code."""
    with Stop() as stop:
        ended, states = wait(sweep, stop, submits)
        if ended:
            code = collect(sweep, states, as_json)
        else:
            log(f"jobs of sweep {sweep.name} still run; merge their results with 'kymo jobs wait {sweep.name}'")
    return 128 + stop.received[0] if stop.received else code


def collect(sweep, states, as_json):
    """Merge the databases of the shards and remove the folder if all of them are complete. Returns the exit code."""
    merge_saved(sweep)
    request, shards = sweep.request(), sweep.shards()
    counts, rows, code = _statuses(shards), rows_of(shards, states), _exit_code(shards)
    incomplete = [shard.index for shard in shards if not is_complete(shard)]
    problems = list(problems_of(sweep))
    if as_json:
        names = ("shard", "state", "node", "runs", "not_ok")
        print(
            json.dumps(
                {
                    "database": request.database,
                    "exit_code": code,
                    "statuses": counts,
                    "shards": [dict(zip(names, row, strict=True)) for row in rows],
                    "folder": str(sweep.path) if incomplete or problems else None,
                },
                indent=2,
            )
        )
    else:
        print(text_of(rows, columns_of_terminal()))
        found = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        print(f"runs: {found or 'none'}; results: {request.database}")
    for problem in problems:
        log(problem)
    if incomplete:
        numbers = ", ".join(map(str, incomplete))
        log(
            f"{'shard' if len(incomplete) == 1 else 'shards'} {numbers} of {len(shards)} not complete: run the command "
            f"again with --resume; the output of the jobs is in {sweep.submitit}"
        )
    elif problems:
        log(f"the folder of the sweep is kept: {sweep.path}")
    else:
        sweep.remove()
    return code
