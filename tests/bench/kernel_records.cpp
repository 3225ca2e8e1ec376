// SPDX-License-Identifier: Apache-2.0
// Lower bound of the cost of tracing kernels: CUPTI's kernel records, which nothing reads. CUDA loads this library if
// CUDA_INJECTION64_PATH names it; tracing_cost.py --floor does so.
//   KYMO_RECORDS=kernels   records of kernels and copies (the default)
//   KYMO_RECORDS=calls     also an empty callback at each launch that the trace pass observes
//   KYMO_RECORDS=graphs    also a callback at each node added to a graph; a step without graphs has none
//   KYMO_RECORDS=operators also an empty callback at each LibTorch operator that the ops pass observes
//   KYMO_RECORDS=log       as graphs, and each launch is recorded in kymo's launch log: the trace pass without
//                          scopes and nodes
#include <ATen/record_function.h>
#include <cupti.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "collect/cuda/launch_calls.hpp"
#include "collect/event_log/event_arena.hpp"
#include "collect/event_log/launch_log.hpp"

namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;

void CUPTIAPI give(std::uint8_t** memory, std::size_t* bytes, std::size_t* most_records) {
  *memory = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = *memory ? kBufferBytes : 0;
  *most_records = 0;
}

void CUPTIAPI take(CUcontext, std::uint32_t, std::uint8_t* memory, std::size_t, std::size_t) { std::free(memory); }

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

void CUPTIAPI note(void* log, CUpti_CallbackDomain domain, CUpti_CallbackId call, const void* detail) {
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  auto& launches = *static_cast<kymo::collect::LaunchLog*>(log);
  const auto* launch = static_cast<const CUpti_CallbackData*>(detail);
  if (launch->callbackSite != CUPTI_API_ENTER) return launches.close();
  launches.append(launch->correlationId, kymo::collect::kind_of_launch(call));
}

/// Never destroyed: CUDA may launch kernels until the process ends.
kymo::collect::LaunchLog& launch_log() {
  static auto* const arena = new kymo::collect::EventArena(std::int64_t{512} << 20);
  static const kymo::collect::ExecutionContext nobody;
  static auto* const log = new kymo::collect::LaunchLog(*arena, nobody, 0);
  arena->warm(0, std::size_t{64} << 20);
  return *log;
}

bool watch_launches(CUpti_SubscriberHandle subscriber) {
  std::uint32_t version = 0;
  if (cuptiGetVersion(&version) != CUPTI_SUCCESS) return false;
  for (const kymo::collect::LaunchCall& launch : kymo::collect::launch_calls(version)) {
    // the trace pass does not observe them by default either
    if (launch.kind == kymo::event::LaunchKind::kMemset) continue;
    const CUptiResult result = cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launch.call);
    // A CUPTI older than the headers does not know the newest API calls.
    if (result != CUPTI_SUCCESS && launch.call == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) return false;
  }
  return true;
}

bool watch_graphs(CUpti_SubscriberHandle subscriber) {
  for (const CUpti_CallbackId call : {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED})
    if (cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, call) != CUPTI_SUCCESS) return false;
  return true;
}

void watch_operators() {
  at::RecordFunctionCallback callback([](const at::RecordFunction&) { return std::unique_ptr<at::ObserverContext>(); },
                                      [](const at::RecordFunction&, at::ObserverContext*) {});
  at::addGlobalCallback(callback.scopes({at::RecordScope::FUNCTION}));
}

struct Level {
  std::string_view name;
  bool calls = false;
  bool graphs = false;
  bool operators = false;
  bool log = false;
};
constexpr std::array<Level, 5> kLevels = {{{"kernels"},
                                           {"calls", true},
                                           {"graphs", true, true},
                                           {"operators", true, true, true},
                                           {"log", true, true, false, true}}};

bool watch(const Level& level) {
  CUpti_SubscriberHandle subscriber = nullptr;
  if (!level.calls) return true;
  const CUptiResult subscribed =
      level.log ? cuptiSubscribe(&subscriber, note, &launch_log()) : cuptiSubscribe(&subscriber, ignore, nullptr);
  if (subscribed != CUPTI_SUCCESS || !watch_launches(subscriber)) return false;
  if (level.graphs && !watch_graphs(subscriber)) return false;
  if (level.operators) watch_operators();
  return true;
}

bool starts() {
  const char* const given = std::getenv("KYMO_RECORDS");
  const std::string_view asked = given ? given : kLevels[0].name;
  const auto level =
      std::find_if(kLevels.begin(), kLevels.end(), [&](const Level& each) { return each.name == asked; });
  if (level == kLevels.end() || cuptiActivityRegisterCallbacks(give, take) != CUPTI_SUCCESS || !watch(*level))
    return false;
  return cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS &&
         cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS;
}

}  // namespace

/// Abort instead of returning an error: a measurement without records must not pass for one with records.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (starts()) return 1;
  std::fputs("kernel_records: CUPTI cannot record kernels\n", stderr);
  std::abort();
}
