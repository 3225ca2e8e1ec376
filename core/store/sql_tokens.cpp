// SPDX-License-Identifier: Apache-2.0
#include "store/sql_tokens.hpp"

#include <algorithm>
#include <cctype>

namespace kymo::store {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string lowercase(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::vector<Token> tokens_of(std::string_view sql) {
  std::vector<Token> tokens;
  const auto drop = [&](std::size_t end) { sql.remove_prefix(std::min(end, sql.size())); };
  const auto after = [&](std::string_view end, std::size_t from) {
    const std::size_t position = sql.find(end, from);
    return position == sql.npos ? sql.size() : position + end.size();
  };
  while (!sql.empty()) {
    const char first = sql.front();
    if (sql.starts_with("--")) {
      drop(after("\n", 2));
    } else if (sql.starts_with("/*")) {
      drop(after("*/", 2));
    } else if (std::isspace(static_cast<unsigned char>(first)) != 0) {
      drop(1);
    } else if (first == '\'' || first == '"' || first == '`' || first == '[') {
      const char last = first == '[' ? ']' : first;
      const std::size_t end = after(std::string_view(&last, 1), 1);
      tokens.push_back(
          {first == '\'' ? "" : lowercase(sql.substr(1, std::max<std::size_t>(end, 2) - 2)), first != '\'', true});
      drop(end);
    } else {
      std::size_t size = 0;
      while (size < sql.size() && is_word_character(sql[size])) ++size;
      tokens.push_back({lowercase(sql.substr(0, std::max<std::size_t>(size, 1))), size > 0, false});
      drop(std::max<std::size_t>(size, 1));
    }
  }
  return tokens;
}

}  // namespace kymo::store
