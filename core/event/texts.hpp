// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kymo::event {

/// Number of a text within one pass; 0 is no text.
using TextId = std::uint32_t;
inline constexpr TextId kNoText = 0;

/// The texts of one pass by number: names repeat in millions of events. Not safe for use from several threads.
class Texts {
 public:
  Texts() = default;
  Texts(Texts&&) = default;
  Texts& operator=(Texts&&) = default;
  // The index points into the texts: a copy makes its own.
  Texts(const Texts& other) : texts_(other.texts_) { index(); }
  Texts& operator=(const Texts& other) { return *this = Texts(other); }
  ~Texts() = default;

  /// The text's number, the same each time; an empty text is kNoText.
  TextId intern(std::string_view text) {
    if (text.empty()) return kNoText;
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    texts_.emplace_back(text);
    const auto number = static_cast<TextId>(texts_.size());
    numbers_.emplace(texts_.back(), number);
    return number;
  }
  /// `id` must come from intern(); kNoText gives an empty text.
  const std::string& text(TextId id) const {
    static const std::string empty;
    return id == kNoText ? empty : texts_[id - 1];
  }
  /// Numbers run from 1 to size().
  std::size_t size() const { return texts_.size(); }

 private:
  void index() {
    TextId number = kNoText;
    for (const std::string& each : texts_) numbers_.emplace(each, ++number);
  }

  std::deque<std::string> texts_;  // never moves what it holds
  std::unordered_map<std::string_view, TextId> numbers_;
};

}  // namespace kymo::event
