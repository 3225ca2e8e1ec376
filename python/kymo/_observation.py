# SPDX-License-Identifier: Apache-2.0
"""kymo.observe: what `kymo trace` does, for a part of the program that calls it.

`kymo trace` runs in a process of its own and starts _relay.py as its program, which passes on how to connect. This
process then observes itself, as one that `kymo trace` has started does.
"""

import functools
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress

from ._database import Error, open
from ._results import program

_PASSES = ("trace", "ops", "counters", "time")
_CONNECT_SECONDS = 60
_INVOCATION = re.compile(r"^results: .*, invocation (\d+)$", re.MULTILINE)


def _script_name():
    script = getattr(sys.modules["__main__"], "__file__", None)
    return os.path.basename(script) if script and script.endswith(".py") else "interactive.py"


def _arguments():
    return sys.argv[1:] if hasattr(sys.modules["__main__"], "__file__") else []


class Observation:
    """A part of a program that is observed; after it, `.text` is what `kymo trace` prints, `.database` has the
    records, and `.run_id` is the number of the run, or None if nothing was observed."""

    def __init__(self, words, path):
        self.path = path
        self.text = ""
        self.run_id = None
        self._words = words
        self._observer = self._folder = self._relay = self._observed = None

    def __enter__(self):
        if "KYMO_TRACE" in os.environ:
            print("kymo: kymo.observe does nothing, because kymo trace observes this program", file=sys.stderr)
            return self
        try:
            package = _package()
            package.check()
        except Exception as error:
            raise Error(f"kymo.observe: {error}") from None
        self._folder = tempfile.TemporaryDirectory(prefix="kymo-")
        try:
            start_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            self._observed = package.begin(self._connect(), start_ns)
        except BaseException:
            self._finish()
            raise
        return self

    def __exit__(self, kind, error, traceback):
        if self._observer is None:
            return
        _package().end(self._observed, error)
        self._finish()
        if self.text:
            print(self.text, file=sys.stderr, end="")

    @functools.cached_property
    def database(self):
        return open(self.path)

    def _connect(self):
        """Start `kymo trace`, and return the settings that it gives its program."""
        address = os.path.join(self._folder.name, "relay")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
            server.bind(address)
            server.listen(1)
            server.settimeout(0.1)
            relay = os.path.join(self._folder.name, _script_name())
            os.symlink(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_relay.py"), relay)
            with self._messages().open("wb") as messages:
                self._observer = subprocess.Popen(
                    [program(), "trace", *self._words, "--", sys.executable, relay, *_arguments()],
                    env={**os.environ, "KYMO_RELAY": address},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=messages,
                    start_new_session=True,  # Ctrl-C is for this process
                )
            end = time.monotonic() + _CONNECT_SECONDS
            while self._relay is None:
                with suppress(TimeoutError):
                    self._relay, _ = server.accept()
                if self._relay is None and (self._observer.poll() is not None or time.monotonic() > end):
                    self._observer.kill()
                    self._observer.wait()
                    lines = self._read_messages().strip().splitlines() or ["kymo trace did not start its program"]
                    self._observer = None
                    raise Error(lines[-1].removeprefix("kymo: "))
        self._relay.settimeout(_CONNECT_SECONDS)
        with self._relay.makefile() as lines:
            return json.loads(lines.readline())

    def _messages(self):
        return pathlib.Path(self._folder.name, "messages")

    def _read_messages(self):
        return self._messages().read_text(encoding="utf-8", errors="replace")

    def _finish(self):
        if self._relay is not None:
            self._relay.close()
        if self._observer is not None:
            self._observer.wait()
            self.text = self._read_messages()
            invocation = _INVOCATION.search(self.text)
            if invocation:
                runs = open(self.path).rows("SELECT max(run_id) FROM run WHERE invocation_id = ?", [invocation[1]])[1]
                self.run_id = runs[0][0]
        self._folder.cleanup()


def _package():
    import torch  # noqa: F401
    from kymo_trace import _on_request

    return _on_request


def observe(steps=None, *, passes=None, database="kymo.db", label=None, device=None, wide=False):
    """Return a context manager that observes the steps of a training loop within it, as `kymo trace` does, and prints
    what takes their time.

        with kymo.observe("5:15", passes="trace") as observation:
            for batch in loader:
                ...
        observation.database["kernel_summary"]

    steps: the steps to observe, counted from 0 at the begin of the block: "5:15" by default.
    passes: one of "trace" (kernels; default on a GPU), "ops" (operators; default on a CPU), "counters", "time". The
        memory pass and several passes need `kymo trace`, which starts the program for each.
    label: of the run.

    The functions of torch that kymo observes stay replaced after the block; they only call the original ones then. In a
    program that `kymo trace` observes, the block is observed with the rest of it.

    Raises Error for wrong arguments, and if the block is within another one or not on the main thread.
    """
    if passes is not None and passes not in _PASSES:
        raise Error(f"passes: '{passes}' is none of {', '.join(_PASSES)}; for others, use kymo trace --passes")
    path = pathlib.Path(database)
    words = ["--ranks", "1", "--no-stop", "--db", str(path)]
    for name, value in (("steps", steps), ("passes", passes), ("label", label), ("device", device)):
        if value is not None:
            words += [f"--{name}", str(value)]
    if wide:
        words.append("--wide")
    return Observation(words, path)
