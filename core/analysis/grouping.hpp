// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

namespace kymo::analysis {

/// What a group's members share, as numbers.
using GroupKey = std::array<std::uint64_t, 2>;

inline std::uint64_t packed(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

/// Numbers groups from 0 in the order in which their keys are first seen.
class Grouping {
 public:
  std::uint32_t number_of(const GroupKey& key) {
    if (!numbers_.empty() && key == last_key_) return last_;
    last_key_ = key;
    return last_ = numbers_.emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  struct Hash {
    /// Multiplies and folds: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
    std::size_t operator()(const GroupKey& key) const {
      std::uint64_t mixed = key[0] ^ (key[1] * 0x9e3779b97f4a7c15U);
      mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
      mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
      return mixed ^ mixed >> 31;
    }
  };

  std::unordered_map<GroupKey, std::uint32_t, Hash> numbers_;
  GroupKey last_key_{};
  std::uint32_t last_ = 0;
};

}  // namespace kymo::analysis
