// SPDX-License-Identifier: Apache-2.0
#include "report/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "base/utf8.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

bool is_ascii_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 0x80;
}

bool is_number(std::string_view text) {
  double value = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

const std::map<char32_t, std::string_view>& latex_replacements() {
  static const std::map<char32_t, std::string_view> table{{'\\', "\\textbackslash{}"},
                                                          {'{', "\\{"},
                                                          {'}', "\\}"},
                                                          {'$', "\\$"},
                                                          {'&', "\\&"},
                                                          {'#', "\\#"},
                                                          {'%', "\\%"},
                                                          {'^', "\\textasciicircum{}"},
                                                          {'~', "\\textasciitilde{}"},
                                                          {'<', "\\ensuremath{<}"},
                                                          {'>', "\\ensuremath{>}"},
                                                          {'|', "\\ensuremath{|}"},
                                                          {'"', "\\kymoquote{}"},
                                                          {'`', "\\kymobacktick{}"},
                                                          {'\'', "'{}"},
                                                          {'-', "-{}"},
                                                          {'_', "\\_\\allowbreak{}"},
                                                          {',', ",\\allowbreak{}"},
                                                          {'=', "=\\allowbreak{}"},
                                                          {'/', "/\\allowbreak{}"},
                                                          {';', ";\\allowbreak{}"},
                                                          {':', ":\\allowbreak{}"},
                                                          {'[', "{[}"},
                                                          {']', "{]}"},
                                                          {'!', "!{}"},
                                                          {'?', "?{}"},
                                                          {0x00A0, "~"},
                                                          {0x00B0, "\\ensuremath{^{\\circ}}"},
                                                          {0x00B1, "\\ensuremath{\\pm}"},
                                                          {0x00B2, "\\ensuremath{^{2}}"},
                                                          {0x00B5, "\\ensuremath{\\mu}"},
                                                          {0x00B7, "\\ensuremath{\\cdot}"},
                                                          {0x00D7, "\\ensuremath{\\times}"},
                                                          {0x03B1, "\\ensuremath{\\alpha}"},
                                                          {0x03B2, "\\ensuremath{\\beta}"},
                                                          {0x03BB, "\\ensuremath{\\lambda}"},
                                                          {0x03BC, "\\ensuremath{\\mu}"},
                                                          {0x03C3, "\\ensuremath{\\sigma}"},
                                                          {0x2009, "\\,"},
                                                          {0x2011, "-{}"},
                                                          {0x2012, "--"},
                                                          {0x2013, "--"},
                                                          {0x2014, "---"},
                                                          {0x2018, "`"},
                                                          {0x2019, "'{}"},
                                                          {0x201C, "``"},
                                                          {0x201D, "''"},
                                                          {0x2026, "\\ldots{}"},
                                                          {0x202F, "\\,"},
                                                          {0x2190, "\\ensuremath{\\leftarrow}"},
                                                          {0x2192, "\\ensuremath{\\rightarrow}"},
                                                          {0x2212, "\\ensuremath{-}"},
                                                          {0x221A, "\\ensuremath{\\surd}"},
                                                          {0x221E, "\\ensuremath{\\infty}"},
                                                          {0x2248, "\\ensuremath{\\approx}"},
                                                          {0x2264, "\\ensuremath{\\le}"},
                                                          {0x2265, "\\ensuremath{\\ge}"},
                                                          {0x2022, "\\ensuremath{\\bullet}"},
                                                          {0xFFFD, "\\kymounknown{}"}};
  return table;
}

// Letters of Latin-1 that OT1 fonts can compose; eth, thorn and the symbols between the letters are excluded.
bool latex_has_letter(char32_t c) {
  return c >= 0xC0 && c <= 0xFF && c != 0xD0 && c != 0xDE && c != 0xF0 && c != 0xFE && c != 0xF7;
}

}  // namespace

std::string escape_markdown(std::string_view raw) {
  const std::string text = printable(raw);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool inside_word = i > 0 && i + 1 < text.size() && is_ascii_alnum(text[i - 1]) && is_ascii_alnum(text[i + 1]);
    const bool at_start = out.empty();
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '@') {
      out += "&#64;";  // prevents hosts such as GitHub from turning a name into a mention
    } else if (std::string_view("\\`*[]|~$").find(c) != std::string_view::npos || (c == '_' && !inside_word) ||
               (at_start && std::string_view("#+-=").find(c) != std::string_view::npos)) {
      out += '\\';
      out += c;
    } else if ((c == '.' || c == ')') && i > 0 && i <= 9 && (i + 1 == text.size() || text[i + 1] == ' ') &&
               std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), ::isdigit)) {
      out += '\\';  // "1." would start a list
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string markdown_code(std::string_view raw, bool in_table) {
  const std::string text = printable(raw);
  if (text.find_first_not_of(' ') == std::string::npos) return escape_markdown(text);
  std::size_t longest = 0;
  std::size_t current = 0;
  std::string body;
  for (const char c : text) {
    current = c == '`' ? current + 1 : 0;
    longest = std::max(longest, current);
    if (c == '|' && in_table) body += '\\';
    body += c;
  }
  // A backslash before the bar would be read as its escape, so no code span can represent this inside a table.
  if (in_table && text.find("\\|") != std::string::npos) return escape_markdown(text);
  const std::string fence(longest + 1, '`');
  const bool pad = text.front() == '`' || text.back() == '`';
  return pad ? fence + " " + body + " " + fence : fence + body + fence;
}

std::string escape_latex(std::string_view raw) {
  constexpr int kLongestWord = 24;
  const std::string clean = printable(raw);
  std::string_view text = clean;
  std::string out;
  int unbroken = 0;
  char32_t previous = 0;
  const auto is_letter = [](char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  while (!text.empty()) {
    const char32_t c = take_code_point(text);
    const auto found = latex_replacements().find(c);
    if (found != latex_replacements().end()) {
      out += found->second;
    } else if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (latex_has_letter(c)) {
      append_utf8(out, c);
    } else {
      out += fmt::format("\\kymochar{{{:04X}}}", static_cast<std::uint32_t>(c));
    }
    // Within a word, as in roman type; the monospaced font has no such breaks.
    const bool hyphenates =
        c == '-' && is_letter(previous) && !text.empty() && is_letter(static_cast<unsigned char>(text[0]));
    if (hyphenates) out += "\\allowbreak{}";
    previous = c;
    const bool breaks =
        c == ' ' || hyphenates || (found != latex_replacements().end() && found->second.ends_with("\\allowbreak{}"));
    unbroken = breaks ? 0 : unbroken + 1;
    if (unbroken == kLongestWord) {
      out += "\\allowbreak{}";
      unbroken = 0;
    }
  }
  return out;
}

std::string escape_typst(std::string_view raw) {
  const std::string text = printable(raw);
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t behind_digits = std::min(text.find_first_not_of("0123456789", first), text.size());
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto beside = [&](char other) {
      return (i > 0 && text[i - 1] == other) || (i + 1 < text.size() && text[i + 1] == other);
    };
    const bool in_word = i > 0 && i + 1 < text.size() && is_ascii_alnum(text[i - 1]) &&
                         std::isalpha(static_cast<unsigned char>(text[i + 1]));
    const bool active =
        std::string_view("\\#$*_`<>@[]~\"'").find(c) != std::string_view::npos ||
        (i == first && std::string_view("=+/").find(c) != std::string_view::npos) ||  // heading, item, term
        (c == '-' && !in_word) ||                                                     // item, dash, minus
        (c == '/' && beside('/')) ||                                                  // comment, link
        (c == '.' && (beside('.') || (i == behind_digits && i > first)));             // ellipsis, numbered item
    if (active) out += '\\';
    out += c;
  }
  return out;
}

std::string typst_string(std::string_view raw) {
  std::string out = "\"";
  for (const char c : printable(raw)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string escape_html(std::string_view raw) {
  std::string out;
  for (const char c : printable(raw)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escape_csv(std::string_view raw) {
  std::string text = printable_lines(raw);
  const std::size_t first = text.find_first_not_of(' ');
  const bool formula = first != std::string::npos &&
                       std::string_view("=+-@\t\r").find(text[first]) != std::string_view::npos && !is_number(text);
  if (formula) text.insert(text.begin(), '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos && !text.starts_with(' ')) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace kymo::report
