// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "store/results.hpp"

namespace kymo::terminal {

/// True if the file definitely does not exist. An inaccessible path returns false; opening it reports the reason.
bool is_missing(const std::filesystem::path& file);

/// Throws UsageError if a database that a command takes as an argument does not exist.
void require_database(const std::filesystem::path& file);

/// The message about a value that kymo does not store, from one of the databases that open_results() opened.
std::string unexpected_value(const std::string& what);

/// Limits of the queries of commands that do not offer options for them: ten minutes, 4 GiB.
inline constexpr store::Limits kQueryLimits{.seconds = 600, .memory_bytes = std::int64_t{4} << 30};

/// Opens an existing database for reading, with kQueryLimits. Runs left in state `running` by a killed kymo are closed
/// first if the file is writable. Throws UsageError if the file does not exist and Error if it is not a results
/// database.
std::unique_ptr<store::ResultsDatabase> open_results(const std::filesystem::path& file);

}  // namespace kymo::terminal
