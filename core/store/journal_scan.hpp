// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "store/journal_format.hpp"

/// Reads the blocks of a file that may be damaged, or that a process did not finish.
namespace kymo::store {

/// What was found instead of a block.
struct JournalDamage {
  std::size_t offset = 0;  ///< in the file: everything before it was read
  std::string cause;
};

/// Size of the chunks of a file that has none.
inline constexpr std::size_t kWholeFile = static_cast<std::size_t>(-1);

/// Visits the complete blocks of a file in their order, until one is damaged or `visit` throws. A last block without a
/// kind, or several that were added together with it, are those that the process was writing when it ended: no damage.
///
/// `chunk_bytes`: no block crosses a multiple of this size. `growth_bytes`: the file has a multiple of this size.
/// The time is linear in the size of the file.
std::optional<JournalDamage> visit_blocks(std::string_view file, std::size_t chunk_bytes, std::size_t growth_bytes,
                                          const std::function<void(BlockKind, std::string_view)>& visit);

}  // namespace kymo::store
