// SPDX-License-Identifier: Apache-2.0
#pragma once

struct sqlite3;

namespace kymo::store {

/// Adds functions to the connection. Views must not use them, because databases must be readable with other SQLite
/// tools.
///
/// median(x), percentile(x, p) with p from 0 to 100, and stddev(x) (of a sample) are aggregate and window functions.
/// NULL is ignored; percentiles are interpolated as in measure::summarize().
///
/// ratio_text(ratio), ratio_text(low, high) and ratio_interval(ratio, low, high) state a ratio of two times, a range of
/// them and an interval of one, as measure::ratio_text(), ratio_range_text() and ratio_interval_text() do. They are
/// NULL unless all arguments are positive and finite.
void add_sql_functions(sqlite3* connection);

}  // namespace kymo::store
