// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/event_timer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.hpp"
#include "collect/cuda/cuda_error.hpp"

namespace kymo::collect {
namespace {

constexpr std::size_t kFirstEntries = 128;
// The replacement policy of the cache is undocumented, so twice its size is written.
constexpr std::size_t kTimesTheCache = 2;

}  // namespace

CacheFlush::CacheFlush() {
  int device = 0;
  int cache_bytes = 0;
  check_cuda(cudaGetDevice(&device), "querying the current device");
  check_cuda(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device), "querying the size of the L2 cache");
  size_bytes_ = kTimesTheCache * static_cast<std::size_t>(cache_bytes);
  if (size_bytes_ > 0) check_cuda(cudaMalloc(&memory_, size_bytes_), "allocating memory to flush the L2 cache");
}

CacheFlush::~CacheFlush() {
  if (memory_) cudaFree(memory_);
}

void CacheFlush::queue(cudaStream_t stream) {
  if (memory_) check_cuda(cudaMemsetAsync(memory_, 0, size_bytes_, stream), "flushing the L2 cache");
}

EventTimer::~EventTimer() {
  for (const std::vector<Entry>* entries : {&entries_, &captured_})
    for (const Entry& entry : *entries) {
      if (entry.begin) cudaEventDestroy(entry.begin);
      if (entry.end) cudaEventDestroy(entry.end);
    }
}

EventTimer::Entry EventTimer::make_entry() {
  Entry entry;
  check_cuda(cudaEventCreate(&entry.begin), "creating an event");
  check_cuda(cudaEventCreate(&entry.end), "creating an event");
  return entry;
}

void EventTimer::prepare() {
  begin_step();
  end_cold();
  first_captured_ = captured_.size();
  untimed_ = 0;
  last_reason_.clear();
  entries_.reserve(kFirstEntries);
  while (entries_.size() < kFirstEntries) entries_.push_back(make_entry());
}

void EventTimer::begin_phase(std::size_t phase, void* stream) {
  if (in_batch_ && used_ > 0) {
    Entry& batch = entries_[used_ - 1];
    batch.moved = batch.moved || batch.stream != static_cast<cudaStream_t>(stream);
    return;
  }
  // Create the missing events once, in the first step with this many entries.
  if (used_ == entries_.size()) entries_.push_back(make_entry());
  Entry& entry = entries_[used_++];
  entry.phase = phase;
  entry.stream = static_cast<cudaStream_t>(stream);
  entry.captured = false;
  entry.moved = false;
  entry.error = record(entry.begin, entry);
}

void EventTimer::end_phase() {
  if (used_ > 0 && !in_batch_) record_end();
}

void EventTimer::end_batch() {
  if (used_ > 0) record_end();
  in_batch_ = false;
}

void EventTimer::record_end() {
  Entry& entry = entries_[used_ - 1];
  const cudaError_t error = record(entry.end, entry);
  if (entry.error == cudaSuccess) entry.error = error;
}

void EventTimer::flush(void* stream) {
  if (!flush_) flush_.emplace();
  flush_->queue(static_cast<cudaStream_t>(stream));
}

void EventTimer::block(void* stream) {
  if (!hold_) hold_ = std::make_unique<StreamHold>();
  hold_->block(static_cast<cudaStream_t>(stream));
}

void EventTimer::end_cold() {
  hold_.reset();
  flush_.reset();
}

cudaError_t EventTimer::record(cudaEvent_t event, Entry& entry) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaError_t error = cudaStreamIsCapturing(entry.stream, &capture);
  if (error == cudaSuccess) {
    const bool capturing = capture == cudaStreamCaptureStatusActive;
    entry.captured = entry.captured || capturing;
    // In a graph, only external event records provide timestamps that the host can read after a replay.
    error = capturing ? cudaEventRecordWithFlags(event, entry.stream, cudaEventRecordExternal)
                      : cudaEventRecord(event, entry.stream);
  }
  if (error != cudaSuccess) cudaGetLastError();
  return error;
}

void EventTimer::synchronize() { check_cuda(cudaDeviceSynchronize(), "synchronizing the device"); }

bool EventTimer::is_capturing(void* stream) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &capture) == cudaSuccess &&
         capture != cudaStreamCaptureStatusNone;
}

void EventTimer::count_untimed(std::string reason) {
  ++untimed_;
  last_reason_ = std::move(reason);
}

bool EventTimer::elapsed(cudaEvent_t from, cudaEvent_t to, std::int64_t& ns) {
  float ms = 0;
  const cudaError_t error = cudaEventElapsedTime(&ms, from, to);
  if (error != cudaSuccess) {
    count_untimed(take_cuda_error(error));
    return false;
  }
  ns = std::llround(static_cast<double>(ms) * kNsPerMs);
  return true;
}

void EventTimer::take_step(std::vector<std::int64_t>& phase_ns, std::int64_t& whole_step_ns) {
  std::ranges::fill(phase_ns, std::int64_t{-1});
  whole_step_ns = -1;
  take_captured();
  const cudaEvent_t origin = used_ > 0 ? entries_.front().begin : nullptr;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  bool complete = used_ > 0;
  std::vector<std::size_t> untimed_phases;
  std::vector<Interval> entered;
  for (std::size_t i = 0; i < used_; ++i) {
    Entry& entry = entries_[i];
    std::int64_t ns = 0;
    std::int64_t begin_ns = 0;
    bool timed = entry.error == cudaSuccess && !entry.moved;
    if (!timed) count_untimed(entry.moved ? "the steps of a batch used several streams" : take_cuda_error(entry.error));
    timed = timed && elapsed(entry.begin, entry.end, ns);
    timed = timed && (entry.begin == origin || elapsed(origin, entry.begin, begin_ns));
    if (!timed || entry.phase >= phase_ns.size()) {
      untimed_phases.push_back(entry.phase);
      complete = false;
      continue;
    }
    first_ns = std::min(first_ns, begin_ns);
    last_ns = std::max(last_ns, begin_ns + ns);
    phase_ns[entry.phase] = std::max<std::int64_t>(phase_ns[entry.phase], 0) + ns;
    entered.push_back({entry.phase, begin_ns, begin_ns + ns});
  }
  if (!is_batch_) add_replayed(entered, phase_ns);
  // If an entry of a phase was not timed, the time of the phase is unknown.
  for (const std::size_t phase : untimed_phases) {
    if (phase < phase_ns.size()) phase_ns[phase] = -1;
  }
  if (complete) whole_step_ns = last_ns - first_ns;
  used_ = 0;
}

/// Moves the entries of phases that were captured in this step out of those that were run.
void EventTimer::take_captured() {
  const auto first = std::stable_partition(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(used_),
                                           [](const Entry& entry) { return !entry.captured; });
  const auto run = static_cast<std::size_t>(first - entries_.begin());
  for (; used_ > run; --used_) captured_.push_back(std::exchange(entries_[used_ - 1], make_entry()));
}

/// Adds the times of captured phases that were replayed within a phase of this step, which they interrupt.
void EventTimer::add_replayed(const std::vector<Interval>& entered, std::vector<std::int64_t>& phase_ns) {
  const auto elapsed_ns = [](cudaEvent_t from, cudaEvent_t to) -> std::optional<std::int64_t> {
    float ms = 0;
    if (cudaEventElapsedTime(&ms, from, to) == cudaSuccess) return std::llround(static_cast<double>(ms) * kNsPerMs);
    cudaGetLastError();  // the graph was never replayed
    return std::nullopt;
  };
  for (std::size_t i = first_captured_; i < captured_.size() && !entered.empty(); ++i) {
    const Entry& entry = captured_[i];
    const auto begin_ns = elapsed_ns(entries_.front().begin, entry.begin);
    const auto ns = elapsed_ns(entry.begin, entry.end);
    if (!begin_ns || !ns || entry.phase >= phase_ns.size()) continue;
    const auto outer = std::ranges::find_if(
        entered, [&](const Interval& each) { return each.begin_ns <= *begin_ns && *begin_ns <= each.end_ns; });
    if (outer == entered.end()) continue;  // replayed in an earlier step
    phase_ns[outer->phase] = std::max<std::int64_t>(phase_ns[outer->phase] - *ns, 0);
    phase_ns[entry.phase] = std::max<std::int64_t>(phase_ns[entry.phase], 0) + *ns;
  }
}

}  // namespace kymo::collect
