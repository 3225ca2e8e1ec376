// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The tokens of SQL statements.
namespace kymo::store {

/// ASCII letters in lower case: SQLite compares names without regard to their case.
std::string lowercase(std::string_view text);

/// An identifier, keyword or number in lower case, or one character. Only names may be quoted.
struct Token {
  std::string text;
  bool is_word = false;
  bool is_quoted = false;

  bool is(std::string_view keyword) const { return is_word && !is_quoted && text == keyword; }
  bool is_symbol(char symbol) const { return !is_word && text.size() == 1 && text[0] == symbol; }
  bool operator==(const Token&) const = default;
};

/// Splits a statement. String literals become empty tokens; comments and blanks are skipped.
std::vector<Token> tokens_of(std::string_view sql);

}  // namespace kymo::store
