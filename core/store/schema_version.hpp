// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "embedded_schema.hpp"
#include "store/sqlite.hpp"

/// Migration of the tables and views of a database. Nothing here begins or ends a transaction.
namespace kymo::store {

inline constexpr std::int64_t kResultsApplicationId = 0x6B796462;   ///< "kydb"
inline constexpr std::int64_t kRankFileApplicationId = 0x6B797266;  ///< "kyrf"

/// Application ids of results and rank files from before the schema restarted at version 1 ("kymo", "kymr"). Such files
/// are rejected: there is no migration for their schema.
inline constexpr std::array<std::int64_t, 2> kIncompatibleApplicationIds{0x6B796D6F, 0x6B796D72};

/// The schema known to a version of the tool.
struct Schema {
  std::vector<schemas::Script> migrations;
  std::vector<schemas::Script> views;
  std::string views_digest;
  std::int64_t compatible_version = 1;  ///< oldest schema version whose tools can use a database with this schema
  std::string tool_version;             ///< "0.1.0"
  std::string tables{};                 ///< creates what the first `tables_version` migrations create; may be empty
  std::int64_t tables_version = 0;

  std::int64_t version() const { return static_cast<std::int64_t>(migrations.size()); }
};

/// Returns the schema of this build.
const Schema& own_schema();

/// Names of the tables that exist after the migrations.
std::set<std::string> table_names(const Schema& schema);

/// Returns "0.10.2" as comparable numbers; non-numeric components become 0.
std::array<long, 3> version_numbers(const std::string& version);

/// Returns a value of table meta, or an empty string if it does not exist.
std::string meta_value(const Connection& connection, const std::string& key);
void set_meta(const Connection& connection, const std::string& key, const std::string& value);

/// Applies the migrations above the database's version and stores the new version. An empty database gets the schema's
/// `tables` instead of the migrations that these are the result of: in a quarter of the time.
void migrate(const Connection& connection, const Schema& schema);

/// Returns true if the views differ from this tool's and were not created by a newer tool. Views belong to the tool:
/// one that somebody altered in the database must not decide what is reported.
bool needs_views(const Connection& connection, const Schema& schema);

/// Returns true if the database contains the views of this tool.
bool contains_views(const Connection& connection, const Schema& schema);

/// Replaces the tool's views; views that users added remain. With `temporary`, creates temporary views that hide those
/// of the file on this connection.
void replace_views(const Connection& connection, const Schema& schema, bool temporary);

}  // namespace kymo::store
