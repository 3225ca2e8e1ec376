# SPDX-License-Identifier: Apache-2.0
"""The workload of the pytest fixture kymo_benchmark."""

import kymo
from kymo import _benchmark


@kymo.workload
def benchmark(run, test: kymo.Text("", title="{}", setting=True, doc="node id of the test") = ""):
    """the function that a test passes to the fixture kymo_benchmark"""
    return _benchmark.function
