// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kymo {

/// Reads the keys of one table of a configuration file and rejects unknown keys. Every function throws UsageError with
/// the location and the key.
class Keys {
 public:
  Keys(const Json& table, std::string location);

  const std::string& location() const { return location_; }
  /// For a table that has a name.
  void set_location(std::string location) { location_ = std::move(location); }
  /// "LOCATION: 'KEY'", for messages of those who parse the value.
  std::string origin(const std::string& key) const;
  [[noreturn]] void fail(const std::string& reason) const;
  [[noreturn]] void reject(const std::string& key, const std::string& wanted) const;

  std::string text(const std::string& key);
  std::string non_empty_text(const std::string& key);
  /// A non-empty array of strings.
  std::vector<std::string> texts(const std::string& key);
  std::string text_or(const std::string& key, const std::string& fallback);
  std::int64_t integer_or(const std::string& key, std::int64_t fallback);
  bool flag_or(const std::string& key, bool fallback);
  /// The value under `key`; null if absent.
  const Json* find(const std::string& key);
  const Json* find_table(const std::string& key);
  const Json* find_array(const std::string& key);
  /// The index of the value within `words`.
  std::size_t word_or(const std::string& key, const std::vector<std::string>& words, std::size_t fallback);

  /// Call this last: rejects keys that were not read.
  void finish() const;

 private:
  const Json& required(const std::string& key, const std::string& wanted, bool (*is_valid)(const Json&));

  const Json& table_;
  std::string location_;
  std::vector<std::string> known_;
};

}  // namespace kymo
