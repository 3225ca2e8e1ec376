// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kymo::event {

/// Id of a string within one pass; 0 means no string.
using TextId = std::uint32_t;
inline constexpr TextId kNoText = 0;

/// String table of one pass, because millions of events repeat the same names. Not thread-safe.
class Texts {
 public:
  Texts() = default;
  Texts(Texts&&) = default;
  Texts& operator=(Texts&&) = default;
  // The index points into the strings, so a copy builds its own index.
  Texts(const Texts& other) : texts_(other.texts_) { index(); }
  Texts& operator=(const Texts& other) { return *this = Texts(other); }
  ~Texts() = default;

  /// Returns the id of a string. Equal strings get the same id; an empty string is kNoText.
  TextId intern(std::string_view text) {
    if (text.empty()) return kNoText;
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    texts_.emplace_back(text);
    const auto number = static_cast<TextId>(texts_.size());
    numbers_.emplace(texts_.back(), number);
    return number;
  }
  /// Returns the string with this id, which must come from intern(). kNoText gives an empty string.
  const std::string& text(TextId id) const {
    static const std::string empty;
    return id == kNoText ? empty : texts_[id - 1];
  }
  /// Number of strings. Ids run from 1 to size().
  std::size_t size() const { return texts_.size(); }

 private:
  void index() {
    TextId number = kNoText;
    for (const std::string& each : texts_) numbers_.emplace(each, ++number);
  }

  std::deque<std::string> texts_;  // a deque, so that strings never move
  std::unordered_map<std::string_view, TextId> numbers_;
};

/// The ids that strings of one table have in another, which gets them when they are first asked for. Not thread-safe.
class TranslatedTexts {
 public:
  /// Always pass the same tables.
  TextId id(TextId text, const Texts& from, Texts& to) {
    while (ids_.size() < text) ids_.push_back(to.intern(from.text(static_cast<TextId>(ids_.size() + 1))));
    return text == kNoText ? kNoText : ids_[text - 1];
  }

 private:
  std::vector<TextId> ids_;  // by id in `from`, minus 1
};

/// Returns true if a string id is marked. Ids beyond the end of `marks` are not.
inline bool is_marked(const std::vector<bool>& marks, TextId text) { return text < marks.size() && marks[text]; }

}  // namespace kymo::event
