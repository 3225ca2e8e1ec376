# SPDX-License-Identifier: Apache-2.0
"""A training program that ends in different ways: ends.py HOW."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import light_torch  # noqa: F401
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1) if sys.argv[1] != "forgotten" else None


def train(steps):
    for _ in range(steps):
        model(torch.ones(2, 4)).mean().backward()
        if torch.distributed.is_initialized():
            for parameter in model.parameters():
                torch.distributed.all_reduce(parameter.grad)
        optimizer.step()


def fork(end):
    if os.fork() == 0:
        train(5)
        end(0)
    assert os.wait()[1] == 0


def on_signal(number, _):
    print(signal.Signals(number).name, flush=True)
    sys.exit(4)


how = sys.argv[1]
if how == "call_no_module":
    sys.exit(0)
if how == "forgotten":  # eval()
    for _ in range(10):
        model(torch.ones(2, 4))
    sys.exit(0)
if how == "thread":
    thread = threading.Thread(target=train, args=(20,))
    thread.start()
    thread.join()
    sys.exit(0)
if how == "others":
    train(4)
    fork(os._exit)
    fork(sys.exit)
if how == "evaluate":
    with torch.no_grad():
        for _ in range(30):
            model(torch.ones(2, 4))
    sys.exit(0)
if how == "group_early":
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
ends_early = how.endswith("_early") or how in ("_exit", "raise", "raise_deep", "memory", "hang")
train(2 if how == "short" else 8 if ends_early else 30)
if how == "exit_early":
    sys.exit(3)
if how == "_exit":
    os._exit(5)
if how == "raise":
    raise ValueError("bad value")
if how == "raise_deep":
    model(torch.ones(2))
if how == "memory":
    torch.empty(1 << 50)
if how == "damage_early":
    for journal in Path().glob("*.scratch/*/*.steps"):
        content = journal.read_bytes()
        middle = len(content.rstrip(b"\0")) // 2
        journal.write_bytes(content[:middle] + b"\xff" * 16 + content[middle + 16 :])
if how in ("kill", "kill_early", "damage_early", "group_early"):
    os.kill(os.getpid(), signal.SIGKILL)
if how == "c_exit_early":
    ctypes.CDLL(None)._exit(6)
if how == "segfault_early":
    ctypes.string_at(0)
if how == "exec":
    os.execv("/bin/sh", ["sh", "-c", "echo replaced; exit 7"])
if how == "hang":
    time.sleep(1000)
if how == "others":
    subprocess.run([sys.executable, __file__, "short"], check=True)
    train(10)
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
if how == "wait":
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    print("ready", flush=True)
    print(sys.stdin.readline(), end="", flush=True)
    while True:
        time.sleep(1)  # a signal just before a sleep does not end it
