# SPDX-License-Identifier: Apache-2.0
"""Run by `kymo trace` in place of a program: passes the settings of the observation to the process that called
kymo.observe(), over the socket KYMO_RELAY, and lasts until that process closes it. Its name and arguments are those of
the script."""

import os
import socket

with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
    connection.connect(os.environ["KYMO_RELAY"])
    connection.sendall(os.environ["KYMO_TRACE"].encode() + b"\n")
    connection.recv(1)
