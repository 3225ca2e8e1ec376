# SPDX-License-Identifier: Apache-2.0
import pytest
from smoothing import moving_average


@pytest.mark.parametrize("width", [4, 64])
def test_moving_average(kymo_benchmark, width):
    means = kymo_benchmark(moving_average, list(range(10_000)), width)
    assert means[0] == (width - 1) / 2
