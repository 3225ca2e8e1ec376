// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory_timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

namespace kymo::analysis {
namespace {

using event::Allocation;
using event::BlockTag;
using event::MemoryAction;
using event::MemoryCategory;
using event::MemoryDevice;
using event::MemoryEvent;
using event::MemoryPhase;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kRounding = 512;
constexpr std::uint64_t kMegabyte = 1'000'000;

/// An allocator that rounds up to 512 bytes and records its events, one per 10 ns.
class Script {
 public:
  explicit Script(MemoryDevice device = MemoryDevice::kCuda) : device_(device) {
    record_.trace.phases = {"forward", "backward"};
    scope_ = static_cast<std::int32_t>(record_.trace.ranges.size());
    event::Range scope;
    scope.path = record_.trace.texts.intern("block_0/attention");
    record_.trace.ranges.push_back(scope);
  }

  Script& step(std::int32_t step) { return position_.step = step, *this; }
  Script& outside() { return position_.step = position_.phase = -1, *this; }
  Script& phase(std::int32_t phase) {
    position_.phase = phase;
    event::Range range;
    range.is_phase = true;
    range.step = position_.step;
    range.phase = phase;
    range.start_ns = now_ns_ += 10;
    record_.trace.ranges.push_back(range);
    return *this;
  }
  Script& op(std::int64_t number) { return position_.op = number, *this; }
  Script& in_scope(bool inside) { return position_.range = inside ? scope_ : -1, *this; }

  Script& allocate(std::uint64_t address, std::int64_t bytes) {
    const std::int64_t rounded =
        device_ == MemoryDevice::kCuda ? (bytes + kRounding - 1) / kRounding * kRounding : bytes;
    sizes_[address] = {bytes, rounded};
    state_.requested_bytes += bytes;
    state_.allocated_bytes += rounded;
    state_.active_bytes += rounded;
    return add(MemoryAction::kAllocate, address, bytes);
  }
  Script& request_free(std::uint64_t address) {
    const auto [bytes, rounded] = sizes_[address];
    state_.requested_bytes -= bytes;
    state_.allocated_bytes -= rounded;
    return add(MemoryAction::kFreeRequested, address, bytes);
  }
  Script& complete_free(std::uint64_t address) {
    state_.active_bytes -= sizes_[address].second;
    return add(MemoryAction::kFreeCompleted, address, sizes_[address].first);
  }
  Script& free(std::uint64_t address) { return request_free(address).complete_free(address); }
  Script& segment(MemoryAction action, std::uint64_t address, std::int64_t bytes) {
    const bool takes = action == MemoryAction::kSegmentAllocate || action == MemoryAction::kSegmentMap;
    state_.reserved_bytes += takes ? bytes : -bytes;
    return add(action, address, bytes);
  }
  Script& tag(std::uint64_t address, std::uint32_t category) {
    record_.memory_trace.tags.push_back({now_ns_ + 1, address, 1, category});
    return *this;
  }

  event::PassRecord& record() { return record_; }
  std::vector<event::DroppedRecords> derive(std::int64_t warmup = 0) { return derive_memory(record_, warmup); }
  const std::vector<Allocation>& blocks() const { return record_.derived.allocations; }

 private:
  Script& add(MemoryAction action, std::uint64_t address, std::int64_t bytes) {
    MemoryEvent event;
    event.action = action;
    event.device = device_;
    event.time_ns = now_ns_ += 10;
    event.address = address;
    event.bytes = bytes;
    event.position = position_;
    if (device_ == MemoryDevice::kCpu) state_.reserved_bytes = state_.active_bytes = state_.allocated_bytes;
    event.after = state_;
    record_.memory_trace.events.push_back(event);
    return *this;
  }

  MemoryDevice device_;
  event::PassRecord record_;
  event::Position position_;
  event::MemoryState state_;
  std::int32_t scope_ = 0;
  std::int64_t now_ns_ = 0;
  std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> sizes_;
};

const MemoryPhase& row(const event::PassRecord& record, std::int64_t step, const std::string& phase) {
  const auto& rows = record.derived.memory_phases;
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const MemoryPhase& each) { return each.step == step && each.phase == phase; });
  if (found == rows.end()) throw std::runtime_error("no row for step " + std::to_string(step) + " phase " + phase);
  return *found;
}

std::vector<std::string> live_at_peak(const MemoryPhase& phase) {
  std::vector<std::string> categories;
  for (std::size_t i = 0; i < event::kMemoryCategories; ++i) {
    if (phase.category_bytes[i] != 0)
      categories.push_back(to_string(static_cast<MemoryCategory>(i)) + (" " + std::to_string(phase.category_bytes[i])));
  }
  return categories;
}

std::string category_of(const Allocation& block) {
  return std::string(event::to_string(block.category)) + ":" + block.category_source;
}

TEST(MemoryBlocks, PairsABlockWithBothEndsAndLetsItsAddressBeUsedAgain) {
  Script script;
  script.allocate(1000, 700).step(3).phase(1).request_free(1000).outside().complete_free(1000).allocate(1000, 512);
  EXPECT_THAT(script.derive(), IsEmpty());
  ASSERT_THAT(script.blocks(), SizeIs(2));
  const Allocation& first = script.blocks()[0];
  EXPECT_EQ(first.requested_bytes, 700);
  EXPECT_EQ(first.allocated_bytes, 1024);
  EXPECT_EQ(first.sequence, 0);
  EXPECT_EQ(first.free_sequence, 1);
  EXPECT_EQ(first.reusable_sequence, 2);
  EXPECT_EQ(first.alloc_ns, 10);
  EXPECT_EQ(first.free_ns, 30);
  EXPECT_EQ(first.reusable_ns, 40);
  EXPECT_EQ(first.step, -1);
  EXPECT_EQ(first.free_step, 3);
  EXPECT_EQ(first.free_phase, 1);
  const Allocation& second = script.blocks()[1];
  EXPECT_EQ(second.allocated_bytes, 512);
  EXPECT_FALSE(second.free_ns || second.free_sequence || second.reusable_ns || second.free_step);
}

TEST(MemoryBlocks, KnowTheScopeOfTheirAllocation) {
  Script script;
  script.in_scope(true).allocate(1000, 1).in_scope(false).allocate(2000, 1);
  script.derive();
  EXPECT_EQ(script.record().trace.texts.text(script.blocks()[0].scope), "block_0/attention");
  EXPECT_EQ(script.blocks()[1].scope, event::kNoText);
}

TEST(MemoryBlocks, OfABackwardNodeBelongToTheScopeThatMadeIt) {
  Script script;
  event::Range& scope = script.record().trace.ranges[0];
  scope.first_node = {10, 1};
  scope.end_sequence = 20;
  script.allocate(1000, 1).allocate(2000, 1);
  script.record().memory_trace.events[0].position.node = {15, 1};
  script.record().memory_trace.events[1].position.node = {20, 1};
  script.derive();
  EXPECT_EQ(script.record().trace.texts.text(script.blocks()[0].scope), "block_0/attention");
  EXPECT_EQ(script.blocks()[1].scope, event::kNoText);
}

TEST(MemoryBlocks, TakeTheRequestedSizeWhereTheCountersMakeNoSense) {
  Script script;
  script.allocate(1000, 700).allocate(9000, 100);
  std::vector<MemoryEvent>& events = script.record().memory_trace.events;
  events[0].after.requested_bytes += 5000;  // there were allocations before
  events[1].after.allocated_bytes = 3;
  script.derive();
  EXPECT_EQ(script.blocks()[0].allocated_bytes, 700);
  EXPECT_EQ(script.blocks()[1].allocated_bytes, 100);
}

TEST(MemoryBlocks, OfTheHostEndWithOneEventAndHaveAddressesOfTheirOwn) {
  Script script(MemoryDevice::kCpu);
  script.allocate(1000, 64).request_free(1000).allocate(1000, 32);
  MemoryEvent cuda = script.record().memory_trace.events[0];
  cuda.device = MemoryDevice::kCuda;
  script.record().memory_trace.events.push_back(cuda);
  EXPECT_THAT(script.derive(), IsEmpty());
  ASSERT_THAT(script.blocks(), SizeIs(3));
  EXPECT_EQ(script.blocks()[0].reusable_ns, script.blocks()[0].free_ns);
  EXPECT_FALSE(script.blocks()[1].free_ns);
}

TEST(MemoryBlocks, CountWhatMakesNoSense) {
  Script script;
  script.allocate(1000, 512).allocate(1400, 512).allocate(1000, 8);  // the second overlaps the first, the third both
  script.request_free(77).complete_free(88).request_free(1000).request_free(1000);
  script.segment(MemoryAction::kSegmentFree, 5000, 100).tag(1000, 3).tag(4, event::kMemoryCategories).tag(0, 1);
  const std::vector<event::DroppedRecords> dropped_records = script.derive();
  std::map<std::string, std::int64_t> counts;
  for (const event::DroppedRecords& loss : dropped_records) {
    EXPECT_EQ(loss.source, "memory");
    counts[loss.detail.substr(0, loss.detail.find(' ', 15))] += loss.count;
  }
  EXPECT_EQ(counts["blocks whose memory"], 1);
  EXPECT_EQ(counts["frees of blocks"], 3);
  EXPECT_EQ(counts["frees of segments"], 1);
  EXPECT_EQ(counts["memory tags with"], 1);
  EXPECT_EQ(counts["memory tags at addresses"], 1);  // freed by then
  // The block ends when another one reuses its address.
  EXPECT_EQ(script.blocks()[0].free_sequence, 1);
  EXPECT_EQ(script.blocks()[0].reusable_sequence, 1);
}

TEST(MemorySegments, EndInPartsWhereTheyAreUnmapped) {
  Script script;
  script.segment(MemoryAction::kSegmentAllocate, 100, 50).segment(MemoryAction::kSegmentMap, 1000, 300);
  script.segment(MemoryAction::kSegmentUnmap, 1100, 100).segment(MemoryAction::kSegmentFree, 100, 50);
  script.segment(MemoryAction::kSegmentUnmap, 1250, 50);
  EXPECT_THAT(script.derive(), IsEmpty());
  std::vector<std::string> rows;
  for (const event::Segment& each : script.record().derived.segments) {
    rows.push_back(std::to_string(each.sequence) + ": " + std::to_string(each.address) + "+" +
                   std::to_string(each.bytes) + " until " + std::to_string(each.free_sequence.value_or(-1)));
  }
  EXPECT_THAT(rows, ElementsAre("0: 100+50 until 3", "1: 1000+100 until -1", "1: 1100+100 until 2",
                                "1: 1200+50 until -1", "1: 1250+50 until 4"));
}

TEST(MemoryCategory, OfTheLastTagWins) {
  Script script;
  script.step(0).phase(0).op(4).allocate(1000, 512).tag(1100, 1).tag(1100, 2).request_free(1000).complete_free(1000);
  script.allocate(1000, 512);
  script.derive();
  EXPECT_EQ(category_of(script.blocks()[0]), "gradient:tag");
  EXPECT_NE(category_of(script.blocks()[1]), "gradient:tag") << "the tag is of the block that was there before";
}

TEST(MemoryCategory, CommunicationIsWhatHasNoOtherTag) {
  constexpr std::uint32_t kGradient = 2, kCommunication = 7;  // KYMO_GRADIENT, KYMO_COMMUNICATION
  Script script;
  script.step(0).phase(0).op(4).allocate(1000, 512).tag(1000, kCommunication);
  script.allocate(2000, 512).tag(2000, kGradient).tag(2000, kCommunication);  // reduced in place
  script.allocate(3000, 512).tag(3000, kCommunication).tag(3000, kGradient);  // a bucket of gradients
  script.derive();
  EXPECT_EQ(category_of(script.blocks()[0]), "communication:tag");
  EXPECT_EQ(category_of(script.blocks()[1]), "gradient:tag");
  EXPECT_EQ(category_of(script.blocks()[2]), "gradient:tag");
}

TEST(MemoryCategory, FollowsFromTheLifetime) {
  Script script;
  script.op(1).allocate(1 * kMegabyte, 512);                               // before any step
  script.step(0).phase(0).op(2).allocate(2 * kMegabyte, 512);              // lives until the backward pass
  script.op(3).allocate(3 * kMegabyte, 512).free(3 * kMegabyte);           // freed within its operator
  script.op(4).allocate(4 * kMegabyte, 512).op(5).free(4 * kMegabyte);     // freed within its phase
  script.op(6).allocate(5 * kMegabyte, 512);                               // a cache
  script.op(-1).allocate(6 * kMegabyte, 512);                              // outside of operators
  script.op(7).allocate(7 * kMegabyte, 512);                               // freed by the next step
  script.phase(1).op(8).free(2 * kMegabyte).allocate(8 * kMegabyte, 512);  // allocated in the backward pass
  script.step(1).phase(0).op(9).free(7 * kMegabyte).free(8 * kMegabyte).free(6 * kMegabyte);
  script.step(2).phase(0).op(10).allocate(9 * kMegabyte, 512);  // alive at the end, in the last step
  EXPECT_THAT(script.derive(), IsEmpty());
  std::vector<std::string> categories;
  for (const Allocation& block : script.blocks()) categories.push_back(category_of(block));
  EXPECT_THAT(categories,
              ElementsAre("unknown:", "activation:lifetime", "workspace:lifetime", "activation:lifetime",
                          "unknown:", "unknown:", "activation:lifetime", "unknown:", "activation:lifetime"));
}

TEST(MemoryCategory, OfWhatIsRecomputedIsActivation) {
  Script script;
  script.record().trace.phases = {"forward", "backward", "recompute"};
  script.step(0).phase(0).phase(1).phase(2).op(1).allocate(1 * kMegabyte, 512);
  script.op(2).allocate(2 * kMegabyte, 512).free(2 * kMegabyte);
  script.phase(1).op(3).free(1 * kMegabyte);
  script.derive();
  EXPECT_EQ(category_of(script.blocks()[0]), "activation:lifetime");
  EXPECT_EQ(category_of(script.blocks()[1]), "workspace:lifetime");
}

TEST(KeptTensors, CountEachStorageOnceAtTheFirstNodeInForwardOrder) {
  Script script;
  script.step(0).outside().op(1).allocate(1 * kMegabyte, 512).tag(1 * kMegabyte, KYMO_PARAMETER);
  script.step(0).op(2).allocate(2 * kMegabyte, 100);  // before the phases
  script.phase(0).in_scope(true).op(3).allocate(3 * kMegabyte, 1000);
  event::PassRecord& record = script.record();
  record.trace.ranges[0].first_node = {10, 1};
  record.trace.ranges[0].end_sequence = 20;
  script.phase(1);
  const auto keep = [&](std::int64_t sequence, std::uint64_t address, std::int64_t bytes) {
    event::SavedTensor saved;
    saved.time_ns = 1'000;
    saved.position.step = 0;
    saved.node = {sequence, 1};
    saved.name = record.trace.texts.intern("MulBackward0");
    saved.type = record.trace.texts.intern("f32[4]");
    saved.address = address;
    saved.bytes = 16;
    saved.storage_bytes = bytes;
    record.memory_trace.saved_tensors.push_back(saved);
  };
  keep(30, 3 * kMegabyte, 1000);  // the engine reads the newest node first
  keep(12, 3 * kMegabyte, 1000);
  keep(11, 1 * kMegabyte, 512);
  keep(10, 2 * kMegabyte, 100);
  keep(9, 77, 64);  // not allocated in the pass
  script.derive();
  std::vector<std::string> rows;
  for (const event::KeptTensor& row : record.derived.kept_tensors)
    rows.push_back(record.trace.texts.text(row.scope) + " " + to_string(row.memory) + " " +
                   std::to_string(row.storage) + " " + std::to_string(row.counted_bytes));
  EXPECT_THAT(rows, ElementsAre(" other 0 64", "block_0/attention input 1 100", "block_0/attention parameter 2 512",
                                "block_0/attention activation 3 1000", " activation 3 0"));
}

TEST(MemoryCategory, OfATemporaryOfTheOptimizerIsWorkspace) {
  Script script;
  script.record().trace.phases = {"forward", "optimizer"};
  script.step(0).phase(0).phase(1).op(1).allocate(1 * kMegabyte, 512).op(2).free(1 * kMegabyte);
  script.op(3).allocate(2 * kMegabyte, 512);  // kept: not of one phase
  script.step(1).phase(0).phase(1).op(4).free(2 * kMegabyte);
  script.derive();
  EXPECT_EQ(category_of(script.blocks()[0]), "workspace:lifetime");
  EXPECT_EQ(category_of(script.blocks()[1]), "unknown:");
}

TEST(MemoryCategory, OfAWorkspaceOfCublasFollowsFromItsStack) {
  Script script;
  event::Memory& memory = script.record().memory_trace;
  memory.frames = {{"libc10_cuda.so", 1, "c10::cuda::CUDACachingAllocator::raw_alloc(unsigned long)"},
                   {"libtorch_cuda.so", 2, "at::cuda::getCurrentCUDABlasHandle()"},
                   {"libtorch_cuda.so", 3, "at::native::addmm_out_cuda_impl"}};
  memory.stacks = {{0, 1, 2}, {0, 2}};
  script.step(0).phase(0).phase(1).op(1).allocate(1 * kMegabyte, 512).op(2).allocate(2 * kMegabyte, 512);
  memory.events[0].stack = 0;
  memory.events[1].stack = 1;
  script.derive();
  EXPECT_EQ(category_of(script.blocks()[0]), "workspace:stack");
  EXPECT_EQ(category_of(script.blocks()[1]), "unknown:");
}

TEST(MemoryParts, AreTheBlocksAtTheHighestPeakByCategoryPhaseAndScope) {
  Script script;
  script.outside().allocate(kMegabyte, 512).tag(kMegabyte, KYMO_PARAMETER);
  script.step(0).phase(0).op(1).in_scope(true).allocate(1000, 2000);   // kept for the next phase
  script.op(2).allocate(4000, 100).in_scope(false).allocate(5000, 1);  // rounded up
  script.op(3).phase(1).free(4000).allocate(6000, 1024);               // the peak: 512 + 2048 + 512 + 1024
  script.op(4).free(1000).allocate(8000, 1500);
  script.op(5).free(5000).free(6000).free(8000);
  script.derive();
  std::map<std::string, std::int64_t> found;
  for (const event::MemoryPart& part : script.record().derived.memory_parts)
    found[std::string(to_string(part.category)) + " " + part.phase + " " + part.scope] = part.bytes;
  EXPECT_EQ(found, (std::map<std::string, std::int64_t>{{"parameter outside ", 512},
                                                        {"activation forward block_*", 2048},
                                                        {"activation forward ", 512},
                                                        {"unknown backward ", 1024}}));
}

TEST(MemoryPhases, TellPeaksOfEachCurveAndWhatWasAliveThen) {
  Script script;
  script.segment(MemoryAction::kSegmentAllocate, kMegabyte, 1 << 20)
      .allocate(1 * kMegabyte, 1024)
      .tag(1 * kMegabyte, 1);
  script.step(0)
      .phase(0)
      .allocate(2 * kMegabyte, 2048)
      .tag(2 * kMegabyte, 4)
      .allocate(3 * kMegabyte, 512)
      .free(3 * kMegabyte);
  script.phase(1).request_free(2 * kMegabyte).complete_free(2 * kMegabyte);
  script.step(1).phase(0).phase(1).outside().free(1 * kMegabyte);
  EXPECT_THAT(script.derive(1), IsEmpty());
  event::PassRecord& record = script.record();
  const MemoryPhase& forward = row(record, 0, "forward");
  EXPECT_TRUE(forward.warmup);
  EXPECT_EQ(forward.begin_allocated_bytes, 1024);
  EXPECT_EQ(forward.peak.allocated_bytes, 1024 + 2048 + 512);
  EXPECT_EQ(forward.peak.reserved_bytes, 1 << 20);
  EXPECT_EQ(forward.end_allocated_bytes, 1024 + 2048);
  EXPECT_THAT(live_at_peak(forward), ElementsAre("parameter 1024", "activation 2048", "unknown 512"));
  const MemoryPhase& backward = row(record, 0, "backward");
  EXPECT_EQ(backward.begin_allocated_bytes, 3072);
  EXPECT_EQ(backward.peak.allocated_bytes, 3072) << "what it found counts";
  EXPECT_EQ(backward.end_allocated_bytes, 1024);
  EXPECT_EQ(row(record, 0, "step").peak.allocated_bytes, 3584);
  EXPECT_EQ(row(record, 0, "step").peak_ns, forward.peak_ns);
  // Nothing happened in step 1.
  const MemoryPhase& quiet = row(record, 1, "backward");
  EXPECT_FALSE(quiet.warmup);
  EXPECT_EQ(quiet.begin_allocated_bytes, 1024);
  EXPECT_EQ(quiet.end_allocated_bytes, 1024);
  EXPECT_EQ(quiet.peak.requested_bytes, 1024);
  EXPECT_EQ(row(record, 1, "step").peak.allocated_bytes, 1024);
  EXPECT_EQ(row(record, -1, "step").begin_allocated_bytes, 0);
  EXPECT_EQ(row(record, -1, "other").end_allocated_bytes, 0);
  EXPECT_EQ(row(record, -1, "other").peak.reserved_bytes, 1 << 20);
}

TEST(MemoryPhases, OfADeviceWithoutEventsAreNone) {
  Script script;
  script.step(0).phase(0);
  EXPECT_THAT(script.derive(), IsEmpty());
  EXPECT_THAT(script.record().derived.memory_phases, IsEmpty());
  EXPECT_THAT(script.record().derived.memory_points, IsEmpty());
}

TEST(MemoryPeaks, OfTheAllocatorMustBeThoseOfTheEvents) {
  Script script;
  script.segment(MemoryAction::kSegmentAllocate, 1000, 2048).allocate(1000, 700).free(1000);
  event::MemoryState& told = script.record().memory_trace.cuda_peaks.emplace();
  told = {700, 1024, 1024, 2048};
  EXPECT_THAT(script.derive(), IsEmpty());
  told.reserved_bytes = 4096;
  const std::vector<event::DroppedRecords> dropped_records = script.derive();
  ASSERT_THAT(dropped_records, SizeIs(1));
  EXPECT_THAT(dropped_records[0].detail, HasSubstr("2048"));
  EXPECT_THAT(dropped_records[0].detail, HasSubstr("4096"));
}

/// 400 steps of short-lived blocks on top of growing memory.
void make_sawtooth(Script& script) {
  for (std::int32_t step = 0; step < 400; ++step) {
    script.step(step).phase(0).allocate(static_cast<std::uint64_t>(step + 1) * kMegabyte * 1000, 512);
    for (std::uint64_t block = 1; block <= 20; ++block)
      script.allocate(block * kMegabyte, 4096 * (1 + (step * 7 + static_cast<int>(block)) % 5));
    for (std::uint64_t block = 1; block <= 20; ++block) script.free(block * kMegabyte);
  }
}

TEST(MemoryPoints, AreBoundedAndKeepTheHighest) {
  Script script;
  make_sawtooth(script);
  EXPECT_THAT(script.derive(), IsEmpty());
  const std::vector<MemoryEvent>& events = script.record().memory_trace.events;
  const auto& points = script.record().derived.memory_points;
  EXPECT_GT(events.size(), 20'000u);
  EXPECT_LE(points.size(), kMaxMemoryPoints + 2 + 400 * 4);
  EXPECT_GT(points.size(), 1'000u);
  EXPECT_EQ(points.front().sequence, 0);
  EXPECT_EQ(points.back().sequence, static_cast<std::int64_t>(events.size()) - 1);
  for (const MemoryPhase& phase : script.record().derived.memory_phases) {
    if (phase.phase != "forward") continue;
    EXPECT_THAT(points, Contains(::testing::Truly([&](const event::MemoryPoint& point) {
                  return point.step == phase.step && point.state.allocated_bytes == phase.peak.allocated_bytes;
                })));
  }
  for (std::size_t i = 1; i < points.size(); ++i) ASSERT_LT(points[i - 1].sequence, points[i].sequence);
  CategoryCurve curve(script.blocks(), MemoryDevice::kCuda);
  for (const event::MemoryPoint& point : points) {
    std::int64_t sum = 0;
    for (const std::int64_t bytes : curve.after(point.sequence)) sum += bytes;
    ASSERT_EQ(sum, point.state.allocated_bytes) << "at event " << point.sequence;
  }
}

TEST(MemoryPoints, LeaveOutWhatHardlyMoves) {
  Script script;
  script.step(0).phase(0).allocate(kMegabyte, 1 << 20);
  for (std::uint64_t i = 0; i < 100; ++i) script.allocate(kMegabyte * 10, 512).free(kMegabyte * 10);
  script.free(kMegabyte);
  script.derive();
  // The first point, the maximum that includes the block, the last level before the large block is freed, and the end.
  EXPECT_LE(script.record().derived.memory_points.size(), 8u);
}

}  // namespace
}  // namespace kymo::analysis
