// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/device_memory_sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "base/clock.hpp"

namespace kymo::collect {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Reading = DeviceMemorySampler::Reading;

TEST(DeviceMemorySampler, NotesMomentsInOrderOfTime) {
  std::int64_t used = 100;
  DeviceMemorySampler sampler(
      [&](bool with_process) -> std::optional<Reading> {
        return Reading{used++, with_process ? std::optional<std::int64_t>(42) : std::nullopt};
      },
      {.run_start_ns = now_ns()});
  sampler.note("prepared", -1, true);
  sampler.note("after step", 3, false);
  sampler.add({-1000, "before cuda", -1, 7, std::nullopt});
  event::PassRecord record;
  sampler.take(record);
  const auto& readings = record.memory_trace.device;
  ASSERT_THAT(readings, SizeIs(3));
  EXPECT_EQ(readings[0].stage, "before cuda");
  EXPECT_EQ(readings[1].stage, "prepared");
  EXPECT_EQ(readings[1].used_bytes, 100);
  EXPECT_EQ(readings[1].process_bytes, 42);
  EXPECT_EQ(readings[2].step, 3);
  EXPECT_FALSE(readings[2].process_bytes);
  EXPECT_GE(readings[2].time_ns, readings[1].time_ns);
  EXPECT_THAT(record.dropped_records, IsEmpty());
}

TEST(DeviceMemorySampler, NewReadingsAreAddedOnce) {
  std::atomic<std::int64_t> used{0};
  DeviceMemorySampler sampler([&](bool) -> std::optional<Reading> { return Reading{++used, std::nullopt}; },
                              {.run_start_ns = now_ns(), .interval_ns = 10'000, .max_background = 16});
  std::vector<event::DeviceMemory> readings;
  sampler.start_background();
  while (used < 100) sampler.add_new(readings);  // the readings were thinned out meanwhile
  sampler.stop_background();
  sampler.note("end", -1, false);
  sampler.add_new(readings);
  sampler.add_new(readings);
  std::set<std::int64_t> values;
  for (const event::DeviceMemory& reading : readings) values.insert(reading.used_bytes);
  EXPECT_EQ(values.size(), readings.size()) << "each one once";
  EXPECT_EQ(std::ranges::count(readings, "end", &event::DeviceMemory::stage), 1);
  event::PassRecord record;
  sampler.take(record);
  for (const event::DeviceMemory& reading : record.memory_trace.device)
    EXPECT_TRUE(values.contains(reading.used_bytes)) << "whatever is kept was added, too";
}

TEST(DeviceMemorySampler, SamplesInTheBackgroundWithItsStep) {
  ExecutionContext execution_context;
  execution_context.step = 5;
  std::atomic<int> reads{0};
  DeviceMemorySampler sampler(
      [&](bool) -> std::optional<Reading> { return Reading{++reads, std::nullopt}; },
      {.execution_context = &execution_context, .run_start_ns = now_ns(), .interval_ns = 100'000});
  sampler.start_background();
  sampler.start_background();  // already started
  while (reads < 20) std::this_thread::yield();
  sampler.stop_background();
  sampler.stop_background();
  const int total = reads;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(reads, total) << "it has ended";
  event::PassRecord record;
  sampler.take(record);
  ASSERT_THAT(record.memory_trace.device, SizeIs(static_cast<std::size_t>(total)));
  for (const auto& reading : record.memory_trace.device) {
    EXPECT_EQ(reading.step, 5);
    EXPECT_EQ(reading.stage, "");
  }
}

TEST(DeviceMemorySampler, IsBoundedAndSaysWhatItGaveUp) {
  std::atomic<int> reads{0};
  DeviceMemorySampler sampler([&](bool) -> std::optional<Reading> { return Reading{++reads, std::nullopt}; },
                              {.run_start_ns = now_ns(), .interval_ns = 100, .max_background = 8});
  sampler.start_background();
  while (reads < 40) std::this_thread::yield();
  sampler.stop_background();
  event::PassRecord record;
  sampler.take(record);
  const auto& readings = record.memory_trace.device;
  EXPECT_LT(readings.size(), 8u);
  EXPECT_EQ(readings.front().used_bytes, 1) << "the beginning stays";
  ASSERT_THAT(record.dropped_records, SizeIs(1));
  EXPECT_EQ(record.dropped_records[0].count + static_cast<std::int64_t>(readings.size()), reads.load());
  EXPECT_THAT(record.dropped_records[0].detail, HasSubstr("more than 8"));
}

TEST(DeviceMemorySampler, ReadingsThatFailAreCounted) {
  DeviceMemorySampler sampler([](bool) { return std::optional<Reading>(); }, {});
  sampler.note("prepared", -1, true);
  sampler.note("end", -1, true);
  event::PassRecord record;
  sampler.take(record);
  EXPECT_THAT(record.memory_trace.device, IsEmpty());
  ASSERT_THAT(record.dropped_records, SizeIs(1));
  EXPECT_EQ(record.dropped_records[0].count, 2);
}

TEST(DeviceMemorySampler, EndsItsThreadWithItself) {
  std::atomic<int> reads{0};
  {
    DeviceMemorySampler sampler([&](bool) -> std::optional<Reading> { return Reading{++reads, std::nullopt}; }, {});
    sampler.start_background();
    while (reads < 1) std::this_thread::yield();
  }
  const int total = reads;
  std::this_thread::sleep_for(std::chrono::milliseconds(12));
  EXPECT_EQ(reads, total);
}

}  // namespace
}  // namespace kymo::collect
