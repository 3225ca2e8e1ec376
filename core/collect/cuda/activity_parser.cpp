// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/activity_parser.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "collect/cuda/activity_names.hpp"
#include "collect/cuda/record_sizes.hpp"

namespace kymo::collect {
namespace {

constexpr const char* kSource = "kymo_cuda";
constexpr std::size_t kRecent = 1024;
constexpr std::size_t kSampledRecords = 256;
constexpr double kSpare = 1.05;

struct LaunchShapeHash {
  std::size_t operator()(const event::LaunchShape& s) const noexcept {
    const auto two = [](std::int32_t a, std::int32_t b) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 | static_cast<std::uint32_t>(b);
    };
    // One odd factor per pair, so that the multiplications are independent.
    std::uint64_t hash = two(s.grid[0], s.grid[1]) * 0x9e3779b97f4a7c15ULL;
    hash ^= two(s.grid[2], s.block[0]) * 0xbf58476d1ce4e5b9ULL;
    hash ^= two(s.block[1], s.block[2]) * 0x94d049bb133111ebULL;
    hash ^= two(s.static_shared_bytes, s.dynamic_shared_bytes) * 0xd6e8feb86659fd93ULL;
    hash ^= two(s.registers, 0) * 0xa0761d6478bd642fULL;
    return hash ^ hash >> 32;
  }
};

/// Uses huge pages, because page faults take most of the time of filling hundreds of megabytes, and huge pages need 512
/// times fewer.
template <typename Event>
void ask_for_large_pages(std::vector<Event>& events) {
  constexpr std::uintptr_t kLarge = std::uintptr_t{2} << 20;
  const auto begin = (reinterpret_cast<std::uintptr_t>(events.data() + events.size()) + kLarge - 1) / kLarge * kLarge;
  const auto end = reinterpret_cast<std::uintptr_t>(events.data() + events.capacity()) / kLarge * kLarge;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

/// Iterates over the records of a buffer and passes each with its record_size() to `visit`. Returns the number of
/// unreadable bytes.
template <typename Visit>
std::size_t walk(std::uint8_t* buffer, std::size_t valid_bytes, Visit&& visit) {
  CUpti_Activity* record = nullptr;
  std::size_t end = 0;  // end of the last record, as far as its size is known
  bool end_is_known = true;
  CUptiResult result = CUPTI_ERROR_MAX_LIMIT_REACHED;
  while (valid_bytes > 0 && (result = cuptiActivityGetNextRecord(buffer, valid_bytes, &record)) == CUPTI_SUCCESS) {
    const std::size_t bytes = record_size(record->kind);
    const auto begin = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(record) - buffer);
    end_is_known = bytes > 0;
    end = begin + bytes;
    visit(*record, bytes);
  }
  const bool reached_the_end = result == CUPTI_ERROR_MAX_LIMIT_REACHED && (!end_is_known || end >= valid_bytes);
  return reached_the_end ? 0 : valid_bytes - std::min(end, valid_bytes);
}

}  // namespace

std::int64_t count_activity_records(std::uint8_t* buffer, std::size_t valid_bytes) {
  std::int64_t count = 0;
  walk(buffer, valid_bytes, [&](const CUpti_Activity&, std::size_t) { ++count; });
  return count;
}

/// Cache of kernel names by address, because the records of a kernel share its name string. Each name is demangled
/// once.
struct ActivityParser::Names {
  struct Recent {
    const char* name = nullptr;
    event::TextId text = event::kNoText;
  };
  // Steps launch the same kernels repeatedly, so most lookups hit this cache.
  std::array<Recent, kRecent> recent{};
  std::unordered_map<const char*, event::TextId> kernels;
  std::unordered_map<std::uint64_t, event::TextId> calls;
  std::unordered_map<std::uint8_t, event::TextId> copies;
  event::TextId memset = event::kNoText;
};

struct ActivityParser::Shapes {
  std::array<std::uint32_t, kRecent> recent{};  // ids by hash; valid only if the stored shape matches
  std::unordered_map<event::LaunchShape, std::uint32_t, LaunchShapeHash> numbers;
};

struct ActivityParser::Counts {
  std::size_t activities = 0;
  std::size_t calls = 0;
  std::size_t synchronizations = 0;
  std::size_t overhead_records = 0;

  void add(const CUpti_Activity& record) {
    switch (record.kind) {
      case CUPTI_ACTIVITY_KIND_RUNTIME:
      case CUPTI_ACTIVITY_KIND_DRIVER:
        ++calls;
        break;
      case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        ++synchronizations;
        break;
      case CUPTI_ACTIVITY_KIND_OVERHEAD:
        ++overhead_records;
        break;
      default:
        activities += record_size(record.kind) > 0;
    }
  }
  void add(const Counts& other, double factor) {
    const auto scaled = [factor](std::size_t count) {
      return static_cast<std::size_t>(std::ceil(static_cast<double>(count) * factor));
    };
    activities += scaled(other.activities);
    calls += scaled(other.calls);
    synchronizations += scaled(other.synchronizations);
    overhead_records += scaled(other.overhead_records);
  }
};

ActivityParser::ActivityParser(const ClockConversion& clock, std::int64_t run_start_ns, event::Trace& trace)
    : clock_(clock),
      run_start_ns_(run_start_ns),
      trace_(trace),
      names_(std::make_unique<Names>()),
      shapes_(std::make_unique<Shapes>()),
      expected_(std::make_unique<Counts>()) {
  for (std::size_t i = 0; i < trace.shapes.size(); ++i)
    shapes_->numbers.emplace(trace.shapes[i], static_cast<std::uint32_t>(i));
}

ActivityParser::~ActivityParser() = default;

void ActivityParser::expect(std::uint8_t* buffer, std::size_t valid_bytes) {
  Counts first;
  std::size_t records = 0;
  std::size_t bytes = 0;  // size of the records up to that point
  CUpti_Activity* record = nullptr;
  while (records < kSampledRecords && valid_bytes > 0 &&
         cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    first.add(*record);
    bytes = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(record) - buffer) + record_size(record->kind);
    ++records;
  }
  // Extrapolate from the sampled records to the rest of the buffer. A slight overestimate is harmless: memory that is
  // never written is not committed.
  expected_->add(first, records < kSampledRecords || bytes == 0
                            ? 1
                            : kSpare * static_cast<double>(valid_bytes) / static_cast<double>(bytes));
}

void ActivityParser::reserve() {
  trace_.activities.reserve(trace_.activities.size() + expected_->activities);
  trace_.api_calls.reserve(trace_.api_calls.size() + expected_->calls);
  trace_.synchronizations.reserve(trace_.synchronizations.size() + expected_->synchronizations);
  trace_.overhead_records.reserve(trace_.overhead_records.size() + expected_->overhead_records);
  *expected_ = {};
  ask_for_large_pages(trace_.activities);
  ask_for_large_pages(trace_.api_calls);
}

void ActivityParser::parse(std::uint8_t* buffer, std::size_t valid_bytes) {
  if (expected_->activities + expected_->calls + expected_->synchronizations + expected_->overhead_records > 0)
    reserve();
  const std::size_t unread = walk(buffer, valid_bytes, [this](const CUpti_Activity& record, std::size_t bytes) {
    if (bytes > 0) {
      take(record);
    } else {
      ++unused_;
    }
  });
  if (unread == 0) return;
  ++truncated_buffers_;
  unread_bytes_ += static_cast<std::int64_t>(unread);
}

void ActivityParser::take(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return take_kernel(reinterpret_cast<const CUpti_ActivityKernel10&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
      return take_transfer(copy, event::ActivityKind::kMemcpy, copy_name(copy.copyKind));
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record);
      return take_transfer(copy, event::ActivityKind::kMemcpy, copy_name(copy.copyKind));
    }
    case CUPTI_ACTIVITY_KIND_MEMSET:
      if (names_->memset == event::kNoText) names_->memset = trace_.texts.intern("memset");
      return take_transfer(reinterpret_cast<const CUpti_ActivityMemset4&>(record), event::ActivityKind::kMemset,
                           names_->memset);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return take_call(reinterpret_cast<const CUpti_ActivityAPI&>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return take_synchronization(reinterpret_cast<const CUpti_ActivitySynchronization2&>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return take_overhead_record(reinterpret_cast<const CUpti_ActivityOverhead3&>(record));
    default:
      return;  // has no size, either
  }
}

template <typename Record>
bool ActivityParser::times(const Record& record, std::int64_t& start_ns, std::int64_t& end_ns) {
  if (record.start == CUPTI_TIMESTAMP_UNKNOWN || record.end == CUPTI_TIMESTAMP_UNKNOWN) {
    ++incomplete_;
    return false;
  }
  start_ns = clock_.host_ns(record.start) - run_start_ns_;
  end_ns = clock_.host_ns(record.end) - run_start_ns_;
  return true;
}

event::TextId ActivityParser::kernel_name(const char* name) {
  const auto address = reinterpret_cast<std::uintptr_t>(name);
  Names::Recent& recent = names_->recent[(address ^ address >> 10) % kRecent];
  if (recent.name == name && recent.text != event::kNoText) return recent.text;
  event::TextId& text = names_->kernels[name];
  if (text == event::kNoText) text = trace_.texts.intern(readable_kernel_name(name));
  recent = {name, text};
  return text;
}

event::TextId ActivityParser::copy_name(std::uint8_t kind) {
  event::TextId& name = names_->copies[kind];
  if (name == event::kNoText) name = trace_.texts.intern(memcpy_kind_name(kind));
  return name;
}

std::uint32_t ActivityParser::shape_number(const event::LaunchShape& shape) {
  std::uint32_t& recent = shapes_->recent[LaunchShapeHash()(shape) % kRecent];
  if (recent < trace_.shapes.size() && trace_.shapes[recent] == shape) return recent;
  const auto [entry, added] = shapes_->numbers.try_emplace(shape, static_cast<std::uint32_t>(trace_.shapes.size()));
  if (added) trace_.shapes.push_back(shape);
  return recent = entry->second;
}

void ActivityParser::take_kernel(const CUpti_ActivityKernel10& record) {
  event::Activity activity;
  if (!times(record, activity.start_ns, activity.end_ns)) return;
  activity.graph_node = record.graphNodeId;
  activity.name = kernel_name(record.name);
  activity.correlation_id = record.correlationId;
  activity.stream = record.streamId;
  activity.shape = shape_number({{record.gridX, record.gridY, record.gridZ},
                                 {record.blockX, record.blockY, record.blockZ},
                                 record.staticSharedMemory,
                                 record.dynamicSharedMemory,
                                 record.registersPerThread});
  trace_.activities.push_back(activity);
}

template <typename Record>
void ActivityParser::take_transfer(const Record& record, event::ActivityKind kind, event::TextId name) {
  event::Activity activity;
  if (!times(record, activity.start_ns, activity.end_ns)) return;
  activity.kind = kind;
  activity.graph_node = record.graphNodeId;
  activity.bytes = static_cast<std::int64_t>(record.bytes);
  activity.name = name;
  activity.correlation_id = record.correlationId;
  activity.stream = record.streamId;
  trace_.activities.push_back(activity);
}

void ActivityParser::take_call(const CUpti_ActivityAPI& record) {
  event::ApiCall call;
  if (!times(record, call.start_ns, call.end_ns)) return;
  const bool runtime = record.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  event::TextId& name = names_->calls[std::uint64_t{record.cbid} << 1 | std::uint64_t{runtime}];
  if (name == event::kNoText) name = trace_.texts.intern(api_call_name(runtime, record.cbid));
  call.name = name;
  call.correlation_id = record.correlationId;
  call.thread = record.threadId;
  trace_.api_calls.push_back(call);
}

void ActivityParser::take_synchronization(const CUpti_ActivitySynchronization2& record) {
  event::Synchronization wait;
  if (!times(record, wait.start_ns, wait.end_ns)) return;
  wait.kind = synchronization_type_name(record.type);
  if (record.streamId != CUPTI_SYNCHRONIZATION_INVALID_VALUE) wait.stream = record.streamId;
  wait.correlation_id = record.correlationId;
  trace_.synchronizations.push_back(std::move(wait));
}

void ActivityParser::take_overhead_record(const CUpti_ActivityOverhead3& record) {
  event::OverheadRecord overhead;
  if (!times(record, overhead.start_ns, overhead.end_ns)) return;
  overhead.kind = overhead_kind_name(record.overheadKind);
  trace_.overhead_records.push_back(std::move(overhead));
}

std::vector<event::DroppedRecords> ActivityParser::dropped_records() const {
  std::vector<event::DroppedRecords> dropped_records;
  add_dropped(dropped_records, kSource, incomplete_,
              "activity records without timestamps: the work was still running when tracing ended");
  add_dropped(dropped_records, kSource, unused_, "activity records of kinds that were not requested");
  if (truncated_buffers_ > 0) {
    dropped_records.push_back({kSource, -1,
                               "unreadable activity records: " + format_bytes(unread_bytes_) + " at the end of " +
                                   std::to_string(truncated_buffers_) + " buffers"});
  }
  return dropped_records;
}

}  // namespace kymo::collect
