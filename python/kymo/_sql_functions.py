# SPDX-License-Identifier: Apache-2.0
"""The SQL functions that `kymo sql` has besides SQLite's own: median, percentile and stddev."""

import collections
import math
import re

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.IGNORECASE)


def _number(value):
    """Return the value as SQLite's numeric affinity does, None for NULL. Raises ValueError for anything else."""
    if value is None or isinstance(value, (int, float)):
        return value
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    raise ValueError("median, percentile and stddev take numbers")


def _percentile(values, percent):
    """Interpolate linearly between the two nearest values."""
    ordered = sorted(map(float, values))
    at = percent / 100 * (len(ordered) - 1)
    below = int(at)
    if below + 1 == len(ordered):
        return ordered[below]
    return ordered[below] + (ordered[below + 1] - ordered[below]) * (at - below)


def _sample_deviation(values, _):
    if len(values) < 2:
        return None
    mean = math.fsum(value / len(values) for value in values)
    return math.sqrt(math.fsum((value - mean) * (value - mean) for value in values) / (len(values) - 1))


def _aggregate(statistic, errors):
    class Aggregate:
        def __init__(self):
            self.values = collections.deque()
            self.percent = 50.0
            self.is_fixed = False

        def step(self, value, percent=50):
            try:
                percent = _number(percent)
                if percent is None or not 0 <= percent <= 100 or (self.is_fixed and percent != self.percent):
                    raise ValueError("the second argument of percentile is a constant from 0 to 100")
                self.percent, self.is_fixed = percent, True
                number = _number(value)
            except ValueError as error:
                errors.append(str(error))  # sqlite3 replaces the exception by one without this text
                raise
            if number is not None:
                self.values.append(number)

        def inverse(self, value, percent=50):
            if value is not None:
                self.values.popleft()

        def value(self):
            return statistic(self.values, self.percent) if self.values else None

        finalize = value

    return Aggregate


def add_statistics_functions(connection, errors):
    """Add median(x), percentile(x, p) with p from 0 to 100, and stddev(x) of a sample. NULL is ignored.

    Python 3.10 has them as aggregates only; from 3.11 on they are also window functions. The reason for an error of a
    function is appended to the list `errors`.
    """
    create = getattr(connection, "create_window_function", connection.create_aggregate)
    for name, arguments, statistic in (
        ("median", 1, _percentile),
        ("percentile", 2, _percentile),
        ("stddev", 1, _sample_deviation),
    ):
        create(name, arguments, _aggregate(statistic, errors))
