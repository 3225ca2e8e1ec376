// SPDX-License-Identifier: Apache-2.0
#include "collect/torch_cuda/counter_ledger.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace kymo::collect {
namespace {

using event::MemoryAction;
using event::MemoryState;

/// An allocator that reports its events while it is updating its counters, like LibTorch's.
class Allocator {
 public:
  struct Step {
    MemoryState truth;     // after the event
    MemoryState recorded;  // according to the ledger
  };

  void segment_allocate(std::int64_t bytes) {
    now_.reserved_bytes += bytes;
    report(MemoryAction::kSegmentAllocate, bytes);
    done();
  }
  void segment_unmap(std::int64_t bytes) {
    now_.reserved_bytes -= bytes;
    report(MemoryAction::kSegmentUnmap, bytes);
    done();
  }
  void segment_free(std::int64_t bytes) {
    report(MemoryAction::kSegmentFree, bytes);
    now_.reserved_bytes -= bytes;
    done();
  }
  void allocate(std::int64_t requested, std::int64_t size) {
    report(MemoryAction::kAllocate, requested);
    now_.requested_bytes += requested;
    now_.allocated_bytes += size;
    now_.active_bytes += size;
    done();
  }
  void request_free(std::int64_t requested, std::int64_t size) {
    now_.allocated_bytes -= size;
    report(MemoryAction::kFreeRequested, requested);
    done();
  }
  void complete_free(std::int64_t requested, std::int64_t size) {
    report(MemoryAction::kFreeCompleted, requested);
    now_.requested_bytes -= requested;
    now_.active_bytes -= size;
    done();
  }
  void out_of_memory(std::int64_t bytes) {
    report(MemoryAction::kOutOfMemory, bytes);
    done();
  }
  /// A change that is not reported.
  void move_unseen(std::int64_t bytes) { now_.allocated_bytes += bytes; }

  const std::vector<Step>& finish() {
    if (ledger_.is_open()) steps_.back().recorded = ledger_.finish(now_);
    return steps_;
  }
  CounterLedger& ledger() { return ledger_; }

 private:
  void report(MemoryAction action, std::int64_t bytes) {
    const MemoryState before = ledger_.next(action, bytes, now_);
    if (!steps_.empty()) steps_.back().recorded = before;
  }
  void done() { steps_.push_back({now_, {}}); }

  MemoryState now_{100, 512, 512, 2048};  // memory in use before
  CounterLedger ledger_;
  std::vector<Step> steps_;
};

void expect_true(const std::vector<Allocator::Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& [truth, recorded] = steps[i];
    EXPECT_EQ(recorded.requested_bytes, truth.requested_bytes) << i;
    EXPECT_EQ(recorded.allocated_bytes, truth.allocated_bytes) << i;
    EXPECT_EQ(recorded.active_bytes, truth.active_bytes) << i;
    EXPECT_EQ(recorded.reserved_bytes, truth.reserved_bytes) << i;
  }
}

TEST(CounterLedger, ABlockThatIsFreedAtOnceStillShowsAtItsHighest) {
  Allocator allocator;
  allocator.segment_allocate(4096);
  allocator.allocate(1000, 1024);
  allocator.request_free(1000, 1024);
  allocator.complete_free(1000, 1024);
  const auto& steps = allocator.finish();
  expect_true(steps);
  EXPECT_EQ(steps[1].recorded.allocated_bytes, 512 + 1024);
  EXPECT_EQ(allocator.ledger().disagreements(), 0);
}

TEST(CounterLedger, EveryOrderOfTwoEventsIsTakenApart) {
  using Event = void (*)(Allocator&);
  const std::vector<Event> events = {
      [](Allocator& a) { a.segment_allocate(8192); },   [](Allocator& a) { a.segment_free(512); },
      [](Allocator& a) { a.segment_unmap(256); },       [](Allocator& a) { a.allocate(700, 1024); },
      [](Allocator& a) { a.request_free(10, 64); },     [](Allocator& a) { a.complete_free(10, 64); },
      [](Allocator& a) { a.out_of_memory(1ll << 40); },
  };
  for (const Event first : events)
    for (const Event second : events)
      for (const Event third : events) {
        Allocator allocator;
        first(allocator);
        second(allocator);
        third(allocator);
        expect_true(allocator.finish());
        EXPECT_EQ(allocator.ledger().disagreements(), 0);
      }
}

TEST(CounterLedger, AFreeThatWaitsForAStreamKeepsItsBlockActive) {
  Allocator allocator;
  allocator.allocate(700, 1024);
  allocator.request_free(700, 1024);
  allocator.allocate(300, 512);
  allocator.complete_free(700, 1024);
  const auto& steps = allocator.finish();
  expect_true(steps);
  EXPECT_EQ(steps[2].recorded.active_bytes, 512 + 1024 + 512);
  EXPECT_EQ(steps[2].recorded.allocated_bytes, 512 + 512);
}

TEST(CounterLedger, AChangeWithoutAReportIsCountedAndTheReadingPrevails) {
  Allocator allocator;
  allocator.allocate(100, 512);
  allocator.move_unseen(64);
  allocator.out_of_memory(1);
  const auto& steps = allocator.finish();
  EXPECT_EQ(allocator.ledger().disagreements(), 1);
  EXPECT_EQ(steps[1].recorded.allocated_bytes, steps[1].truth.allocated_bytes);
}

TEST(CounterLedger, AnEmptyOneIsDone) {
  CounterLedger ledger;
  EXPECT_FALSE(ledger.is_open());
  EXPECT_EQ(ledger.finish({1, 2, 3, 4}).active_bytes, 3);
  EXPECT_EQ(ledger.disagreements(), 0);
}

}  // namespace
}  // namespace kymo::collect
