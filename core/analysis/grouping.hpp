// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace kymo::analysis {

/// Properties that the members of a group share, as numbers.
using GroupKey = std::array<std::uint64_t, 2>;

inline std::uint64_t packed(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

/// Numbers groups from 0 in order of first use of their keys. A hash table with open addressing and linear probing
/// (Knuth, The Art of Computer Programming 3, 6.4), at most half full: millions of events fall into a few thousand
/// groups.
class Grouping {
 public:
  std::uint32_t number_of(const GroupKey& key) {
    if (!keys_.empty() && key == keys_[last_]) return last_;
    std::size_t slot = hash(key) & mask_;
    while (slots_[slot] != kEmpty && keys_[slots_[slot]] != key) slot = (slot + 1) & mask_;
    if (slots_[slot] != kEmpty) return last_ = slots_[slot];
    last_ = slots_[slot] = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(key);
    if (2 * keys_.size() > slots_.size()) grow();
    return last_;
  }
  std::size_t size() const { return keys_.size(); }

 private:
  static constexpr std::uint32_t kEmpty = UINT32_MAX;
  static constexpr std::size_t kMinSlots = 1024;

  /// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
  static std::size_t hash(const GroupKey& key) {
    std::uint64_t mixed = key[0] ^ (key[1] * 0x9e3779b97f4a7c15U);
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
    return mixed ^ mixed >> 31;
  }

  void grow() {
    slots_.assign(2 * slots_.size(), kEmpty);
    mask_ = slots_.size() - 1;
    for (std::uint32_t number = 0; number < keys_.size(); ++number) {
      std::size_t slot = hash(keys_[number]) & mask_;
      while (slots_[slot] != kEmpty) slot = (slot + 1) & mask_;
      slots_[slot] = number;
    }
  }

  std::vector<GroupKey> keys_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(kMinSlots, kEmpty);
  std::size_t mask_ = kMinSlots - 1;
  std::uint32_t last_ = 0;
};

}  // namespace kymo::analysis
