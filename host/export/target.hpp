// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/results.hpp"

namespace kymo::exports {

/// What the user asked for; what is absent is chosen.
struct Choice {
  std::optional<std::int64_t> run;
  std::optional<std::int64_t> rank;
  std::optional<std::string> pass;
};

/// Whose events an export is of.
struct Target {
  std::int64_t run = 0;
  std::int64_t rank = 0;
  std::string pass;

  /// For ResultsDatabase::query: run, rank and pass.
  std::vector<std::pair<std::string, std::string>> parameters() const;
};

/// What makes a pass worth exporting.
struct Wanted {
  std::vector<std::string> passes;  ///< the preferred one first
  std::vector<std::string> tables;  ///< the pass must have a row in one of them
  std::string what;                 ///< in an error: "no events of kernels, operators or scopes"
};

/// The pass of one run to export, once per rank: of the newest run that has what is wanted, unless a run is named.
/// Throws UsageError that says which pass would record it.
std::vector<Target> find_targets(const store::ResultsDatabase& database, const Choice& choice, const Wanted& wanted);

/// Where each target goes: to `file`, or if there are several to siblings named after their rank ("trace-rank1.json").
/// Without a file to
/// "<stem>-run<N>-rank<R><extension>". Throws UsageError if several would go to standard output.
std::vector<std::filesystem::path> files_for(const std::vector<Target>& targets, const std::filesystem::path& file,
                                             const std::string& stem, const std::string& extension);

}  // namespace kymo::exports
