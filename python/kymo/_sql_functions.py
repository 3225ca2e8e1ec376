# SPDX-License-Identifier: Apache-2.0
"""The SQL functions that `kymo sql` has besides those of SQLite: statistics and texts for ratios of times."""

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


_LEAST_FACTOR = 1.5


def _percent_text(share):
    percent = abs(100 * share)
    return f"{percent:.{2 if percent < 0.95 else 1 if percent < 99.5 else 0}f}"


def _number_text(ratio, as_factor):
    if not as_factor:
        return _percent_text(ratio - 1)
    factor = max(ratio, 1 / ratio)
    return f"{factor:.{2 if factor < 9.995 else 1 if factor < 99.95 else 0}f}"


def _direction(ratio, as_factor):
    if as_factor:
        return " times as fast" if ratio < 1 else " times as long"
    return " % faster" if ratio < 1 else " % slower"


def _has_factor(ratio):
    return max(ratio, 1 / ratio) >= _LEAST_FACTOR


def _span_text(low, high, as_factor):
    ends = (high, low) if low < 1 else (low, high)
    return " to ".join(_number_text(ratio, as_factor) for ratio in ends)


def ratio_text(*ratios):
    """State a ratio of two times or, from two arguments, a range: "5.1 % faster", "1.97 to 2.10 times as long".

    Below a factor of 1.5, a ratio is in percent of the time, from 1.5 on it is a factor. Return None unless all
    arguments are positive and finite.
    """
    if not _are_ratios(ratios):
        return None
    low, high = ratios[0], ratios[-1]
    if (low < 1) != (high < 1):
        return f"{ratio_text(low)} to {ratio_text(high)}"
    as_factor = _has_factor(low) or _has_factor(high)
    number = _number_text(low, as_factor) if low == high else _span_text(low, high, as_factor)
    return number + _direction(low, as_factor)


def ratio_interval(ratio, low, high):
    """State the interval of a ratio in the unit of the ratio: "4.2 to 6.0 %", "1.90 to 2.03 times"."""
    if not _are_ratios((ratio, low, high)):
        return None
    if (low < 1) != (ratio < 1) or (high < 1) != (ratio < 1):
        return ratio_text(low, high)
    as_factor = _has_factor(ratio)
    return _span_text(low, high, as_factor) + (" times" if as_factor else " %")


def _are_ratios(values):
    return all(isinstance(value, (int, float)) and value > 0 and math.isfinite(value) for value in values)


def add_sql_functions(connection, errors):
    """Add median(x), percentile(x, p) with p from 0 to 100, stddev(x) of a sample, ratio_text and ratio_interval.

    NULL is ignored. Python 3.10 has the statistics as aggregates only; from 3.11 on they are also window functions.
    The reason for an error of a function is appended to the list `errors`.
    """
    for arguments in (1, 2):
        connection.create_function("ratio_text", arguments, ratio_text, deterministic=True)
    connection.create_function("ratio_interval", 3, ratio_interval, deterministic=True)
    create = getattr(connection, "create_window_function", connection.create_aggregate)
    for name, arguments, statistic in (
        ("median", 1, _percentile),
        ("percentile", 2, _percentile),
        ("stddev", 1, _sample_deviation),
    ):
        create(name, arguments, _aggregate(statistic, errors))
