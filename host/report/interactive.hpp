// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.hpp"

/// Data for the interactive charts of the HTML report, which can be zoomed and searched: their rows as JSON. One script
/// handles all charts. It and the style sheet are compiled in from the files in host/report/page.
namespace kymo::report {

inline constexpr std::size_t kMaxInteractiveBars = 200'000;
inline constexpr std::size_t kMaxInteractiveBlocks = 100'000;
inline constexpr std::size_t kMaxInteractivePositions = 200'000;
inline constexpr unsigned kMaxInteractiveRows = 40;  ///< per lane

bool is_interactive(const Chart& chart);

/// The chart's rows as JSON.
std::string interactive_rows(const Chart& chart);

/// Sentences about the rows that interactive_rows() omits or merges; empty if there are none.
std::string interactive_notes(const Chart& chart);

/// The content of the <style> element.
const std::string& page_style();

/// The content of the <script> element.
const std::string& page_script();

/// The script's hash as a source expression of a Content-Security-Policy: 'sha256-…'.
std::string page_script_source();

/// Writes JSON incrementally, without an object per value. Texts are made printable.
class JsonText {
 public:
  void open(char bracket);
  void close(char bracket);
  void key(std::string_view name);
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(std::int64_t number);
  void value(double number);  ///< must be finite
  void value(bool flag);

  template <typename Value>
  void field(std::string_view name, const Value& each) {
    key(name);
    value(each);
  }
  template <typename Value>
  void list(std::string_view name, const std::vector<Value>& values) {
    key(name);
    open('[');
    for (const Value& each : values) value(each);
    close(']');
  }

  const std::string& text() const { return text_; }

 private:
  void separate();
  std::string text_;
};

}  // namespace kymo::report
