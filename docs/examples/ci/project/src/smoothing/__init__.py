# SPDX-License-Identifier: Apache-2.0
"""Moving averages."""


def moving_average(values, width):
    """Means of `width` consecutive values."""
    total = sum(values[:width])
    means = [total / width]
    for left, entered in zip(values, values[width:], strict=False):
        total += entered - left
        means.append(total / width)
    return means
