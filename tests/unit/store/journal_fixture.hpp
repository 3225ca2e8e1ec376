// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "store/step_journal.hpp"

/// A journal whose steps and events are known, and the blocks of its files.
namespace kymo::store::testing {

inline constexpr std::int64_t kJournalSteps = 40;

/// The blocks of a chunk, with their offsets in the file.
inline std::vector<std::pair<std::size_t, kymo_block_head>> blocks_of(const std::string& file) {
  std::vector<std::pair<std::size_t, kymo_block_head>> found;
  kymo_block_head head{};
  for (std::size_t at = 0; at + kBlockHeadBytes <= file.size(); at += kBlockHeadBytes + padded(head.bytes)) {
    std::memcpy(&head, file.data() + at, sizeof(head));
    if (head.kind == 0) break;
    found.emplace_back(at, head);
  }
  return found;
}

/// Sets the checksum of a block after it was changed.
inline void seal(std::string& file, std::size_t at) {
  kymo_block_head head{};
  std::memcpy(&head, file.data() + at, sizeof(head));
  head.checksum = kymo_block_checksum(&head, at, file.data() + at + kBlockHeadBytes);
  std::memcpy(file.data() + at, &head, sizeof(head));
}

/// Writes kJournalSteps steps, each with a metric, a range, an operator, a kernel and an event of the allocator, next
/// to a rank file that does not exist.
inline void write_journal(const std::filesystem::path& rank_file) {
  StepJournal journal(rank_file, {.warmup = 2, .run_start_ns = 1000, .steps = kJournalSteps, .device = {}});
  journal.set_phases({"forward"});
  event::NewEvents events;
  events.shapes.emplace_back();
  events.frames.push_back({"libtorch.so", 16, "at::empty"});
  events.stacks.push_back({0});
  for (std::int32_t step = 0; step < kJournalSteps; ++step) {
    events.clear();
    event::Range range;
    range.name = events.texts.intern("layer " + std::to_string(step));
    range.step = step;
    events.ranges.push_back({step, range});
    event::Operator call;
    call.name = events.texts.intern("aten::mm");
    call.start_ns = 100 * step;
    call.end_ns = call.start_ns + 50;
    call.position.step = step;
    call.position.phase = 0;
    call.position.range = step;
    events.operators.push_back({step, call});
    event::Activity kernel;
    kernel.name = events.texts.intern("gemm");
    kernel.start_ns = 100 * step + 10;
    kernel.end_ns = kernel.start_ns + 20;
    kernel.step = step;
    events.activities.push_back(kernel);
    event::MemoryEvent allocation;
    allocation.address = 4096;
    allocation.bytes = 64;
    allocation.stack = 0;
    allocation.position.step = step;
    events.memory_events.push_back(allocation);
    journal.add(events);
    event::Metric loss;
    loss.name = "loss";
    loss.number = step;
    journal.add({&loss, 1});
    event::StepTime time;
    time.step = step;
    time.begin_ns = 1000 + 100 * step;
    time.end_ns = time.begin_ns + 60;
    time.warmup = step < 2;
    const event::PhaseTime forward{.calls = 1, .start_ns = time.begin_ns, .host_ns = 40};
    journal.add(time, {&forward, 1});
  }
}

}  // namespace kymo::store::testing
