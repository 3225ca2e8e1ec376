// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace kymo::plan {

/// A regular expression in Perl syntax, a superset of ECMAScript's. Matching has bounded time and memory for any
/// expression and text.
class Regex {
 public:
  /// `option` names the source of the expression in messages. Throws UsageError with the position of a syntax error.
  Regex(std::string option, std::string expression);
  ~Regex();
  Regex(Regex&&) noexcept;

  /// True if any part of the text matches. Throws UsageError if the match exceeds the step limit.
  bool found_in(std::string_view text) const;

 private:
  struct Compiled;
  std::string option_;
  std::string expression_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace kymo::plan
