// SPDX-License-Identifier: Apache-2.0
#include "analysis/saved_tensors.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/scope_finder.hpp"

namespace kymo::analysis {
namespace {

using event::Allocation;
using event::KeptMemory;
using event::MemoryCategory;
using event::SavedTensor;

/// The blocks that are live at one time, by address.
class LiveBlocks {
 public:
  LiveBlocks(const std::vector<Allocation>& allocations, std::int64_t time_ns) {
    for (const Allocation& block : allocations)
      if (block.alloc_ns <= time_ns && block.free_ns.value_or(std::numeric_limits<std::int64_t>::max()) > time_ns)
        blocks_.emplace(block.address, &block);
  }
  const Allocation* find(std::uint64_t address) const {
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return nullptr;
    const Allocation& block = *std::prev(after)->second;
    const auto bytes = static_cast<std::uint64_t>(std::max(block.requested_bytes, block.allocated_bytes));
    return address - block.address < bytes ? &block : nullptr;
  }

 private:
  std::map<std::uint64_t, const Allocation*> blocks_;
};

std::int64_t begin_of_phases(const event::Trace& trace, std::int32_t step) {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  for (const event::Range& range : trace.ranges)
    if (range.is_phase && range.step == step) begin_ns = std::min(begin_ns, range.start_ns);
  return begin_ns;
}

KeptMemory memory_in(const Allocation* block, std::int32_t step, std::int64_t phases_begin_ns) {
  if (block == nullptr) return KeptMemory::kOther;
  if (block->category == MemoryCategory::kParameter) return KeptMemory::kParameter;
  if (block->category == MemoryCategory::kInput) return KeptMemory::kInput;
  if (block->step != step) return KeptMemory::kOther;
  return block->alloc_ns >= phases_begin_ns ? KeptMemory::kActivation : KeptMemory::kInput;
}

}  // namespace

std::vector<event::KeptTensor> kept_tensors(event::PassRecord& record, const std::vector<Allocation>& allocations) {
  std::vector<SavedTensor> saved = record.memory_trace.saved_tensors;
  std::ranges::stable_sort(saved, {}, [](const SavedTensor& each) {
    return std::tuple(each.time_ns, each.node.thread, each.node.sequence);
  });
  ScopeFinder finder(record.trace);
  std::vector<event::KeptTensor> rows;
  std::map<std::uint64_t, std::int64_t> storages;  // of one graph, by address
  std::optional<LiveBlocks> live;
  std::int64_t phases_begin_ns = 0;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const SavedTensor& each = saved[i];
    const std::int32_t step = each.position.step;
    if (i == 0 || each.time_ns != saved[i - 1].time_ns) {
      storages.clear();
      live.emplace(allocations, each.time_ns);
      phases_begin_ns = begin_of_phases(record.trace, step);
    }
    event::KeptTensor row;
    row.step = step;
    row.nested = each.nested;
    row.node = each.name;
    row.scope = finder.locate({.step = -1, .phase = -1, .range = -1, .thread = 0, .node = each.node, .op = -1}).scope;
    row.type = each.type;
    row.bytes = each.bytes;
    const auto [storage, is_new] = storages.try_emplace(each.address, static_cast<std::int64_t>(storages.size()));
    row.storage = storage->second;
    row.storage_bytes = each.storage_bytes;
    row.counted_bytes = is_new ? each.storage_bytes : 0;
    row.memory = memory_in(live->find(each.address), step, phases_begin_ns);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace kymo::analysis
