// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "terminal/history.hpp"

namespace kymo::cli {

/// The history of the cases of a database. Commits are in the order of the repository of the current directory if it
/// has them.
Json history_here(const store::ResultsDatabase& database, terminal::HistoryRequest request);

}  // namespace kymo::cli
