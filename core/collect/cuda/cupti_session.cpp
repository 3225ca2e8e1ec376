// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/cupti_session.hpp"

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "collect/collector.hpp"
#include "collect/cuda/activity_parser.hpp"
#include "collect/cuda/buffer_pool.hpp"
#include "collect/cuda/cuda_error.hpp"
#include "collect/cuda/graph_hold.hpp"
#include "collect/cuda/graph_nodes.hpp"
#include "collect/cuda/launch_calls.hpp"
#include "collect/cuda/new_activities.hpp"
#include "collect/cuda/other_client.hpp"
#include "collect/event_log/clock_conversion.hpp"
#include "collect/event_log/event_arena.hpp"
#include "collect/event_log/launch_log.hpp"

namespace kymo::collect {
namespace {

constexpr const char* kSource = "kymo_cuda";
constexpr const char* kClock = "cupti";
constexpr int kClockAttempts = 64;
// Prefaulted memory for the activity records of about 100,000 kernels, and for their launches.
constexpr std::size_t kWarmLowBytes = std::size_t{32} << 20;
constexpr std::size_t kWarmHighBytes = std::size_t{8} << 20;
// Size of a buffer, in passes whose records are wanted as they are delivered: records of about 2,000 kernels.
constexpr std::size_t kEarlyBufferBytes = std::size_t{512} << 10;
// In these passes, interval at which CUPTI is asked for buffers that are not full.
constexpr std::int64_t kEarlyIntervalNs = 1'000'000'000;

// CUPTI's buffer callbacks take no user data.
std::atomic<BufferPool*> g_pool{nullptr};
std::atomic<NewActivities*> g_new_activities{nullptr};

void CUPTIAPI buffer_requested(std::uint8_t** memory, std::size_t* bytes, std::size_t* most_records) {
  BufferPool* pool = g_pool.load(std::memory_order_acquire);
  const BufferPool::Buffer buffer = pool ? pool->request() : BufferPool::Buffer{};
  *memory = buffer.memory;
  *bytes = buffer.bytes;
  *most_records = 0;
}

/// Returns the number of records that CUPTI dropped since the last call because it had no buffer.
std::int64_t count_dropped_by_cupti() {
  std::size_t dropped = 0;
  return cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS ? static_cast<std::int64_t>(dropped)
                                                                                  : 0;
}

/// Without memory, the records are read when the pass ends.
void read_early(NewActivities& activities, std::uint8_t* memory, std::size_t valid_bytes) noexcept {
  try {
    activities.read(memory, valid_bytes);
  } catch (const std::bad_alloc&) {
    return;
  }
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* memory, std::size_t, std::size_t valid_bytes) {
  if (NewActivities* const activities = g_new_activities.load(std::memory_order_acquire); activities && memory)
    read_early(*activities, memory, valid_bytes);
  if (BufferPool* pool = g_pool.load(std::memory_order_acquire))
    pool->complete(memory, valid_bytes, count_dropped_by_cupti());
}

std::string to_string(CUptiResult result) {
  const char* text = nullptr;
  return cuptiGetResultString(result, &text) == CUPTI_SUCCESS && text ? text : "CUPTI error " + std::to_string(result);
}

std::string reason_of(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED:
      return "CUPTI supports a single client, which is " + name_other_client(profiler_traces()) +
             "; run kymo without it";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "insufficient permissions for CUPTI (" + to_string(result) +
             "); set the driver option NVreg_RestrictProfilingToAdminUsers=0";
    default:
      return "CUPTI initialization failed: " + to_string(result);
  }
}

/// Without a driver, every function of CUPTI 13.2 calls itself until the stack overflows.
void require_driver() {
  if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) return;  // never closed; CUDA uses it until the process ends
  const char* reason = dlerror();
  throw Unavailable(std::string("no NVIDIA driver: ") + (reason ? reason : "libcuda.so.1 cannot be loaded"));
}

void require(CUptiResult result) {
  if (result != CUPTI_SUCCESS) throw Unavailable(reason_of(result));
}

std::optional<ClockPair> compare_with_cupti() {
  return compare_clocks(kClockAttempts, now_ns, []() -> std::optional<std::int64_t> {
    std::uint64_t time_ns = 0;
    if (cuptiGetTimestamp(&time_ns) != CUPTI_SUCCESS || time_ns == 0) return std::nullopt;
    return static_cast<std::int64_t>(time_ns);
  });
}

}  // namespace

struct CuptiSession::State {
  State(const measure::Observation& observation, const ExecutionContext* where, std::int64_t run_start, bool early)
      : options(observation),
        execution_context(where ? *where : unused),
        run_start_ns(run_start),
        arena(options.memory_bytes),
        pool(arena, std::min(BufferPool::buffer_bytes_for(options.memory_bytes), early ? kEarlyBufferBytes : SIZE_MAX),
             count_activity_records),
        launches(arena, execution_context, run_start_ns),
        nodes(arena) {
    if (early) new_activities.emplace();
  }

  static void CUPTIAPI called(void* state, CUpti_CallbackDomain domain, CUpti_CallbackId call, const void* detail);
  void node_made(CUpti_CallbackId what, const CUpti_GraphData& graph) noexcept;

  void watch(CUpti_CallbackDomain domain, CUpti_CallbackId call);
  void watch_calls();
  void record_kind(CUpti_ActivityKind kind);
  void record_kind_if(bool wanted, CUpti_ActivityKind kind, const char* name);
  void end() noexcept;
  event::ClockSync sync_of(const ClockPair& pair) const;
  void refresh();
  void add_new(event::NewEvents& events);
  void parse(event::PassRecord& record);
  void add_dropped_records(std::vector<event::DroppedRecords>& into) const;

  const measure::Observation options;
  const ExecutionContext unused;
  const ExecutionContext& execution_context;
  const std::int64_t run_start_ns;
  EventArena arena;
  BufferPool pool;
  LaunchLog launches;
  GraphNodes nodes;
  std::optional<NewActivities> new_activities;
  std::int64_t refreshed_ns = 0;
  ClockConversion clock_so_far;
  CUpti_SubscriberHandle subscriber = nullptr;
  std::vector<CUpti_ActivityKind> kinds;
  std::vector<event::DroppedRecords> dropped_records;
  std::optional<GraphHold> graph_hold;  // once there is a context
  std::optional<ClockPair> begin_clock;
  std::optional<ClockPair> end_clock;
  std::int64_t unwatched = 0;
  bool recording = false;
};

void CUPTIAPI CuptiSession::State::called(void* state, CUpti_CallbackDomain domain, CUpti_CallbackId call,
                                          const void* detail) {
  auto& self = *static_cast<State*>(state);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    const auto* resource = static_cast<const CUpti_ResourceData*>(detail);
    if (resource->resourceDescriptor)
      self.node_made(call, *static_cast<const CUpti_GraphData*>(resource->resourceDescriptor));
    return;
  }
  const auto* launch = static_cast<const CUpti_CallbackData*>(detail);
  const event::LaunchKind kind = kind_of_launch(call);
  const bool is_held = kind == event::LaunchKind::kGraph && self.graph_hold;
  if (launch->callbackSite == CUPTI_API_ENTER) {
    if (is_held) self.graph_hold->begin_launch(call, launch->functionParams);
    self.launches.append(launch->correlationId, kind);
  } else {
    self.launches.close();
    if (is_held) self.graph_hold->end_launch();
  }
}

void CuptiSession::State::node_made(CUpti_CallbackId what, const CUpti_GraphData& graph) noexcept {
  if (what == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) launches.retract();
  std::uint64_t node = 0;
  if (cuptiGetGraphNodeId(graph.node, &node) != CUPTI_SUCCESS) return;
  if (what == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) {
    nodes.created(node, execution_context.position());
    return;
  }
  std::uint64_t original = 0;
  if (cuptiGetGraphNodeId(graph.originalNode, &original) == CUPTI_SUCCESS) nodes.cloned(node, original);
}

void CuptiSession::State::watch(CUpti_CallbackDomain domain, CUpti_CallbackId call) {
  // A CUPTI version older than the headers does not support the newest calls.
  if (cuptiEnableCallback(1, subscriber, domain, call) != CUPTI_SUCCESS) ++unwatched;
}

void CuptiSession::State::watch_calls() {
  std::uint32_t version = 0;
  require(cuptiGetVersion(&version));
  for (const LaunchCall& each : launch_calls(version)) {
    // Without an activity record, the launch would look like a dropped record.
    if (each.kind == event::LaunchKind::kMemset && !options.memsets) continue;
    if (each.cupti_version == 0) {
      watch(CUPTI_CB_DOMAIN_DRIVER_API, each.call);
    } else {  // fails if the driver is older than CUPTI and has no such function
      cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, each.call);
    }
  }
  watch(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
  watch(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
  add_dropped(dropped_records, kSource, unwatched, "launch calls that this CUPTI version does not report");
}

void CuptiSession::State::record_kind(CUpti_ActivityKind kind) {
  require(cuptiActivityEnable(kind));
  kinds.push_back(kind);
}

/// Enables an optional record kind, which may be unavailable on its own.
void CuptiSession::State::record_kind_if(bool wanted, CUpti_ActivityKind kind, const char* name) {
  if (!wanted) return;
  const CUptiResult result = cuptiActivityEnable(kind);
  if (result == CUPTI_SUCCESS) {
    kinds.push_back(kind);
  } else {
    dropped_records.push_back({kSource, -1, std::string("no records of ") + name + ": " + to_string(result)});
  }
}

void CuptiSession::State::end() noexcept {
  for (const CUpti_ActivityKind kind : std::exchange(kinds, {})) cuptiActivityDisable(kind);
  if (subscriber) cuptiUnsubscribe(subscriber);
  subscriber = nullptr;
  graph_hold.reset();  // no launch is reported any more
  recording = false;
}

CuptiSession::CuptiSession(const measure::Observation& options, const ExecutionContext* execution_context,
                           std::int64_t run_start_ns, bool early)
    : state_(std::make_unique<State>(options, execution_context, run_start_ns, early)) {}

CuptiSession::~CuptiSession() {
  if (state_->recording) {
    state_->end();
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  }
  // CUPTI may request buffers until the process exits. It gets none from now on.
  BufferPool* mine = &state_->pool;
  if (g_pool.compare_exchange_strong(mine, nullptr)) g_new_activities.store(nullptr, std::memory_order_release);
}

void CuptiSession::start() {
  State& state = *state_;
  require_driver();
  g_pool.store(&state.pool, std::memory_order_release);
  if (state.new_activities) g_new_activities.store(&*state.new_activities, std::memory_order_release);
  warm();
  try {
    require(cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed));
    if (const CUptiResult result = cuptiSubscribe(&state.subscriber, &State::called, &state); result != CUPTI_SUCCESS) {
      state.subscriber = nullptr;
      throw Unavailable(reason_of(result));
    }
    state.watch_calls();
    if (state.options.api_calls) cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    state.record_kind(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    state.record_kind(CUPTI_ACTIVITY_KIND_MEMCPY);
    state.record_kind_if(state.options.memsets, CUPTI_ACTIVITY_KIND_MEMSET, "memsets");
    state.record_kind_if(state.options.synchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronization");
    state.record_kind_if(state.options.overhead_records, CUPTI_ACTIVITY_KIND_OVERHEAD, "CUPTI overhead");
    state.record_kind_if(state.options.api_calls, CUPTI_ACTIVITY_KIND_RUNTIME, "CUDA runtime API calls");
    state.record_kind_if(state.options.api_calls, CUPTI_ACTIVITY_KIND_DRIVER, "CUDA driver API calls");
  } catch (const Unavailable&) {
    state.end();
    throw;
  }
  state.recording = true;
  state.begin_clock = compare_with_cupti();
}

void CuptiSession::warm() noexcept { state_->arena.warm(kWarmLowBytes, kWarmHighBytes); }

void CuptiSession::context_made() {
  if (!state_->recording) return;
  if (!state_->begin_clock) state_->begin_clock = compare_with_cupti();
  try {
    state_->graph_hold.emplace();
  } catch (const std::runtime_error&) {  // graphs begin while they are launched, as without kymo
    state_->graph_hold.reset();
  }
}

/// Compares the clocks and asks CUPTI for buffers that are not full, which it delivers if all of their records are
/// complete. Both take time, so they are not done at each step.
void CuptiSession::State::refresh() {
  const std::int64_t now = now_ns();
  if (now - refreshed_ns < kEarlyIntervalNs) return;
  refreshed_ns = now;
  const std::optional<ClockPair> latest = compare_with_cupti();
  if (begin_clock && latest) clock_so_far = ClockConversion(*begin_clock, *latest);
  cuptiActivityFlushAll(0);
}

void CuptiSession::State::add_new(event::NewEvents& events) {
  if (refreshed_ns == 0 && begin_clock) events.clock_syncs.push_back(sync_of(*begin_clock));
  refresh();
  launches.add_new(events.launches);
  nodes.add_new(events.graph_nodes);
  new_activities->add_new(events, clock_so_far, run_start_ns);
}

void CuptiSession::add_new(event::NewEvents& events) {
  if (state_->recording && state_->new_activities) state_->add_new(events);
}

void CuptiSession::stop(event::PassRecord& record) {
  State& state = *state_;
  if (!state.recording) return;
  g_new_activities.store(nullptr, std::memory_order_release);
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    state.dropped_records.push_back({kSource, -1, "unfinished GPU work: " + take_cuda_error(error)});
  }
  state.end_clock = compare_with_cupti();
  cuptiActivityFlushAll(0);
  state.end();
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  state.pool.complete(nullptr, 0, count_dropped_by_cupti());
  // Take the host-side records first, so that they survive any later failure.
  state.launches.take(record.trace.launches);
  state.nodes.take(record.trace.graph_nodes);
  state.parse(record);
  state.add_dropped_records(record.dropped_records);
}

event::ClockSync CuptiSession::State::sync_of(const ClockPair& pair) const {
  return {kClock, pair.host_ns - run_start_ns, pair.clock_ns, pair.error_ns};
}

void CuptiSession::State::parse(event::PassRecord& record) {
  for (const auto& pair : {begin_clock, end_clock})
    if (pair) record.trace.clock_syncs.push_back(sync_of(*pair));
  const ClockConversion clock = begin_clock && end_clock ? ClockConversion(*begin_clock, *end_clock)
                                : begin_clock            ? ClockConversion(*begin_clock)
                                : end_clock              ? ClockConversion(*end_clock)
                                                         : ClockConversion();
  if (!begin_clock && !end_clock)
    dropped_records.push_back(
        {kSource, -1, "CUPTI's clock cannot be compared with the host clock: GPU timestamps are not converted"});
  ActivityParser parser(clock, run_start_ns, record.trace);
  const std::vector<BufferPool::Buffer> buffers = pool.take_filled();
  std::size_t parsed = 0;
  try {
    for (const BufferPool::Buffer& buffer : buffers) parser.expect(buffer.memory, buffer.bytes);
    for (; parsed < buffers.size(); ++parsed) {
      parser.parse(buffers[parsed].memory, buffers[parsed].bytes);
      EventArena::release(reinterpret_cast<std::byte*>(buffers[parsed].memory), buffers[parsed].bytes);
    }
  } catch (const std::bad_alloc&) {
    dropped_records.push_back(
        {kSource, -1,
         "activity records of " + std::to_string(buffers.size() - parsed) + " buffers: out of memory while parsing"});
  }
  const std::vector<event::DroppedRecords> unread = parser.dropped_records();
  append_range(dropped_records, unread);
}

void CuptiSession::State::add_dropped_records(std::vector<event::DroppedRecords>& into) const {
  append_range(into, dropped_records);
  const std::string bound = " beyond the memory limit of " + format_bytes(options.memory_bytes);
  add_dropped(into, kSource, pool.dropped(), "activity records (kernels, copies, ...)" + bound);
  add_dropped(into, kSource, launches.dropped(), "launches" + bound);
  add_dropped(into, kSource, nodes.dropped(), "graph nodes" + bound);
  add_dropped(into, kSource, nodes.unmatched_originals(),
              "graph nodes captured before tracing began, whose context is unknown");
}

}  // namespace kymo::collect
