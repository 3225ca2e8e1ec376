# SPDX-License-Identifier: Apache-2.0
"""A real Slurm on this machine, started for tests from Debian's slurm-wlm. Only root can start its daemons."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from kymo_tool import HANG_S, needs_installed
from launcher_tool import environment_of, free_port

CONFIGURATION = """ClusterName=kymotest
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
{nodes}
PartitionName=test Nodes=ALL Default=YES MaxTime=10:00 State=UP OverSubscribe=FORCE:{processors}
"""
PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "sinfo", "munged")


def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def needs_slurm(case):
    return unittest.skipUnless(os.geteuid() == 0, "only root can start Slurm's daemons")(
        needs_installed(all(map(program, PROGRAMS)), "slurm-wlm and munge")(case)
    )


def processes_of(job, configuration):
    """The processes of a job, without Slurm's own, which have another environment."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = environment_of(name)
        except OSError:
            continue
        is_in_job = environment.get(b"SLURM_JOB_ID") == job.encode()
        if is_in_job and environment.get(b"SLURM_CONF") == os.fsencode(configuration):
            found.append(int(name))
    return found


class Cluster:
    """munged, slurmctld, and a slurmd for each node, in a folder of their own."""

    def __init__(self, nodes, processors):
        self.folder = Path(tempfile.mkdtemp(prefix="kymo-slurm-"))
        self.daemons = []
        self.slurmd = {}
        host = socket.gethostname().split(".")[0]
        # Ranks find each other by the names of nodes; several nodes on one machine have names that lead nowhere.
        self.nodes = [host] if nodes == 1 else [f"kymo{number}" for number in range(1, nodes + 1)]
        (self.folder / "state").mkdir()
        self.configuration = self.folder / "slurm.conf"
        self.configuration.write_text(
            CONFIGURATION.format(
                host=host,
                folder=self.folder,
                controller_port=free_port(),
                processors=processors,
                nodes="\n".join(
                    f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs={processors} "
                    "State=UNKNOWN"
                    for node in self.nodes
                ),
            ),
            encoding="utf-8",
        )
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="utf-8")
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}

    def start(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.folder.chmod(0o755)
        self.daemon(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={key}",
            f"--socket={self.folder}/munge.socket",
            f"--pid-file={self.folder}/munged.pid",
            f"--log-file={self.folder}/munged.log",
            f"--seed-file={self.folder}/munge.seed",
        )
        self.until(lambda: (self.folder / "munge.socket").exists(), "munged")
        self.daemon("slurmctld", "-D", "-i")
        for node in self.nodes:
            (self.folder / f"spool-{node}").mkdir()
            self.start_node(node)
        self.until(lambda: self.states() == ["idle"] * len(self.nodes), "the nodes")

    def daemon(self, name, *words):
        with open(self.folder / f"{name}{len(self.daemons)}.out", "wb") as log:
            self.daemons.append(
                subprocess.Popen(
                    [program(name), *words],
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )
        return self.daemons[-1]

    def start_node(self, node):
        self.slurmd[node] = self.daemon("slurmd", "-D", "-N", node)

    def lose_node(self, node, job):
        """End what runs on a node, a job, at once, and tell Slurm, which would notice later."""
        slurmd = self.slurmd[node]
        slurmd.kill()
        slurmd.wait()
        self.call("scontrol", "update", f"nodename={node}", "state=down", "reason=lost")
        for process in processes_of(job, self.configuration):
            with contextlib.suppress(ProcessLookupError):  # what its parent's end has ended
                os.kill(process, signal.SIGKILL)

    def states(self):
        """The state of each node."""
        return self.call("sinfo", "--noheader", "--Node", "--format=%T").split()

    def call(self, name, *words):
        """The output of a program of Slurm."""
        return subprocess.run(
            [program(name), *words], env=self.environment, capture_output=True, text=True, check=False
        ).stdout

    def until(self, condition, what):
        deadline = time.monotonic() + HANG_S
        while not condition():
            if time.monotonic() > deadline:
                logs = "\n".join(
                    f"{log.name}: {log.read_text(errors='replace')[-2000:]}"
                    for log in sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
                )
                raise AssertionError(f"{what} did not come up\n{logs}")
            time.sleep(0.1)

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
