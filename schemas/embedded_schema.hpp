// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// The SQL of this folder as it was when the tool was built.
namespace kymo::schemas {

/// The oldest schema whose tools can still read and write a database of the newest one. Raise it with a migration that
/// breaks them.
inline constexpr int kCompatibleVersion = 1;

/// One file of SQL.
struct Script {
  std::string name;  ///< file name
  std::string sql;
};

/// In the order of their numbers: migration i brings a database from schema i to schema i + 1.
const std::vector<Script>& migrations();

/// Every view, in an order in which they can be created.
const std::vector<Script>& views();

/// SHA-256 of all views: tells whether those of a database are these.
const std::string& views_digest();

}  // namespace kymo::schemas
