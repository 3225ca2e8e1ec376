// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "event/memory.hpp"
#include "event/trace.hpp"

namespace kymo::collect {

/// A call of a process group, which makes one or more calls of its backend.
struct GroupCall final : c10::DebugInfoBase {
  std::string group;  ///< its name, the same on all of its ranks and unique among the groups of a rank
  std::int64_t ranks = -1;
  event::CollectiveOperation operation = event::CollectiveOperation::kAllReduce;
  /// The ranks within the group of a message between two of them, and its tag; −1 if they are unknown.
  std::int64_t sender = -1, receiver = -1, tag = -1;
  event::Position position;
  std::int64_t enqueue_ns = 0;
  std::uint64_t watch = 0;  ///< number of the watch that recorded it
};

/// Notes the calls of process groups, from Python or C++. A backend may make its calls later and on a thread of its
/// own, to which LibTorch passes what is recorded. In the memory pass, their buffers are tagged. Call it while none is
/// active and no thread calls a process group.
void watch_group_calls(const PassSetting& setting);
/// Adds the tags of the buffers since the last call.
void add_new_group_tags(std::vector<event::BlockTag>& tags);
/// Returns all tags.
std::vector<event::BlockTag> end_group_calls();

/// What the call of a backend that begins on this thread belongs to; nullptr if it was not made by a process group, or
/// not since the current watch began.
const GroupCall* current_group_call();

}  // namespace kymo::collect
