// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kymo::collect {

struct RowText;

/// Cache of the interned strings of names with stable addresses. Looks up the address only, without reading the name.
/// For one thread.
class LastingNames {
 public:
  /// Returns nullptr if the name is not cached.
  const RowText* find(const char* name) const noexcept {
    std::size_t at = slot_of(name);
    while (entries_[at].name && entries_[at].name != name) at = next(at);
    return entries_[at].text;
  }
  /// Adds a name; drops it if the cache is full.
  void add(const char* name, const RowText& text) noexcept {
    if (2 * (count_ + 1) > kEntries) return;
    std::size_t at = slot_of(name);
    while (entries_[at].name && entries_[at].name != name) at = next(at);
    count_ += entries_[at].name == nullptr;
    entries_[at] = {name, &text};
  }
  void clear() noexcept {
    entries_.fill({});
    count_ = 0;
  }

 private:
  struct Entry {
    const char* name = nullptr;
    const RowText* text = nullptr;
  };
  static constexpr std::size_t kEntries = 1024;

  static std::size_t slot_of(const char* name) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(name);
    return (address >> 4 ^ address >> 12) % kEntries;
  }
  static std::size_t next(std::size_t at) noexcept { return (at + 1) % kEntries; }

  std::array<Entry, kEntries> entries_;
  std::size_t count_ = 0;
};

}  // namespace kymo::collect
