// SPDX-License-Identifier: Apache-2.0
#pragma once

struct sqlite3;

namespace kymo::store {

/// Adds median(x), percentile(x, p) with p from 0 to 100, and stddev(x) (of a sample) to the connection, as aggregate
/// and window functions. NULL is ignored; percentiles are interpolated as in measure::summarize(). Views must not use
/// them, because databases must be readable with other SQLite tools.
void add_statistics_functions(sqlite3* connection);

}  // namespace kymo::store
