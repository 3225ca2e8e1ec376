// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "store/sqlite.hpp"

/// What SQLite's messages about unknown tables, columns and functions leave out: the name that was probably meant.
namespace kymo::store {

/// A table, view or common table expression in a FROM clause, in lower case; `alias` is its name if it has no other.
struct Relation {
  std::string name, alias;
};

/// The relations of a statement, including those of its subqueries and after IN, in order of occurrence.
std::vector<Relation> relations_in(const std::string& sql);

/// Completes SQLite's message about the statement: "; did you mean 'x'?", "; known: a, b" or an empty string. Columns
/// are those of the relations of the statement, or of the one that the message names.
std::string suggest_name(const Connection& connection, const std::string& message, const std::string& sql);

}  // namespace kymo::store
