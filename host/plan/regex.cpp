// SPDX-License-Identifier: Apache-2.0
#include "plan/regex.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo::plan {
namespace {

constexpr std::uint32_t kMaxSteps = 10'000'000;  // less than one second
constexpr std::uint32_t kMaxHeapKib = 64 * 1024;
constexpr std::size_t kLongestExpression = 10'000;

std::string reason_of(int code) {
  std::array<PCRE2_UCHAR, 200> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct Regex::Compiled {
  pcre2_code* code = nullptr;
  pcre2_match_data* match = nullptr;
  pcre2_match_context* limits = nullptr;

  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    pcre2_match_context_free(limits);
    pcre2_match_data_free(match);
    pcre2_code_free(code);
  }
};

Regex::Regex(std::string option, std::string expression)
    : option_(std::move(option)), expression_(std::move(expression)), compiled_(std::make_unique<Compiled>()) {
  const auto fail = [this](const std::string& reason) {
    throw UsageError(option_ + " " + quote(expression_) + " is not a regular expression: " + reason);
  };
  if (expression_.size() > kLongestExpression)
    fail("it is longer than " + std::to_string(kLongestExpression) + " bytes");
  int error = 0;
  std::size_t position = 0;
  const auto* text = reinterpret_cast<PCRE2_SPTR>(expression_.data());
  compiled_->code = pcre2_compile(text, expression_.size(), PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, &error,
                                  &position, nullptr);
  if (compiled_->code == nullptr) fail(reason_of(error) + ", at byte " + std::to_string(position + 1));
  compiled_->match = pcre2_match_data_create(1, nullptr);
  compiled_->limits = pcre2_match_context_create(nullptr);
  if (compiled_->match == nullptr || compiled_->limits == nullptr) throw Error("out of memory");
  pcre2_set_match_limit(compiled_->limits, kMaxSteps);
  pcre2_set_heap_limit(compiled_->limits, kMaxHeapKib);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;

bool Regex::found_in(std::string_view text) const {
  const int code = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                               compiled_->match, compiled_->limits);
  if (code == PCRE2_ERROR_NOMATCH) return false;
  if (code < 0)
    throw UsageError(option_ + " " + quote(expression_) + " takes too long to match (" + reason_of(code) +
                     "); simplify it");
  return true;
}

}  // namespace kymo::plan
