// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"

namespace kymo::plan {

/// Resolves workload arguments of the command line: a name from the catalog or from a file that was named before,
/// FILE.so or FILE.py for the file's only workload, or FILE:NAME.
class Targets {
 public:
  explicit Targets(catalog::Options options) : options_(std::move(options)) {}

  /// The result is valid as long as this object exists. Throws UsageError with the closest match for an unknown name,
  /// and Error for a file that cannot be used.
  catalog::Found find(const std::string& word);

  /// The names of all workloads of the catalog, sorted.
  std::vector<std::string> workload_names();

 private:
  const catalog::Catalog& discovered();
  void check_named_files() const;
  catalog::Found find_in_file(const std::string& word);

  catalog::Options options_;
  std::optional<catalog::Catalog> catalog_;  // discovered on first use
  std::deque<catalog::Plugin> files_;        // a deque keeps pointers to its elements valid
};

}  // namespace kymo::plan
