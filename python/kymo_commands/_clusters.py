# SPDX-License-Identifier: Apache-2.0
"""Where the shards of a sweep run: jobs of Slurm, or processes of this machine. Both are submitted by submitit."""

import contextlib
import dataclasses
import io
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys

from . import UsageError, kymo, require, shard

# Options of sbatch that would change which processes a shard consists of, or where submitit finds its files.
_OWN_OPTIONS = {
    *("array", "chdir", "error", "job-name", "nodes", "ntasks", "ntasks-per-node", "open-mode", "output"),
    *("signal", "wrap"),
}
_ENDED = re.compile(
    "BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|REVOKED|SPECIAL_EXIT|TIMEOUT"
)
_SIGNAL_DELAY_S = 90  # between the signal that announces the end of the time limit and the end
_NO_LIMIT_MIN = 525_600  # of local jobs: a year


@dataclasses.dataclass
class JobState:
    """`kind` is pending, running or ended; `detail` is the scheduler's word for its reason."""

    kind: str
    node: str = ""
    detail: str = ""


def settings_of(texts):
    """The values of --on-option by name, with `-` in names; True for options without a value. `setup` is a list."""
    settings = {"setup": []}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().lstrip("-").replace("_", "-")
        if not name:
            raise UsageError(f"--on-option takes NAME=VALUE or NAME, such as partition=gpu, not '{text}'")
        if name in _OWN_OPTIONS:
            raise UsageError(f"--on-option {name}: kymo sets this option itself; a shard is one task of a job")
        if name == "setup":
            settings["setup"].append(value)
        else:
            settings[name] = value if equals else True
    return settings


def minutes_of(time):
    """Of sbatch's minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes[:seconds]."""
    match = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", time)
    if not match:
        raise UsageError(f"--on-option time takes minutes, hours:minutes:seconds or days-hours, not '{time}'")
    days, first, second, third = match.groups()
    if days is not None or third is not None:
        hours, minutes, seconds = first, second, third
    else:
        hours, minutes, seconds = None, first, second
    return int(days or 0) * 1440 + int(hours or 0) * 60 + int(minutes or 0) + int(seconds or 0) / 60


def parallelism(settings, default):
    text = settings.get("array-parallelism", str(default))
    if not str(text).isdigit() or int(text) < 1:
        raise UsageError(f"--on-option array_parallelism takes a number of jobs, not '{text}'")
    return int(text)


@contextlib.contextmanager
def _without_interrupts():
    """Ctrl-C reaches all processes of the terminal: those started here ignore it, and are ended by cancel()."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _python():
    """The command of the interpreter for jobs, which imports this package wherever kymo is installed."""
    packages = str(pathlib.Path(__file__).absolute().parents[1])
    before = os.environ.get("PYTHONPATH")
    return shlex.join(["env", f"PYTHONPATH={packages}{':' + before if before else ''}", sys.executable])


class Slurm:
    """An array of jobs, found by its name, so that nothing is lost if the command that submits it is killed."""

    def __init__(self, sweep, settings):
        self._sweep = sweep
        self._name = f"kymo-{sweep.name}"
        self._settings = settings

    @staticmethod
    def check(settings):
        missing = [name for name in ("sbatch", "squeue", "scancel", "srun") if not shutil.which(name)]
        if missing:
            raise UsageError(
                f"--on slurm needs {', '.join(missing)} on PATH: run it where you can submit jobs, or use --on local"
            )
        parallelism(settings, 1)

    longest_pause_s = 10  # between questions to the scheduler
    environment = {"PYTHONPATH": os.environ.get("PYTHONPATH")}

    def submit(self, shards):
        """Submit all shards. Returns False: nothing remains to be submitted."""
        if self._sweep.is_cancelled():
            return False
        submitit = require("submitit", "submitit", "--on slurm")
        executor = submitit.SlurmExecutor(self._sweep.submitit, python=_python())
        passed = {name: value for name, value in self._settings.items() if name not in ("setup", "array-parallelism")}
        executor.update_parameters(
            job_name=self._name,
            time=None,  # that of the settings, or of the partition
            setup=self._settings["setup"],
            teardown=[shlex.join(shard.end_of_script(self._sweep.path))],
            array_parallelism=parallelism(self._settings, len(shards)),
            signal_delay_s=_SIGNAL_DELAY_S,
            stderr_to_stdout=True,
            additional_parameters=passed,
        )
        printed = io.StringIO()
        try:
            with contextlib.redirect_stderr(printed), _without_interrupts():
                executor.map_array(shard.run, [self._sweep.path] * len(shards), [each.index for each in shards])
        except submitit.core.utils.FailedJobError as error:
            reason = " ".join(line.removeprefix("sbatch: error: ") for line in str(error).splitlines())
            raise UsageError(f"sbatch did not accept the jobs: {reason}") from None
        return False

    def states(self):
        """By shard; a shard that Slurm does not know any more has ended. Raises Error if Slurm does not answer."""
        asked = subprocess.run(
            ["squeue", "--noheader", "--array", "--states=all", f"--name={self._name}", "--format=%K|%T|%N|%r"],
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )
        if asked.returncode != 0:
            raise kymo.Error(f"squeue: {asked.stderr.strip()}")
        states = {}
        for line in asked.stdout.splitlines():
            index, state, node, reason = line.split("|", 3)
            kind, detail = "running", ""
            if state in ("PENDING", "REQUEUED", "REQUEUE_HOLD", "CONFIGURING"):
                kind, detail = "pending", "" if reason == "None" else reason
            elif _ENDED.match(state):
                kind, detail = "ended", "" if state in ("COMPLETED", "FAILED") else state
            states[int(index) + 1 if index.isdigit() else 1] = JobState(kind, node, detail)
        return states

    def cancel(self):
        self._sweep.cancel()
        subprocess.run(["scancel", f"--name={self._name}"], check=False)


class Local:
    """Processes of submitit's local executor, one after the other, because those that run at the same time disturb each
    other's measurements."""

    longest_pause_s = 0
    environment = {
        "PYTHONPATH": os.environ.get("PYTHONPATH"),
        "CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES"),
    }

    def __init__(self, sweep, settings):
        self._sweep = sweep
        self._settings = settings
        self._started = {}  # submitit's job of each shard that this process started

    @staticmethod
    def check(settings):
        parallelism(settings, 1)
        minutes_of(settings.get("time", "1"))
        ignored = sorted(set(settings) - {"setup", "time", "array-parallelism"})
        if ignored:
            print(f"kymo: --on local ignores {', '.join(ignored)}", file=sys.stderr)

    def submit(self, shards):
        """Start as many shards as may run at the same time. Returns whether some remain to be started."""
        if self._sweep.is_cancelled():
            return False
        request = self._sweep.request()
        states = self.states()
        waiting = [each for each in shards if each.index not in states]
        running = sum(state.kind == "running" for state in states.values())
        for each in waiting[: max(0, parallelism(self._settings, 1) - running)]:
            request.jobs[str(each.index)] = self._start(each)
            self._sweep.write(request)
        return len(request.jobs) < len(shards)

    def _start(self, each):
        submitit = require("submitit", "submitit", "--on local")
        executor = submitit.LocalExecutor(self._sweep.submitit, python=_python())
        minutes = minutes_of(self._settings["time"]) if "time" in self._settings else _NO_LIMIT_MIN
        executor.update_parameters(
            timeout_min=minutes,
            signal_delay_s=int(min(_SIGNAL_DELAY_S, 30 * minutes)),
            setup=self._settings["setup"],
            stderr_to_stdout=True,
        )
        with _without_interrupts():
            job = executor.submit(shard.run, self._sweep.path, each.index)
        self._started[each.index] = job
        return int(job.job_id)

    def states(self):
        """By shard, of those that were started."""
        host = socket.gethostname()
        jobs = {int(index): process for index, process in self._sweep.request().jobs.items()}
        return {index: JobState("running" if self._runs(index, jobs[index]) else "ended", host) for index in jobs}

    def _runs(self, index, process):
        if index in self._started and not self._started[index].done():
            return True
        return bool(self._processes(index, process))

    def _processes(self, index, process):
        """Those of a shard that run: submitit's controller, and the one that it controls."""
        attempts = self._sweep.shard(index).attempts()
        controlled = [attempts[-1].process] if attempts and attempts[-1].exit_code is None else []
        return [each for each in (process, *controlled) if self._is_job(each)]

    def _is_job(self, process):
        """Process ids are reused; the command of a job contains the folder of its sweep."""
        try:
            return os.fsencode(self._sweep.submitit) in pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            return False

    def cancel(self):
        self._sweep.cancel()
        for index, controller in self._sweep.request().jobs.items():
            for process in self._processes(int(index), controller):
                os.kill(process, signal.SIGTERM)


CLUSTERS = {"slurm": Slurm, "local": Local}
