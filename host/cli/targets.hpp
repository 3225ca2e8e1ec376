// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "catalog/catalog.hpp"

namespace kymo::cli {

/// The workloads that the words of a command line mean: a name from the catalog, FILE.so for the file's only workload,
/// or FILE.so:NAME.
class Targets {
 public:
  explicit Targets(catalog::Options options) : options_(std::move(options)) {}

  /// Valid as long as this object lives. Throws UsageError naming the nearest, Error for a file that cannot be used.
  catalog::Found find(const std::string& word);

 private:
  void check_named_files() const;
  catalog::Found find_in_file(const std::string& word);

  catalog::Options options_;
  std::optional<catalog::Catalog> catalog_;  // found only once a name asks for it
  std::deque<catalog::Plugin> files_;        // a deque, because pointers into it are handed out
};

}  // namespace kymo::cli
