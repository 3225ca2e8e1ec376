// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "event/texts.hpp"
#include "report/unicode.hpp"

namespace kymo::report {

/// Renumbers the texts that are used.
class UsedTexts {
 public:
  static constexpr std::size_t kLongest = 2000;
  explicit UsedTexts(const event::Texts& texts) : texts_(texts) {}

  std::int64_t number(event::TextId id) {
    const auto [found, is_new] = numbers_.try_emplace(id, static_cast<std::int64_t>(used_.size()));
    if (is_new) used_.push_back(shortened(texts_.text(id), kLongest));
    return found->second;
  }
  const std::vector<std::string>& used() const { return used_; }

 private:
  const event::Texts& texts_;
  std::unordered_map<event::TextId, std::int64_t> numbers_;
  std::vector<std::string> used_;
};

}  // namespace kymo::report
