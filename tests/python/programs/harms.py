# SPDX-License-Identifier: Apache-2.0
"""A training program that harms its observer between its steps: harms.py HOW [STEPS_BEFORE]. It ends with code 5."""

import contextlib
import ctypes
import faulthandler
import mmap
import os
import resource
import shutil
import signal
import sys
import threading
from pathlib import Path

import light_torch  # noqa: F401
import torch

CODE = 5
STEPS = 20
libc = ctypes.CDLL(None)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = []  # descriptors


def train(steps):
    for _ in range(steps):
        model(torch.ones(2, 4)).mean().backward()
        optimizer.step()


def truncate():
    for file in Path().glob("*.scratch/*/RUN*"):
        os.truncate(file, 0)


def truncate_own():
    with Path("own").open("wb+") as file:
        file.truncate(mmap.PAGESIZE)
        memory = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        file.truncate(0)
        memory[0] = 1


def truncate_and_end():
    truncate()
    os.kill(os.getpid(), signal.SIGKILL)


def change_handlers():
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN if number % 2 else lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def delete():
    for folder in Path().glob("*.scratch"):
        shutil.rmtree(folder)


def close_descriptors():
    """Other files and sockets take their numbers."""
    os.closerange(3, 65536)
    kept.extend(os.open(f"own-{number}", os.O_WRONLY | os.O_CREAT) for number in range(20))


def limit(kind, value):
    resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))


def limit_memory():
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
    limit(resource.RLIMIT_AS, (pages + 256) * mmap.PAGESIZE)


def leave_folder():
    os.mkdir("lost")
    os.chdir("lost")
    os.rmdir(os.getcwd())


def forget():
    """Everything in the process that kymo could rely on."""
    os.environ.clear()
    libc.clearenv()
    os.umask(0o777)
    change_handlers()
    sys.excepthook = threading.excepthook = lambda *_: None
    for name in [name for name in sys.modules if name.startswith("kymo")]:
        del sys.modules[name]
    leave_folder()
    os.closerange(0, 3)


def execute_in_c(*words):
    libc.execv(words[0].encode(), (ctypes.c_char_p * (len(words) + 1))(*(word.encode() for word in words), None))


def execute_nothing():
    with contextlib.suppress(OSError):
        os.execvp("no-such-program", ["no-such-program"])


def exit_in_a_thread():
    thread = threading.Thread(target=os._exit, args=(CODE,))
    thread.start()
    thread.join()


def fork_within_a_step():
    output = model(torch.ones(2, 4)).mean()
    child = os.fork()
    output.backward()
    optimizer.step()
    if child == 0:
        train(STEPS)
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0


AGAIN = (sys.executable, __file__, "nothing")
HARMS = {
    "nothing": lambda: None,
    "truncate": truncate,
    "truncate_with_faulthandler": truncate,
    "truncate_own": truncate_own,
    "truncate_and_end": truncate_and_end,
    "unlink": lambda: [file.unlink() for file in Path().glob("*.scratch/*/*")],
    "delete": delete,
    "close_descriptors": close_descriptors,
    "forget": forget,
    "limit_files": lambda: limit(resource.RLIMIT_FSIZE, 1000),
    "limit_descriptors": lambda: limit(resource.RLIMIT_NOFILE, 3),
    "limit_memory": limit_memory,
    "execute": lambda: os.execv(AGAIN[0], AGAIN),
    "execute_in_c": lambda: execute_in_c(*AGAIN),
    "execute_shell": lambda: os.execlp("sh", "sh", "-c", f"exit {CODE}"),
    "execute_shell_in_c": lambda: execute_in_c("/bin/sh", "-c", f"exit {CODE}"),
    "execute_nothing": execute_nothing,
    "exit_in_a_thread": exit_in_a_thread,
    "fork_within_a_step": fork_within_a_step,
}
how = sys.argv[1]
if how == "truncate_with_faulthandler":
    faulthandler.enable()
train(int(sys.argv[2]) if len(sys.argv) > 2 else 8)
HARMS[how]()
train(STEPS)
sys.exit(CODE)
