# SPDX-License-Identifier: Apache-2.0
"""A worker that speaks the worker protocol without any of kymo's code: what it does is told by the run's parameters.

`behaviour` says what happens, on rank `on_rank` (-1: on every rank) and in pass `on_pass` (empty: in every pass);
elsewhere all is well.
"""

import argparse
import glob
import importlib.util
import json
import os
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
RANK_FILE_ID = 0x6B797266


class Control:
    def __init__(self, address):
        if "/" in address:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address)
        else:
            host, port = address.rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)))

    def send(self, payload=b"", **message):
        body = json.dumps(message).encode() + (b"\0" + payload if payload else b"")
        self.socket.sendall(struct.pack("<I", len(body)) + body)

    def _exactly(self, count):
        got = b""
        while len(got) < count:
            part = self.socket.recv(count - len(got))
            if not part:
                sys.exit(0)
            got += part
        return got

    def receive(self):
        (length,) = struct.unpack("<I", self._exactly(4))
        message, _, self.payload = self._exactly(length).partition(b"\0")
        return json.loads(message)


def write_rank_file(a, steps):
    temporary = a["rank_file"] + ".new"
    database = sqlite3.connect(temporary)
    migrations = sorted(glob.glob(os.path.join(SOURCE, "schemas", "migrations", "*.sql")))
    for migration in migrations:
        with open(migration, encoding="utf-8") as script:
            database.executescript(script.read())
    database.execute(f"PRAGMA application_id = {RANK_FILE_ID}")
    database.execute(f"PRAGMA user_version = {len(migrations)}")
    for key, value in (("schema_version", len(migrations)), ("compatible_version", 1), ("kymo_version", "0.1.0")):
        database.execute("INSERT INTO meta VALUES (?, ?)", (key, str(value)))
    key = (a["run_id"], a["rank"], a["pass"])
    database.execute(
        "INSERT INTO rank (run_id, rank, pass, pid, host, status, resident_peak_bytes, stdout, stderr) "
        "VALUES (?, ?, ?, 0, '', '', 1048576, '', '')",
        key,
    )
    for step in range(steps):
        database.execute(
            "INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns) "
            "VALUES (?, ?, ?, ?, 'step', 0, 0, 1, ?, 1000)",
            key + (step, step * 2000),
        )
    database.commit()
    database.close()
    os.rename(temporary, a["rank_file"])


class Pass:
    def __init__(self, control, assignment):
        self.control = control
        self.a = assignment
        self.parameters = assignment["case"]["parameters"]
        concerned = self.parameters.get("on_rank", -1) in (-1, assignment["rank"]) and self.parameters.get(
            "on_pass", ""
        ) in ("", assignment["pass"])
        self.behaviour = self.parameters.get("behaviour", "ok") if concerned else "ok"
        self.steps = assignment["method"]["steps"]
        self.barriers = 0

    def outcome(self, status, detail="", step=-1, verification=None):
        self.control.send(
            type="outcome",
            status=status,
            detail=detail,
            stage="step",
            phase="forward",
            step=step,
            verification=verification,
            failed_ns=-1,
        )

    def barrier(self, stop=False):
        self.control.send(type="barrier", sequence=self.barriers, stop=stop)
        self.barriers += 1
        return self.control.receive()

    def make(self):
        self.control.send(type="progress", stage="load", step=-1, steps=0, failing=False)
        getattr(self, "start_" + self.behaviour, lambda: None)()
        for step in range(self.steps):
            self.control.send(type="progress", stage="step", step=step, steps=self.steps, failing=False)
            if self.a["case"]["ranks"] > 1 and self.parameters.get("barriers", False):
                answer = self.barrier()
                if answer["type"] == "cancel":
                    write_rank_file(self.a, step)
                    self.outcome("interrupted", "the run was cancelled", step)
                    return
            if step == 2:
                special = getattr(self, "do_" + self.behaviour, None)
                if special and special() == "end":
                    return
        write_rank_file(self.a, self.steps)
        getattr(
            self,
            "end_" + self.behaviour,
            lambda: self.outcome("ok", verification="passed" if self.a["pass"] == "verify" else None),
        )()

    # Possible actions in step 2.

    def do_tell_placement(self):
        print(f"local_rank {self.a['local_rank']}, device_index {self.a['device_index']}", flush=True)

    def do_crash(self):
        print("the last words", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)

    def do_killed(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def do_exit0(self):
        os._exit(0)

    def do_exit7(self):
        os._exit(7)

    def do_fail(self):
        write_rank_file(self.a, 2)
        self.outcome("failed", "the loss is <script>nan</script>\nand 'more'", 2)
        return "end"

    def do_oom(self):
        write_rank_file(self.a, 2)
        self.outcome("oom", "asked for 7 GiB", 2)
        return "end"

    def do_skip(self):
        self.outcome("skipped", "makes no sense here", 2)
        return "end"

    def do_hang(self):
        time.sleep(600)

    def do_flood(self):
        block = b"\xff" + b"x" * 65535
        for _ in range(512):
            os.write(1, block)
        os.write(1, b"the end")
        os.write(2, b"a word")

    def do_memory(self):
        held = bytearray(256 << 20)
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(600)

    def do_garbage(self):
        self.control.socket.sendall(struct.pack("<I", 7) + b"{nonsen")
        time.sleep(600)

    def do_unknown_status(self):
        self.outcome("splendid")
        time.sleep(600)

    def do_huge_frame(self):
        self.control.socket.sendall(struct.pack("<I", 1 << 30))
        time.sleep(600)

    def do_twice(self):
        self.outcome("ok")
        self.outcome("ok")
        time.sleep(600)

    def do_close(self):
        self.control.socket.close()
        time.sleep(600)

    def do_gather(self):
        self.control.send(type="gather", sequence=0, payload=b"rank %d" % self.a["rank"])
        answer = self.control.receive()
        expected = [b"rank %d" % rank for rank in range(self.a["case"]["ranks"])]
        if answer != {"type": "gathered", "sequence": 0, "sizes": [len(each) for each in expected]} or (
            self.control.payload != b"".join(expected)
        ):
            self.outcome("failed", f"gathered {answer} {self.control.payload}")
            return "end"
        return None

    def do_lone_barrier(self):
        self.barrier()

    def do_stop(self):
        answer = self.barrier(stop=self.a["rank"] == 0)
        if not answer["stop"]:
            self.outcome("failed", "rank 0 said stop and nobody heard")
            return "end"
        return None

    def do_slow(self):
        print("slow", flush=True)
        for step in range(3, 10000):
            self.control.send(type="progress", stage="step", step=step, steps=10000, failing=False)
            time.sleep(0.02)
            self.control.socket.setblocking(False)
            try:
                waiting = self.control.socket.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                waiting = b""
            self.control.socket.setblocking(True)
            if waiting and self.control.receive()["type"] == "cancel":
                write_rank_file(self.a, step)
                self.outcome("interrupted", "the run was cancelled", step)
                return "end"
        return None

    def do_grandchild(self):
        child = subprocess.Popen(["sleep", "600"])
        print(f"grandchild {child.pid}", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    def do_detach(self):
        subprocess.Popen(["sleep", "600"], start_new_session=True)

    def do_leave(self):
        subprocess.Popen(["sleep", "600"])

    def do_count_group(self):
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        print(f"{sum(map(lives_in_own_group, pids))} in the group", flush=True)

    def do_work_a_second(self):
        last = time.monotonic()
        for _ in range(20):
            time.sleep(0.05)
            now = time.monotonic()
            if now - last > 1:
                print("was stopped", flush=True)
            last = now

    # Possible endings other than success.

    def end_die_after(self):
        self.outcome("ok")
        os.kill(os.getpid(), signal.SIGSEGV)

    def end_wrong_result(self):
        self.outcome("failed", "off by one", verification="failed")

    def end_unavailable(self):
        self.outcome("ok", "no reference", verification="unavailable")


def lives_in_own_group(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            state, _, group = file.read().rpartition(") ")[2].split()[:3]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z" and int(group) == os.getpgrp()


def serve_in_forks(serve):
    """As workers in Python do."""
    file = os.path.join(SOURCE, "python", "kymo", "_forks.py")
    spec = importlib.util.spec_from_file_location("forks", file)
    forks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(forks)
    forks.serve_in_forks("", 0, serve)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--start", default="")
    options = parser.parse_args()
    if options.start == "silent exit":
        print("cannot load libnothing.so", file=sys.stderr)
        sys.exit(127)
    if options.start == "forks":
        serve_in_forks(lambda *_: os._exit(serve(options)))
    sys.exit(serve(options))


def serve(options):
    control = Control(options.connect)
    token = os.environ["KYMO_WORKER_TOKEN"]
    protocol = 99 if options.start == "wrong version" else 7
    control.send(type="hello", protocol=protocol, token=token, rank=options.rank, pid=os.getpid(), ranks=0, again=False)
    while True:
        frame = control.receive()
        if frame["type"] == "exit":
            return 0
        if frame["type"] != "assignment":
            continue
        print(f"run {frame['run_id']} pass {frame['pass']} pid {os.getpid()}", flush=True)
        if options.start == "forks":
            print(f"fork of {os.getppid()}", flush=True)
        Pass(control, frame).make()


main()
