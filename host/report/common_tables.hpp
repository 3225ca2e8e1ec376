// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/keys.hpp"

namespace kymo::report {

/// The queries that the key `with` of a report, section or content file gives a name. The queries beside the key, and
/// other queries of `with`, read them like tables: expand() adds them as common table expressions.
class CommonTables {
 public:
  /// Adds the queries of the key `with`, if present: NAME = "FILE.sql" or NAME = "SELECT …". They replace those of the
  /// same name in an enclosing scope. Throws UsageError with the name for other values, and Error for a
  /// file that cannot be read.
  void add(Keys& keys, const std::filesystem::path& folder);

  /// Same, for a section with shared content: only names of queries that the content has are allowed.
  void replace(Keys& keys, const std::filesystem::path& folder);

  /// Puts the queries whose names occur in a statement, and those whose names occur in these, in front of it; the
  /// statement is unchanged if there are none. Its own common table expressions hide those of the same name. Throws
  /// UsageError with `location` if queries need each other, or the statement is neither SELECT nor WITH.
  std::string expand(const std::string& sql, const std::string& location) const;

  /// Throws UsageError if a query of the last add() or replace() was not used by an expand() of this object or a copy.
  void check_used() const;

 private:
  struct Entry {
    std::string name;
    std::string sql;
    std::string location;
    bool used = false;
  };
  using Path = std::vector<std::string>;

  std::vector<std::shared_ptr<Entry>> read(Keys& keys, const std::filesystem::path& folder) const;
  void collect(const std::string& sql, const std::string& location, Path& path, std::vector<const Entry*>& found) const;

  std::map<std::string, std::shared_ptr<Entry>> entries_;
  std::vector<std::shared_ptr<const Entry>> own_;
};

/// The path of a query file that a key names: NAME.sql in the folder, or ../REPORT/NAME.sql. Throws UsageError for
/// other names.
std::filesystem::path query_path(const std::filesystem::path& folder, const std::string& key, const std::string& name,
                                 const std::string& location);

}  // namespace kymo::report
