# SPDX-License-Identifier: Apache-2.0
"""kymo under a real Slurm with one node, started for these tests from Debian's slurm-wlm. Requires root and the
programs; skipped without them."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from kymo_tool import HANG_S, KYMO, rows_of
from launcher_tool import PROBE, LaunchTest, free_port

RUN = ["run", PROBE, "--device", "cpu", "--warmup", "1", "--steps", "4"]
CONFIGURATION = """ClusterName=kymotest
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
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
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=10:00 State=UP OverSubscribe=FORCE:4
"""


def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def reason_to_skip():
    missing = [name for name in ("slurmctld", "slurmd", "srun", "sbatch", "sinfo", "munged") if not program(name)]
    if missing:
        return f"not installed: {', '.join(missing)} (Debian: slurm-wlm, munge)"
    if os.geteuid() != 0:
        return "only root can start Slurm's daemons"
    return ""


class Cluster:
    """munged, slurmctld and slurmd in a folder of their own."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kymo-slurm-"))
        self.daemons = []
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        self.configuration = self.folder / "slurm.conf"
        self.configuration.write_text(
            CONFIGURATION.format(
                host=socket.gethostname().split(".")[0],
                folder=self.folder,
                controller_port=free_port(),
                node_port=free_port(),
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
        self.daemon("slurmd", "-D")
        self.until(self.idle, "the node")

    def daemon(self, name, *words):
        with open(self.folder / f"{name}.out", "wb") as log:
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

    def idle(self):
        state = subprocess.run(
            [program("sinfo"), "-h", "-o", "%T"], env=self.environment, capture_output=True, text=True, check=False
        )
        return state.stdout.strip() == "idle"

    def until(self, condition, what):
        deadline = time.monotonic() + HANG_S
        while not condition():
            if time.monotonic() > deadline:
                logs = "\n".join(
                    f"{log.name}: {log.read_text(errors='replace')[-2000:]}"
                    for log in sorted(self.folder.glob("*.log"))
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


@unittest.skipIf(reason_to_skip(), reason_to_skip())
class SlurmTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def setUp(self):
        super().setUp()
        self.environment["SLURM_CONF"] = str(self.cluster.configuration)
        self.work.parent.chmod(0o755)

    def call(self, *words, code=0, **variables):
        process = self.start(*words, **variables)
        out, err = process.communicate(timeout=HANG_S)
        self.assertEqual(process.returncode, code, out + err)
        return out, err

    def test_both_tasks_are_measured(self):
        out, _ = self.call("srun", "-n", "2", KYMO, *RUN)
        self.assertEqual(self.rows("SELECT status, ranks FROM run"), [("ok", 2)])
        self.assertEqual(
            self.rows(
                "SELECT rank, count(*) FROM sample WHERE phase = 'step' AND NOT warmup AND pass = 'time' GROUP BY rank"
            ),
            [(0, 4), (1, 4)],
        )
        self.assertEqual(
            self.rows("SELECT rank, value FROM metric WHERE name = 'local_rank' AND pass = 'time' ORDER BY rank"),
            [(0, 0), (1, 1)],
        )
        self.assertEqual(out.count("results: "), 1)

    def test_a_failing_rank_is_the_exit_code_of_all(self):
        self.call("srun", "-n", "2", KYMO, *RUN, "--no-verify", "--set", "fail_at=2", "--set", "fail_rank=1", code=3)
        self.assertEqual(self.rows("SELECT status, failed_rank FROM run"), [("failed", 1)])

    def test_one_task_is_a_plain_run(self):
        self.call("srun", "-n", "1", KYMO, *RUN)
        self.assertEqual(self.rows("SELECT status, ranks FROM run"), [("ok", 1)])

    def test_a_batch_script_of_several_tasks_is_a_plain_run_until_it_calls_srun(self):
        script = self.work / "job.sh"
        script.write_text(
            f"#!/bin/sh\n{KYMO} run {PROBE} --device cpu --steps 2 --label plain || exit\n"
            f"srun -n 2 {KYMO} run {PROBE} --device cpu --steps 2 --label step\n",
            encoding="utf-8",
        )
        self.call("sbatch", "--wait", "-n", "2", "-o", self.work / "job.log", script)
        self.assertEqual(
            self.rows("SELECT label, ranks, status FROM run ORDER BY run_id"),
            [("plain", 1, "ok"), ("step", 2, "ok")],
            (self.work / "job.log").read_text(encoding="utf-8"),
        )

    def test_two_steps_at_once_do_not_join(self):
        script = self.work / "job.sh"
        lines = [
            f"srun --exact -n 2 {KYMO} run {PROBE} --device cpu --steps 2 --db {name}.db &" for name in ("one", "two")
        ]
        script.write_text("#!/bin/sh\n" + "\n".join(lines) + "\nwait\n", encoding="utf-8")
        self.call("sbatch", "--wait", "-n", "4", "-o", self.work / "job.log", script)
        for name in ("one", "two"):
            self.assertEqual(
                rows_of(self.work / f"{name}.db", "SELECT ranks, status FROM run"),
                [(2, "ok")],
                (self.work / "job.log").read_text(encoding="utf-8"),
            )


if __name__ == "__main__":
    unittest.main()
