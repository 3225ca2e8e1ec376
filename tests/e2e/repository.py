# SPDX-License-Identifier: Apache-2.0
"""A git repository in which tests make commits, independent of the configuration of the user."""

import os
import subprocess

from kymo_tool import HANG_S

# Sleeping takes the same time however busy the machine is, at least; ten times the time is a regression on any machine.
WORKLOAD = """
import time

import kymo

from pause import PAUSE_S


@kymo.workload
def pause(run):
    return lambda: time.sleep(PAUSE_S)
"""


class Repository:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words, time="2026-03-01T00:00:00Z"):
        environment = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_DATE": time,
            "GIT_COMMITTER_DATE": time,
        }
        command = ["git", "-C", str(self.folder), "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=HANG_S)
        return done.stdout.strip()

    def commit(self, message, files, time="2026-03-01T00:00:00Z"):
        """Writes files and commits them. Returns the hash."""
        for name, content in files.items():
            (self.folder / name).write_text(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message, time=time)
        return self.git("rev-parse", "HEAD")
