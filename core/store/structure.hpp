// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/schema_version.hpp"
#include "store/sqlite.hpp"

/// Checks what the schema of a file would let SQLite evaluate, by the text of its statements alone.
namespace kymo::store {

/// Which tables a file must have.
enum class RequiredTables {
  kAsMigrated,  ///< exactly as the migrations up to its version create them; others may be there, too
  kAny,  ///< those of an earlier version as migrated; otherwise, the import of a rank file reports what is missing
};

/// Throws Error if reading, checking or writing the file could evaluate an expression that its schema contains: CHECK
/// constraints, generated columns, defaults and indexes of expressions, partial indexes, virtual tables, or a view in
/// the place of a table. Such an expression can take any time, and one call of a function cannot be interrupted. Reads
/// the schema, and evaluates nothing that is in the file. Tables of kymo contain no such expression. Throws Error, too,
/// if the file has no table `meta`.
void check_structure(const Connection& connection, const Schema& schema, RequiredTables tables);

}  // namespace kymo::store
