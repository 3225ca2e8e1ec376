// SPDX-License-Identifier: Apache-2.0
#include "report/json_text.hpp"

#include <fmt/format.h>

#include "report/unicode.hpp"

namespace kymo::report {

void JsonText::separate() {
  if (!text_.empty() && text_.back() != '[' && text_.back() != '{' && text_.back() != ':') text_ += ',';
}

void JsonText::open(char bracket) {
  separate();
  text_ += bracket;
}

void JsonText::close(char bracket) { text_ += bracket; }

void JsonText::key(std::string_view name) {
  value(name);
  text_ += ':';
}

void JsonText::value(std::string_view raw) {
  separate();
  text_ += '"';
  for (const char c : printable(raw)) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
}

void JsonText::value(std::int64_t number) {
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", number);
}

void JsonText::value(double number) {
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", number);
}

void JsonText::value(bool flag) {
  separate();
  text_ += flag ? "true" : "false";
}

}  // namespace kymo::report
