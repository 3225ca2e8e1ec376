// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "event/position.hpp"
#include "event/texts.hpp"

namespace kymo::event {

enum class CollectiveOperation : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kBarrier,
  kReduce,
  kGather,
  kScatter,
  kAllToAll,
  kSend,
  kReceive
};
constexpr auto names_of(CollectiveOperation) {
  using enum CollectiveOperation;
  return enum_names<CollectiveOperation>("collective operation", {{kAllReduce, "all_reduce"},
                                                                  {kReduceScatter, "reduce_scatter"},
                                                                  {kAllGather, "all_gather"},
                                                                  {kBroadcast, "broadcast"},
                                                                  {kBarrier, "barrier"},
                                                                  {kReduce, "reduce"},
                                                                  {kGather, "gather"},
                                                                  {kScatter, "scatter"},
                                                                  {kAllToAll, "all_to_all"},
                                                                  {kSend, "send"},
                                                                  {kReceive, "receive"}});
}

/// A collective call on one rank.
struct Collective {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  TextId communicator = kNoText;
  std::int64_t sequence = 0;         ///< index of the call in its communicator, identical on all ranks
  std::int64_t bytes = 0;            ///< payload size on this rank
  bool on_device = false;            ///< true if it was queued on a stream
  std::int64_t group_ranks = -1;     ///< number of ranks in the communicator; -1 if it was not recorded
  std::optional<std::string> dtype;  ///< data type of the message: f32, bf16 ...; empty if it was not recorded
  Position position;                 ///< context of the call; attribute_collectives() limits its phase
  std::int64_t enqueue_ns = 0;       ///< start of the call
  std::int64_t returned_ns =
      -1;  ///< end of the call: the work is queued, or without a stream, complete; -1 if it did not end
  std::int64_t needed_call_ns = -1;  ///< when a thread first waited for it or made its stream wait; -1 if none did
  Position needed_position;          ///< context of that thread
  TextId needed_by = kNoText;  ///< what waited, reported or, by attribute_collectives(), the scope of needed_position
  // Set by analysis::attribute_collectives():
  std::int64_t needed_ns = -1;  ///< when the result was needed on this rank; -1 if unknown
  std::int64_t start_ns =
      -1;  ///< start on this rank: its first kernel on the device, or enqueue_ns without a stream; -1 if unknown
  std::int64_t end_ns = -1;
  std::int64_t kernels = 0;  ///< number of its kernels; all calls of a group count the kernels of the group
  Attribution attribution = Attribution::kNone;
  TextId scope = kNoText;
};

}  // namespace kymo::event
