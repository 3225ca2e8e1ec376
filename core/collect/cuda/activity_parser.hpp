// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collect/event_log/clock_conversion.hpp"
#include "event/records.hpp"

namespace kymo::collect {

/// Returns the number of activity records in a buffer up to the first unreadable one.
std::int64_t count_activity_records(std::uint8_t* buffer, std::size_t valid_bytes);

/// Converts CUPTI's raw activity records to events. Needs neither a GPU nor a driver.
class ActivityParser {
 public:
  /// Adds events to `trace`, with times on the host clock relative to `run_start_ns`. `trace` must outlive the parser.
  ActivityParser(const ClockConversion& clock, std::int64_t run_start_ns, event::Trace& trace);
  ~ActivityParser();
  ActivityParser(const ActivityParser&) = delete;
  ActivityParser& operator=(const ActivityParser&) = delete;

  /// Announces a buffer before it is parsed, so that memory for its events is allocated once. The size is estimated
  /// from its first records.
  void expect(std::uint8_t* buffer, std::size_t valid_bytes);
  /// Parses a buffer. Skips and counts records without timestamps, which CUPTI returns on a forced flush, everything
  /// after an unreadable record, and record kinds that were not requested.
  void parse(std::uint8_t* buffer, std::size_t valid_bytes);
  /// Returns the counts of dropped records.
  std::vector<event::DroppedRecords> dropped_records() const;

 private:
  struct Names;
  struct Shapes;
  struct Counts;

  void reserve();
  void take(const CUpti_Activity& record);
  template <typename Record>
  bool times(const Record& record, std::int64_t& start_ns, std::int64_t& end_ns);
  event::TextId kernel_name(const char* name);
  event::TextId copy_name(std::uint8_t kind);
  std::uint32_t shape_number(const event::LaunchShape& shape);
  void take_kernel(const CUpti_ActivityKernel10& record);
  template <typename Record>
  void take_transfer(const Record& record, event::ActivityKind kind, event::TextId name);
  void take_call(const CUpti_ActivityAPI& record);
  void take_synchronization(const CUpti_ActivitySynchronization2& record);
  void take_overhead_record(const CUpti_ActivityOverhead3& record);

  const ClockConversion clock_;
  const std::int64_t run_start_ns_;
  event::Trace& trace_;
  const std::unique_ptr<Names> names_;
  const std::unique_ptr<Shapes> shapes_;
  const std::unique_ptr<Counts> expected_;
  std::int64_t incomplete_ = 0;
  std::int64_t unused_ = 0;
  std::int64_t truncated_buffers_ = 0;
  std::int64_t unread_bytes_ = 0;
};

}  // namespace kymo::collect
