# SPDX-License-Identifier: Apache-2.0
"""Common parts of the tests of torchrun and srun jobs."""

import os
import random
import signal
import socket
import subprocess
import time

from kymo_tool import HANG_S, KYMO, PLUGINS, KymoTest

PROBE = PLUGINS / "probe.so"
LAUNCH_VARIABLES = (
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "KYMO_PORT",
    "KYMO_JOB_TOKEN",
    "KYMO_JOIN_TIMEOUT",
)


def free_port():
    """A port below the range the system uses for outgoing connections, so that it is not taken before it is used."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as text:
        end = max(int(text.read().split()[0]), 11_000)
    while True:
        port = random.randrange(10_000, end)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            continue


def environment_of(pid):
    with open(f"/proc/{pid}/environ", "rb") as environ:
        return dict(entry.split(b"=", 1) for entry in environ.read().split(b"\0") if b"=" in entry)


class LaunchTest(KymoTest):
    def setUp(self):
        super().setUp()
        for name in list(self.environment):
            if name in LAUNCH_VARIABLES or name.startswith("SLURM_"):
                self.environment.pop(name)
        self.environment["KYMO_JOIN_TIMEOUT"] = str(HANG_S)
        # A killed follower leaves its folder behind.
        self.environment["TMPDIR"] = str(self.folder / "tmp")
        (self.folder / "tmp").mkdir()

    def start(self, *words, **variables):
        """Starts a program in the test's folder, in a process group that is killed at the end of the test."""
        process = subprocess.Popen(
            [*map(str, words)],
            cwd=self.work,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
        process.stderr.close()

    def ended(self, process, code):
        out, err = process.communicate(timeout=HANG_S)
        self.assertEqual(process.returncode, code, out + err)
        return out, err

    def until(self, condition, launches=()):
        """Waits for a condition that cannot be met once one of `launches` has ended; the failure shows its output."""
        deadline = time.monotonic() + HANG_S
        while time.monotonic() < deadline:
            result = condition()
            if result:
                return result
            for launch in launches:
                if launch.poll() is not None:
                    self.fail("\n".join(launch.communicate()))
            time.sleep(0.05)
        raise self.failureException(f"did not happen within {HANG_S} s")

    def workers(self, count, *launches):
        """Waits until the job of `launches` has so many workers."""
        self.until(lambda: len(self.processes("worker")) == count, launches)

    def processes(self, word="run"):
        """The kymo processes of this test by process id, with their environments."""
        found = {}
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/cmdline", "rb") as cmdline:
                    words = cmdline.read().split(b"\0")
                with open(f"/proc/{name}/comm", "rb") as comm:
                    if comm.read().strip() == b"kymo-reaper":
                        continue
                if (
                    words[0] == os.fsencode(KYMO)
                    and word.encode() in words
                    and os.readlink(f"/proc/{name}/cwd") == str(self.work)
                ):
                    found[int(name)] = environment_of(name)
            except OSError:
                continue
        return found
