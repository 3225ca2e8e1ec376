// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "store/results.hpp"

namespace kymo::cli {

/// True if there is certainly no such file; one that cannot be looked at is left to whoever opens it and says why.
bool is_missing(const std::filesystem::path& file);

/// Opens a database that is there, for reading; runs that a killed kymo left behind are closed first where that is
/// possible. Throws UsageError if there is no such file, Error if it is no results database.
std::unique_ptr<store::ResultsDatabase> open_results(const std::filesystem::path& file);

}  // namespace kymo::cli
