// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// The SQL files of this directory, embedded at build time.
namespace kymo::schemas {

/// The oldest schema version whose tools can still read and write a database of the current version. Raise it in a
/// migration that breaks compatibility.
inline constexpr int kCompatibleVersion = 10;

/// One SQL file.
struct Script {
  std::string name;  ///< file name
  std::string sql;
};

/// All migrations in order: migration i upgrades a database from schema version i to i + 1.
const std::vector<Script>& migrations();

/// Creates the tables and indexes that a database has after all migrations.
const std::string& tables();

/// All view files, in an order in which they can be created.
const std::vector<Script>& views();

/// SHA-256 of all view files, used to detect whether the views of a database are current.
const std::string& views_digest();

}  // namespace kymo::schemas
