// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace kymo::cli {

/// A regular expression (Perl's syntax, which holds ECMAScript's) that neither recurses nor runs on without bound,
/// whatever the expression and the text are.
class Regex {
 public:
  /// `option` names the origin of the expression in messages. Throws UsageError with the place of a mistake.
  Regex(std::string option, std::string expression);
  ~Regex();
  Regex(Regex&&) noexcept;

  /// True if some part of the text matches. Throws UsageError if finding out takes more steps than are admitted.
  bool found_in(std::string_view text) const;

 private:
  struct Compiled;
  std::string option_;
  std::string expression_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace kymo::cli
