# SPDX-License-Identifier: Apache-2.0
"""Strangers who connect to the control server of a job: its run must succeed, and the memory of kymo stays bounded.

KYMO_STORM multiplies the number of malformed frames (default 1: 3000; 10: 30,000).
"""

import concurrent.futures
import contextlib
import json
import os
import socket
import struct
import sys
import unittest

from kymo_tool import HANG_S, KYMO
from launcher_tool import PROBE, LaunchTest, free_port

IDLE = 600
STORM = int(os.environ.get("KYMO_STORM", "1"))
MALFORMED = 3000 * STORM
STEPS = 300  # of 40 ms; the last one lasts until the attack is over
SLOW = 300
GROWTH_KIB = 16 << 10

RUN = ["run", PROBE, "--device", "cpu", "--warmup", "1", "--no-verify", "--timeout", HANG_S]
RUN += ["--set", "sleep=20000"]
# Each is the length of a frame and the beginning of its content.
FRAMES = [
    struct.pack("<I", 0),
    struct.pack("<I", 0xFFFFFFFF),
    struct.pack("<I", 4097) + b"{" * 4097,
    struct.pack("<I", 7) + b"{nonsen",
    struct.pack("<I", 4) + b"[[[[",
    struct.pack("<I", 2) + b"{}",
    struct.pack("<I", 17) + b'{"type":"hello"}\0',
    struct.pack("<I", 15) + b'{"type":"join"}',
    b"GET / HTTP/1.1\r\n\r\n",
    os.urandom(64),
]


def framed(message):
    body = json.dumps(message).encode()
    return struct.pack("<I", len(body)) + body


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


class StormTest(LaunchTest):
    def rank(self, rank, steps):
        return self.start(
            KYMO,
            *RUN,
            "--steps",
            steps,
            RANK=str(rank),
            WORLD_SIZE="2",
            LOCAL_RANK=str(rank),
            LOCAL_WORLD_SIZE="2",
            MASTER_ADDR="localhost",
            MASTER_PORT="29500",
            KYMO_PORT=str(self.port),
        )

    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.open = []
        self.addCleanup(lambda: [each.close() for each in self.open])

    def connect(self):
        stranger = socket.create_connection(("127.0.0.1", self.port), timeout=HANG_S)
        # Without this, the ports of thousands of closed connections stay in use for a minute.
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return stranger

    def stay_idle(self):
        for _ in range(IDLE):
            self.open.append(self.connect())

    def send_malformed_frames(self):
        for number in range(MALFORMED):
            with self.connect() as stranger, contextlib.suppress(OSError):  # closed by kymo, as it should be
                stranger.sendall(FRAMES[number % len(FRAMES)])

    def never_read(self):
        """Each gets an answer, the reason for its rejection, and asks for more."""
        for rank in range(SLOW):
            stranger = self.connect()
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            self.open.append(stranger)
            join = {"type": "join", "version": 3, "kymo": "x" * 1000, "identity": "another", "token": "", "rank": rank}
            with contextlib.suppress(OSError):
                stranger.sendall(framed({**join, "world_size": 2, "host": "there"}) + struct.pack("<I", 64 << 20))
                stranger.sendall(b"x" * (64 << 10))

    def test_a_run_survives_them(self):
        is_over = self.folder / "over"
        self.environment["KYMO_TEST_HOLD"] = f"{STEPS}:{is_over}"  # a step of warm-up precedes them
        leader, follower = self.rank(0, STEPS), self.rank(1, STEPS)
        self.workers(2, leader)
        before = resident_kib(leader.pid)
        peak = before
        with concurrent.futures.ThreadPoolExecutor() as pool:
            attacks = [pool.submit(each) for each in (self.stay_idle, self.send_malformed_frames, self.never_read)]
            while concurrent.futures.wait(attacks, timeout=0.05).not_done:
                peak = max(peak, resident_kib(leader.pid))
        for each in attacks:
            each.result()
        self.assertIsNone(leader.poll())
        is_over.touch()
        for process in (leader, follower):
            self.ended(process, 0)
        self.assertEqual(self.rows("SELECT status, detail FROM run"), [("ok", "")])
        self.assertLess(peak - before, GROWTH_KIB)
        print(f"{MALFORMED} malformed frames: grew by {peak - before} KiB", file=sys.stderr)

    def test_a_job_starts_among_them(self):
        leader = self.rank(0, 3)
        self.until(self.is_listening)
        self.stay_idle()
        self.never_read()
        follower = self.rank(1, 3)
        for process in (leader, follower):
            self.ended(process, 0)

    def is_listening(self):
        try:
            self.connect().close()
            return True
        except OSError:
            return False


if __name__ == "__main__":
    unittest.main()
