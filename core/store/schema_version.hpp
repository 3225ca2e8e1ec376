// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "embedded_schema.hpp"
#include "store/sqlite.hpp"

/// Bringing the tables and views of a database to a version. Nothing here begins or ends a transaction.
namespace kymo::store {

inline constexpr std::int64_t kResultsApplicationId = 0x6B796D6F;   ///< "kymo"
inline constexpr std::int64_t kRankFileApplicationId = 0x6B796D72;  ///< "kymr"

/// What a tool knows of the schema.
struct Schema {
  std::vector<schemas::Script> migrations;
  std::vector<schemas::Script> views;
  std::string views_digest;
  std::int64_t compatible_version = 1;  ///< oldest schema whose tools can still use a database of this one
  std::string tool_version;             ///< "0.1.0"

  std::int64_t version() const { return static_cast<std::int64_t>(migrations.size()); }
};

/// That of this build.
const Schema& own_schema();

/// "0.10.2" as numbers that compare; what is no number counts as 0.
std::array<long, 3> version_numbers(const std::string& version);

/// One fact of table meta; empty if it is not there.
std::string meta_value(const Connection& connection, const std::string& key);
void set_meta(const Connection& connection, const std::string& key, const std::string& value);

/// Applies the migrations above the database's version, and stores the new version. Makes all tables of an empty
/// database.
void migrate(const Connection& connection, const Schema& schema);

/// True if the views differ from the tool's and a newer tool did not put them there.
bool views_are_older(const Connection& connection, const Schema& schema);

/// Replaces the views of tools by this tool's; those that users added stay. With `temporary` they are made for this
/// connection alone and hide the file's own.
void replace_views(const Connection& connection, const Schema& schema, bool temporary);

}  // namespace kymo::store
