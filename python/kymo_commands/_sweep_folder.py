# SPDX-License-Identifier: Apache-2.0
"""The folder of a sweep, DATABASE.jobs/NAME, on a file system that all its jobs see.

sweep.json           what was requested (Request)
cancelled            exists if no further job is to be started
lock                 held by the command that waits for the jobs
submitit/            what submitit keeps, with the output of the jobs
shard-1.db           the saved database of a shard
shard-1.db.progress  written by kymo between runs: {"finished", "runs", "not_ok"}
shard-1.json         the attempts to run the shard, each with its machine
shard-1.left/        what cannot be merged: a damaged database, or damaged records beside it
"""

import dataclasses
import fcntl
import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import time

from kymo._database import ROOT

from . import UsageError, kymo

KYMO = str(ROOT / "bin" / "kymo")


@dataclasses.dataclass
class Request:
    """What a sweep executes: `words` are the command line of each shard, without the program."""

    cluster: str
    shards: int
    cases: int
    words: list
    database: str
    settings: list
    working_directory: str
    environment: dict  # variables that submitit changes, with the values to restore; None: not set
    resume_from: str = ""
    began: float = 0.0  # s since 1970
    jobs: dict = dataclasses.field(default_factory=dict)  # by shard: process ids of local jobs


@dataclasses.dataclass
class Attempt:
    """An execution of a shard on a machine, in a folder on its local disk."""

    node: str  # name of the machine
    folder: str
    process: int
    output: str  # file with what the job prints
    exit_code: int | None = None  # once the results are saved and the folder is removed; negative: killed by a signal

    @property
    def database(self):
        return os.path.join(self.folder, "shard.db")

    def last_error(self):
        """The last message of kymo in the output, or an empty text."""
        try:
            lines = pathlib.Path(self.output).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return next((line.removeprefix("kymo: ") for line in reversed(lines) if line.startswith("kymo: ")), "")


def replace(path, text):
    """Write a file that readers see either complete or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _call(*words):
    # In a session of its own, so that Ctrl-C does not end it.
    done = subprocess.run([KYMO, *map(str, words)], capture_output=True, text=True, check=False, start_new_session=True)
    if done.returncode != 0:
        raise kymo.Error(done.stderr.strip().removeprefix("kymo: "))


def _close_runs(database):
    """Record runs that a killed kymo left `running` as `interrupted`, with what their workers had finished. Returns
    whether the database can be read; a file that a kymo was killed while creating is removed."""
    if not os.path.exists(database):
        return False
    if os.path.getsize(database) == 0:
        for name in (database, f"{database}-journal"):
            pathlib.Path(name).unlink(missing_ok=True)
        return False
    try:
        _call("runs", "--db", database, "--limit", "1")
    except kymo.Error as error:
        print(f"kymo: {error}", file=sys.stderr, flush=True)
        return False
    return True


def merge(target, sources):
    """Merge databases; runs that are in `target` already are skipped. Raises Error."""
    _call("merge", target, *sources)


class Shard:
    """One shard of a sweep, counted from 1."""

    def __init__(self, folder, index):
        self.index = index
        self.database = folder / f"shard-{index}.db"
        self.left = folder / f"shard-{index}.left"
        self._attempts = folder / f"shard-{index}.json"

    def attempts(self):
        if not self._attempts.exists():
            return []
        return [Attempt(**attempt) for attempt in json.loads(self._attempts.read_text(encoding="utf-8"))]

    def write(self, attempts):
        replace(self._attempts, json.dumps([dataclasses.asdict(attempt) for attempt in attempts]))

    def progress(self):
        """{"finished", "runs", "not_ok"}, or an empty dictionary before the first run."""
        try:
            return json.loads(pathlib.Path(f"{self.database}.progress").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}

    def save(self, attempt, exit_code):
        """Replace the saved database by that of the attempt, which contains it, and remove the local folder."""
        if _close_runs(attempt.database):
            copy = self.database.with_name(f"{self.database.name}.new")
            shutil.copyfile(attempt.database, copy)
            copy.replace(self.database)
            os.remove(attempt.database)
        self._end(attempt, exit_code)

    def absorb(self, node):
        """Merge what killed attempts left on this machine into the saved database, and remove it."""
        for attempt in self.attempts():
            if attempt.exit_code is not None or attempt.node != node or is_alive(attempt.process):
                continue
            if _close_runs(attempt.database):
                merge(self.database, [attempt.database])
                os.remove(attempt.database)
            self._end(attempt, -signal.SIGKILL)

    def _end(self, attempt, exit_code):
        for name in os.listdir(attempt.folder) if os.path.isdir(attempt.folder) else []:
            self.left.mkdir(exist_ok=True)
            shutil.move(os.path.join(attempt.folder, name), self.left / f"{attempt.process}-{name}")
        shutil.rmtree(attempt.folder, ignore_errors=True)
        attempt.exit_code = exit_code
        self.write([attempt if known.folder == attempt.folder else known for known in self.attempts()])


class SweepFolder:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.name = self.path.name
        self.submitit = self.path / "submitit"
        self._lock = None

    @classmethod
    def create(cls, database):
        """A new folder next to a database, with a name that no other sweep on the cluster has, locked."""
        root = pathlib.Path(f"{database}.jobs")
        created = cls(root / f"{time.strftime('%m%d-%H%M')}-{secrets.token_hex(3)}")
        try:
            root.mkdir(exist_ok=True)
            created.path.mkdir(mode=0o700)
        except OSError as error:
            raise UsageError(f"cannot create the folder {created.path} of the sweep: {error.strerror}") from None
        created.try_lock()
        return created

    @classmethod
    def all_of(cls, database):
        """The sweeps of a database whose folders exist, oldest first."""
        root = pathlib.Path(f"{database}.jobs")
        return [cls(path.parent) for path in sorted(root.glob("*/sweep.json"))]

    def try_lock(self):
        """Whether this process now is the one that waits for the jobs."""
        # An open file that is closed by the end of the process, however it ends.
        self._lock = open(self.path / "lock", "w", encoding="utf-8")  # noqa: SIM115
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock = None
            return False
        return True

    def unlock(self):
        self._lock.close()

    def request(self):
        return Request(**json.loads((self.path / "sweep.json").read_text(encoding="utf-8")))

    def write(self, request):
        replace(self.path / "sweep.json", json.dumps(dataclasses.asdict(request), indent=1))

    def shard(self, index):
        return Shard(self.path, index)

    def shards(self):
        return [self.shard(index) for index in range(1, self.request().shards + 1)]

    def cancel(self):
        (self.path / "cancelled").touch()

    def is_cancelled(self):
        return (self.path / "cancelled").exists()

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)
        try:
            self.path.parent.rmdir()
        except OSError:  # of other sweeps
            return
