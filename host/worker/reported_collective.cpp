// SPDX-License-Identifier: Apache-2.0
#include "worker/reported_collective.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>

namespace kymo::worker {
namespace {

std::optional<event::CollectiveOperation> operation_of(std::uint32_t number) {
  using enum event::CollectiveOperation;
  static_assert(KYMO_ALL_REDUCE == 1 && KYMO_RECEIVE == 11);
  constexpr std::array kInOrder{kAllReduce, kReduceScatter, kAllGather, kBroadcast, kBarrier, kReduce,
                                kGather,    kScatter,       kAllToAll,  kSend,      kReceive};
  if (number < KYMO_ALL_REDUCE || number > kInOrder.size()) return std::nullopt;
  return kInOrder[number - 1];
}

/// Clamps a count to the range of a database integer.
std::int64_t bounded(std::uint64_t count) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

ReportedCollective reported_collective(const kymo_collective* given) {
  if (!given) return {};
  kymo_collective call{};
  std::memcpy(&call, given, std::min<std::size_t>(given->size, sizeof(call)));
  ReportedCollective reported;
  reported.is_library_calls = call.operation == KYMO_LIBRARY_CALLS;
  reported.operation = operation_of(call.operation);
  reported.communicator = call.communicator;
  if (call.size >= offsetof(kymo_collective, sequence) + sizeof(call.sequence))
    reported.sequence = bounded(call.sequence);
  reported.bytes = bounded(call.bytes);
  reported.on_device = call.stream != nullptr;
  return reported;
}

}  // namespace kymo::worker
