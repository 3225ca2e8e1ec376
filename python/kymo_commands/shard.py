# SPDX-License-Identifier: Apache-2.0
"""A job of a sweep, on the machine that runs it: executes one shard on a database on its local disk and saves it."""

import ctypes
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

from . import require
from ._sweep_folder import KYMO, Attempt, Shard, SweepFolder, merge

_PR_SET_PDEATHSIG = 1
_SIGNALS = {signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR2}
# The scheduler announces the end of the time limit by SIGUSR2 at most 90 s before, and one minute earlier by its own
# rounding. With more time left, a signal means that the job is preempted.
_MOST_LEFT_AT_LIMIT_S = 180


def run(folder, index):
    """Run a shard and return the exit code of kymo. The job of submitit."""
    sweep = SweepFolder(folder)
    request = sweep.request()
    shard = Shard(sweep.path, index)
    os.chdir(request.working_directory)
    _restore(request.environment)
    job = require("submitit", "submitit", "a job").JobEnvironment()
    node = _node()
    shard.absorb(node)
    attempt = Attempt(
        node=node,
        folder=tempfile.mkdtemp(prefix="kymo-shard-"),
        process=os.getpid(),
        output=str(job.paths.stdout),
    )
    shard.write([*shard.attempts(), attempt])
    if shard.database.exists():
        merge(attempt.database, [shard.database])
    code, stopped = _execute(_command(request, shard, attempt), request.cluster)
    shard.save(attempt, code)
    # ARRAY_INDEX; SLURM_JOB_ID of one of the jobs is the id of the whole array.
    if stopped and request.cluster == "slurm" and _is_preempted(job.job_id):
        subprocess.run(["scontrol", "requeue", job.job_id], check=True)
        sys.exit(1)
    return code


def main(options):
    """The end of the batch script: saves what a killed job left on this machine."""
    sweep = SweepFolder(options["folder"])
    if sweep.path.exists():  # otherwise everything is collected
        Shard(sweep.path, int(os.environ.get("SLURM_ARRAY_TASK_ID", "0")) + 1).absorb(_node())
    return 0


def _node():
    return os.environ.get("SLURMD_NODENAME") or socket.gethostname()


def _restore(environment):
    for name, value in environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _command(request, shard, attempt):
    shards = ["--shard", f"{shard.index}/{request.shards}"] if request.shards > 1 else []
    resume_from = ["--resume-from", request.resume_from] if request.resume_from else []
    return [
        *(KYMO, *request.words, *shards, *resume_from),
        *("--resume", "--db", attempt.database, "--saved-copy", str(shard.database)),
    ]


def _prepare_child():
    # kymo must not write to a database that is being copied, and ends its workers itself.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)  # the scheduler sends it to all processes of the job
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _execute(command, cluster):
    """Return the exit code, and whether a signal asked to stop before: SIGTERM, or SIGUSR2 from the scheduler."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    print("+", *command, flush=True)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=_prepare_child)
    stopped = False
    while child.poll() is None:
        received = signal.sigwait(_SIGNALS)
        if received == signal.SIGCHLD:
            continue
        # Slurm sends SIGTERM to all processes of the job, the local executor only to this one; a second signal would
        # end kymo before its step is complete.
        if not stopped and (received == signal.SIGUSR2 or cluster == "local"):
            child.terminate()
        stopped = True
        print(f"received {signal.Signals(received).name}", flush=True)
    return child.returncode, stopped


def _is_preempted(job):
    """Whether the scheduler ends this job for another one, and will start it again if it is asked to."""
    asked = subprocess.run(
        ["squeue", "--noheader", "--jobs", job, "--format", "%T|%L"], capture_output=True, text=True, check=False
    )
    state, _, left = asked.stdout.strip().partition("|")
    return state == "RUNNING" and _seconds(left) > _MOST_LEFT_AT_LIMIT_S


def _seconds(left):
    """Of Slurm's days-hours:minutes:seconds; infinite for UNLIMITED and the like."""
    match = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", left)
    if not match:
        return float("inf")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def end_of_script(folder):
    """The shell command that saves what a killed job left."""
    program = pathlib.Path(__file__).absolute().parents[1] / "kymo_command.py"
    return [sys.executable, str(program), "shard", json.dumps({"folder": str(folder)})]
