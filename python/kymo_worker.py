# SPDX-License-Identifier: Apache-2.0
"""Started by kymo with the interpreter of a Python workload: describes a file, or runs workloads as a worker.

kymo_worker.py describe FILE
kymo_worker.py worker --connect ADDRESS --rank RANK [--fork-after-import MODULE]
"""

import os
import sys
import time

if sys.version_info < (3, 10):  # noqa: UP036
    print('{"error": "kymo requires Python 3.10 or later, not %d.%d"}' % sys.version_info[:2])  # noqa: UP031
    sys.exit(1)

if "t" in sys.abiflags:
    version = f"{sys.version_info.major}.{sys.version_info.minor}t"
    remedy = "use a build with the global interpreter lock"
    print(f'{{"error": "kymo does not support free-threaded builds of Python, such as this {version}: {remedy}"}}')
    sys.exit(1)

start_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)

# Python has added the folder with symbolic links resolved, and not at all with -P. The workload's own folder may
# contain another `kymo`.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from kymo._worker import main  # noqa: E402

if __name__ == "__main__":  # processes that multiprocessing spawns run this file under another name
    main(sys.argv[1:], start_ns)
