// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::report {

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
