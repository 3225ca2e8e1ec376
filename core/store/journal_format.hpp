// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "event/journal_block.h"

/// The format of the files of a StepJournal.
namespace kymo::store {

/// Added to the name of the rank file.
inline constexpr const char* kJournalSuffix = ".steps";
/// Added to the name of the journal: the file of its events.
inline constexpr const char* kEventSuffix = ".events";
/// The journal consists of chunks of this size, and a chunk of blocks.
inline constexpr std::size_t kJournalChunkBytes = std::size_t{256} << 10;

/// Kind of a block. Events are copied as they are, unless journal_blocks.hpp defines a block for them.
enum class BlockKind : std::uint32_t {
  kEnd,  ///< of the chunk or of the events
  kHeader,
  kStep,
  kMetric,
  kPhase,
  kText,
  kRanges,
  kOperators,
  kEventsLeftOut,
  kCompilation,
  kCollectives,
  kShapes,
  kFrame,
  kStack,
  kLaunches,
  kGraphNodes,
  kActivities,
  kApiCalls,
  kSynchronizations,
  kOverheadRecords,
  kClockSyncs,
  kMemoryEvents,
  kTags,
  kDeviceMemory,
  kMemoryCounters,
  kGpuSamples,
  kCount  ///< of kinds
};

inline constexpr std::size_t kBlockHeadBytes = sizeof(kymo_block_head);
/// Size of a block's content in the file.
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace kymo::store
