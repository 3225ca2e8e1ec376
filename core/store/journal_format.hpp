// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "event/journal_block.h"
#include "event/records.hpp"

/// The format of the files of a StepJournal.
namespace kymo::store {

/// Added to the name of the rank file.
inline constexpr const char* kJournalSuffix = ".steps";
/// Added to the name of the journal: the file of its events.
inline constexpr const char* kEventSuffix = ".events";
/// The journal consists of chunks of this size, and a chunk of blocks.
inline constexpr std::size_t kJournalChunkBytes = std::size_t{256} << 10;

/// Kind of a block.
enum class BlockKind : std::uint32_t {
  kEnd,  ///< of the chunk or of the events
  kHeader,
  kStep,
  kMetric,
  kPhase,
  kText,
  kShapes,
  kFrame,
  kStack,
  kCompilation,
  kEventsLeftOut,
  kFirstStream,  ///< events of the first of event::EventStreams; those of the others follow
  kCount = kFirstStream + std::tuple_size_v<event::EventStreams>  ///< of kinds
};

inline constexpr std::size_t kBlockHeadBytes = sizeof(kymo_block_head);
/// Size of a block's content in the file.
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace kymo::store
