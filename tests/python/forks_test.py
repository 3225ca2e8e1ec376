# SPDX-License-Identifier: Apache-2.0
"""The processors on which the forks of a worker begin."""

import os
import subprocess
import sys
import unittest

import fake_host  # noqa: F401  (finds the built package)
from kymo import _forks

# Each fork asks for another one, until there were five. It prints the processor that it is sent to.
SERVER = """
import os, signal, sys
import fake_host
from kymo import _forks

send = _forks._continue_on
def continue_on(processor):
    print(processor, flush=True)
    send(processor)
    assert os.sched_getaffinity(0) == allowed, "a fork may leave the processor again"
_forks._continue_on = continue_on
allowed = os.sched_getaffinity(0)

def serve(start_ns, error):
    with open(sys.argv[1], "a+b") as forks:
        forks.write(b".")
        forks.flush()
        if os.fstat(forks.fileno()).st_size < 5:
            os.kill(os.getppid(), signal.SIGUSR1)
            os.kill(os.getppid(), signal.SIGUSR2)
    os._exit(0)

_forks.serve_in_forks("", 0, serve)
"""


class ForksTest(unittest.TestCase):
    def test_that_they_begin_on_each_near_processor_in_turn(self):
        near = sorted(_forks._near_processors())
        file = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"kymo-forks-{os.getpid()}")
        self.addCleanup(os.unlink, file)
        done = subprocess.run(
            [sys.executable, "-c", SERVER, file],
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            start_new_session=True,  # the server kills what its forks leave behind in its process group
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        sent = [int(line) for line in done.stdout.split()]
        self.assertEqual(len(sent), 5)
        if set(sent) <= set(near):  # the server began on a processor of the same node
            first = near.index(sent[0])
            self.assertEqual(sent, [near[(first + at) % len(near)] for at in range(5)])

    def test_that_they_keep_to_the_processors_that_are_allowed(self):
        allowed = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        os.sched_setaffinity(0, {max(allowed)})
        self.assertEqual(_forks._near_processors(), [max(allowed)])

    def test_that_lists_of_the_kernel_are_read(self):
        for text, expected in (("0-3,8\n", {0, 1, 2, 3, 8}), ("5", {5}), ("\n", set())):
            self.assertEqual(_forks._processors_of(text), expected)


if __name__ == "__main__":
    unittest.main()
