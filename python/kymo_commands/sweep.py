# SPDX-License-Identifier: Apache-2.0
"""`kymo run --on` and `kymo suite run --on`: divide the cases among jobs, wait for them, merge their databases."""

import os
import shlex
import time

from . import UsageError, kymo, require
from ._clusters import CLUSTERS, settings_of
from ._collect import cluster_of, finish, log, merge_saved, problems_of
from ._sweep_folder import Request, SweepFolder

# Of this command, not of the commands of the shards.
_OWN_OPTIONS = {"--on", "--shards", "--on-option", "--db"}
_OWN_FLAGS = {"--json", "--wide", "--markdown", "--resume"}


def shard_words(command_line):
    """The words of each shard's command."""
    words = []
    rest = iter(shlex.split(command_line)[1:])
    for word in rest:
        name, equals, _ = word.partition("=")
        if name in _OWN_OPTIONS:
            if not equals:
                next(rest)
        elif word not in _OWN_FLAGS:
            words.append(word)
    return words


def main(options):
    require("submitit", "submitit", f"--on {options['cluster']}")
    cluster = CLUSTERS[options["cluster"]]
    cluster.check(settings_of(options["settings"]))
    database = os.path.realpath(options["database"])
    if os.path.exists(database):
        kymo.open(database).close()  # reports what is wrong with it before jobs are started
    _clear_former(database, options["resume"])
    sweep = SweepFolder.create(database)
    sweep.write(
        Request(
            cluster=options["cluster"],
            shards=options["shards"],
            cases=options["cases"],
            words=shard_words(options["command_line"]),
            database=database,
            settings=options["settings"],
            working_directory=os.getcwd(),
            environment=cluster.environment,
            resume_from=database if options["resume"] else "",
            began=time.time(),
        )
    )
    log(f"sweep {sweep.name}: {options['cases']} cases in {options['shards']} jobs; its folder is {sweep.path}")
    try:
        return finish(sweep, options["json"], submits=True)
    except UsageError:
        sweep.remove()  # nothing was started
        raise


def _clear_former(database, resume):
    """Merge and remove what former sweeps of the database left. Raises UsageError if one of them still runs and its
    cases might be run twice."""
    for sweep in SweepFolder.all_of(database):
        runs = True
        if sweep.try_lock():
            states = cluster_of(sweep).states()
            runs = any(state.kind != "ended" for state in states.values())
            if not runs:
                _merge_and_remove(sweep)
            sweep.unlock()
        if runs and resume:
            raise UsageError(
                f"--resume: jobs of sweep {sweep.name} still run; wait for them with 'kymo jobs wait {sweep.name}', or "
                f"cancel them with 'kymo jobs cancel {sweep.name}'"
            )


def _merge_and_remove(sweep):
    log(f"sweep {sweep.name} has ended: merging its results and removing its folder")
    merge_saved(sweep)
    for problem in problems_of(sweep):
        log(problem)
    if any(shard.left.exists() for shard in sweep.shards()):
        log(f"the folder of the sweep is kept: {sweep.path}")
    else:
        sweep.remove()
