// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/results.hpp"

namespace kymo::exports {

/// The user's selection; missing members are chosen automatically.
struct Choice {
  std::optional<std::int64_t> run;
  std::optional<std::int64_t> rank;
  std::optional<std::string> pass;
};

/// The run, rank and pass to export.
struct Target {
  std::int64_t run = 0;
  std::int64_t rank = 0;
  std::string pass;
  bool has_details = false;  ///< the pass has rows in Wanted::details

  /// Parameters for ResultsDatabase::query: run, rank and pass.
  std::vector<std::pair<std::string, std::string>> parameters() const;
};

/// Requirements for a pass to be exported.
struct Wanted {
  std::vector<std::string> passes;     ///< in order of preference
  std::vector<std::string> tables;     ///< the pass must have rows in at least one of them
  std::string what;                    ///< for errors: "no kernel, operator or scope events"
  std::vector<std::string> details{};  ///< a pass with rows in one of these tables is preferred to any without
};

/// Selects the pass of one run to export, once per rank: the newest run with the requested data, unless a run is given.
/// Throws UsageError naming the pass that records the data.
std::vector<Target> find_targets(const store::ResultsDatabase& database, const Choice& choice, const Wanted& wanted);

/// The other passes of the run of `target` that could be exported, in order of preference.
std::vector<std::string> other_passes(const store::ResultsDatabase& database, const Target& target,
                                      const Wanted& wanted);

/// The output file of each target: `file`, or for several targets files named after their rank ("trace-rank1.json"). If
/// `file` is empty: "<stem>-run<N>-rank<R><extension>". Throws UsageError if several targets would go to standard
/// output.
std::vector<std::filesystem::path> files_for(const std::vector<Target>& targets, const std::filesystem::path& file,
                                             const std::string& stem, const std::string& extension);

}  // namespace kymo::exports
