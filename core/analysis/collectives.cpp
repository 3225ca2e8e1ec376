// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "analysis/derive.hpp"
#include "analysis/intervals.hpp"
#include "analysis/number_index.hpp"
#include "analysis/scope_finder.hpp"
#include "event/texts.hpp"

namespace kymo::analysis {
namespace {

using event::Activity;
using event::Collective;
using event::Trace;

/// A communication kernel and its launch time.
struct LaunchedKernel {
  std::int64_t launch_ns = 0;
  const Activity* kernel = nullptr;
};

/// By launching thread, in launch order.
using Kernels = std::map<std::uint32_t, std::vector<LaunchedKernel>>;

Kernels communication_kernels(const Trace& trace, const std::vector<bool>& is_communication) {
  NumberIndex launches(correlation_ids_of(trace.launches));
  Kernels threads;
  for (const Activity& activity : trace.activities) {
    // A graph launch is not the launch of its kernels.
    if (activity.kind != event::ActivityKind::kKernel || activity.graph_node != 0) continue;
    if (!event::is_marked(is_communication, activity.name)) continue;
    const std::uint32_t found = launches.find(activity.correlation_id);
    if (found == NumberIndex::kNone) continue;
    const event::Launch& launch = trace.launches[found];
    threads[launch.position.thread].push_back({launch.time_ns, &activity});
  }
  for (auto& [thread, kernels] : threads) {
    std::ranges::stable_sort(kernels, {}, &LaunchedKernel::launch_ns);
  }
  return threads;
}

void add_kernel(Collective& call, const Activity& kernel) {
  const std::int64_t end_ns = std::max(kernel.start_ns, kernel.end_ns);
  call.start_ns = call.kernels == 0 ? kernel.start_ns : std::min(call.start_ns, kernel.start_ns);
  call.end_ns = std::max(call.end_ns, end_ns);
  ++call.kernels;
}

/// Assigns the kernels of one thread to its calls; both are ordered by time.
void assign_kernels(const std::vector<LaunchedKernel>& kernels, const std::vector<Collective*>& calls) {
  std::vector<Collective*> group;  // calls that began without a kernel launch in between
  bool launched = false;
  auto next = calls.begin();
  for (const LaunchedKernel& each : kernels) {
    for (; next != calls.end() && (*next)->enqueue_ns <= each.launch_ns; ++next) {
      if (std::exchange(launched, false)) group.clear();
      group.push_back(*next);
    }
    for (Collective* call : group) {
      if (each.launch_ns > call->returned_ns) continue;  // the call had returned, or never did
      add_kernel(*call, *each.kernel);
      launched = true;
    }
  }
}

/// Returns either the calls on the device or the calls on the host, by thread.
std::map<std::uint32_t, std::vector<Collective*>> by_thread(std::vector<Collective>& collectives, bool on_device) {
  std::map<std::uint32_t, std::vector<Collective*>> threads;
  for (Collective& call : collectives) {
    if (call.on_device == on_device) threads[call.position.thread].push_back(&call);
  }
  for (auto& [thread, calls] : threads) {
    std::ranges::stable_sort(calls, {}, &Collective::enqueue_ns);
  }
  return threads;
}

void assign_kernels(const Kernels& kernels, std::vector<Collective>& collectives, bool on_device) {
  for (const auto& [thread, made] : by_thread(collectives, on_device)) {
    if (const auto found = kernels.find(thread); found != kernels.end()) assign_kernels(found->second, made);
  }
}

/// Counts the calls that were reported as host calls although a kernel that they launched ended after them.
std::int64_t outlived_by_kernels(const Kernels& kernels, std::vector<Collective> collectives) {
  assign_kernels(kernels, collectives, false);
  return std::ranges::count_if(collectives, [](const Collective& call) {
    return !call.on_device && call.kernels > 0 && call.end_ns > call.returned_ns;
  });
}

/// When the threads of the host were in collective calls, which nest in groups.
std::map<std::uint32_t, IntervalSet> call_times(const std::vector<Collective>& calls) {
  std::map<std::uint32_t, std::vector<Interval>> times;
  for (const Collective& call : calls)
    times[call.position.thread].push_back({call.enqueue_ns, std::max(call.enqueue_ns, call.returned_ns) + 1});
  std::map<std::uint32_t, IntervalSet> threads;
  for (auto& [thread, unsorted] : times) threads[thread] = merged(std::move(unsorted));
  return threads;
}

/// When the device could have used the results of the calls on it: the thread that needs one makes its stream wait, and
/// the next work that it queues, unless it communicates too, could start once it was queued and the work before it on
/// its stream was complete. fully_shard first copies addresses to the device, on a stream that may communicate, too.
class DeviceNeeds {
 public:
  DeviceNeeds(const Trace& trace, const std::vector<bool>& is_communication) {
    auto calls = call_times(trace.collectives);
    NumberIndex launches(correlation_ids_of(trace.launches));
    for (const Activity& activity : trace.activities) {
      const std::uint32_t found =
          activity.graph_node == 0 ? launches.find(activity.correlation_id) : NumberIndex::kNone;
      if (found == NumberIndex::kNone) continue;
      const event::Launch& launch = trace.launches[found];
      streams_[activity.stream].push_back({launch.time_ns, &activity});
      const bool communicates =
          activity.kind == event::ActivityKind::kKernel
              ? event::is_marked(is_communication, activity.name)
              : length_within_ns(calls[launch.position.thread], {launch.time_ns, launch.time_ns + 1}) > 0;
      if (!communicates) threads_[launch.position.thread].push_back({launch.time_ns, &activity});
    }
    for (Kernels* each : {&streams_, &threads_})
      for (auto& [number, launched] : *each) std::ranges::stable_sort(launched, {}, &LaunchedKernel::launch_ns);
  }

  std::int64_t of(const Collective& call) const {
    const auto thread = threads_.find(call.needed_position.thread);
    if (thread == threads_.end()) return -1;
    const auto user = std::ranges::lower_bound(thread->second, call.needed_call_ns, {}, &LaunchedKernel::launch_ns);
    if (user == thread->second.end()) return -1;
    const std::vector<LaunchedKernel>& stream = streams_.at(user->kernel->stream);
    const auto before = std::ranges::lower_bound(stream, user->launch_ns, {}, &LaunchedKernel::launch_ns);
    return before == stream.begin() ? user->launch_ns : std::max(user->launch_ns, std::prev(before)->kernel->end_ns);
  }

 private:
  Kernels streams_, threads_;
};

void find_needs(Trace& trace, const std::vector<bool>& is_communication) {
  ScopeFinder finder(trace);
  std::optional<DeviceNeeds> on_device;
  for (Collective& call : trace.collectives) {
    if (call.needed_call_ns < 0) continue;
    call.needed_position.phase = finder.phase(call.needed_position);
    if (call.needed_by == event::kNoText) call.needed_by = finder.locate(call.needed_position).scope;
    if (!call.on_device) {
      call.needed_ns = call.needed_call_ns;
    } else {
      if (!on_device) on_device.emplace(trace, is_communication);
      call.needed_ns = on_device->of(call);
    }
  }
}

void attribute_calls(Trace& trace) {
  ScopeFinder finder(trace);
  for (Collective& call : trace.collectives) {
    const ScopeAttribution attributed = finder.locate(call.position);
    call.attribution = attributed.attribution;
    call.scope = attributed.scope;
    call.position.phase = finder.phase(call.position);
    call.kernels = 0;
    call.start_ns = call.on_device ? -1 : call.enqueue_ns;
    call.end_ns = call.on_device ? -1 : call.returned_ns;
  }
}

std::vector<event::DroppedRecords> dropped_records_of(const Trace& trace, const Kernels& kernels) {
  const bool kernels_seen = std::ranges::any_of(
      trace.activities, [](const Activity& each) { return each.kind == event::ActivityKind::kKernel; });
  std::int64_t open = 0, unseen = 0;
  for (const Collective& call : trace.collectives) {
    if (call.returned_ns < 0) ++open;
    if (kernels_seen && call.returned_ns >= 0 && call.on_device && call.kernels == 0) ++unseen;
  }
  std::vector<event::DroppedRecords> dropped_records;
  add_dropped(dropped_records, "collective", open, "collective calls without an end");
  add_dropped(dropped_records, "collective", unseen,
              "collective calls without kernels: replayed by a CUDA graph, or made by a single rank");
  add_dropped(dropped_records, "collective", outlived_by_kernels(kernels, trace.collectives),
              "collective calls that were reported without a stream and ended before their kernels: their times "
              "are invalid; report queued_on() the stream");
  return dropped_records;
}

}  // namespace

std::vector<event::DroppedRecords> attribute_collectives(Trace& trace, const std::vector<bool>& is_communication) {
  if (trace.collectives.empty()) return {};
  attribute_calls(trace);
  const Kernels kernels = communication_kernels(trace, is_communication);
  assign_kernels(kernels, trace.collectives, true);
  find_needs(trace, is_communication);
  return dropped_records_of(trace, kernels);
}

}  // namespace kymo::analysis
