// SPDX-License-Identifier: Apache-2.0
// The least that observing kernels can cost: CUPTI's records of them, which nobody reads. A library that CUDA loads if
// CUDA_INJECTION64_PATH names it; tracing_cost.py --floor does.
//   KYMO_RECORDS=kernels   records of kernels and copies (the default)
//   KYMO_RECORDS=calls     also a call at each launch that the pass trace watches, which does nothing
//   KYMO_RECORDS=graphs    also a call at each node that a graph gets, of which a step without graphs has none
//   KYMO_RECORDS=operators also a callback at each operator of LibTorch that the pass ops watches, which does nothing
#include <ATen/record_function.h>
#include <cupti.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string_view>

#include "collect/cuda/launch_calls.hpp"

namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;

void CUPTIAPI give(std::uint8_t** memory, std::size_t* bytes, std::size_t* most_records) {
  *memory = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = *memory ? kBufferBytes : 0;
  *most_records = 0;
}

void CUPTIAPI take(CUcontext, std::uint32_t, std::uint8_t* memory, std::size_t, std::size_t) { std::free(memory); }

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

bool watch_launches(CUpti_SubscriberHandle subscriber) {
  for (const kymo::collect::LaunchCall& launch : kymo::collect::launch_calls()) {
    if (launch.kind == kymo::event::LaunchKind::kMemset) continue;  // nor does the pass trace watch them unasked
    const CUptiResult result = cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launch.call);
    // A CUPTI older than the headers does not know the newest calls.
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

// Each has what is before it, too.
enum Level : std::ptrdiff_t { kKernels, kCalls, kGraphs, kOperators };
constexpr std::array<std::string_view, 4> kLevels = {"kernels", "calls", "graphs", "operators"};

bool watch(std::ptrdiff_t level) {
  CUpti_SubscriberHandle subscriber = nullptr;
  if (level >= kCalls && cuptiSubscribe(&subscriber, ignore, nullptr) != CUPTI_SUCCESS) return false;
  if (level >= kCalls && !watch_launches(subscriber)) return false;
  if (level >= kGraphs && !watch_graphs(subscriber)) return false;
  if (level >= kOperators) watch_operators();
  return true;
}

bool starts() {
  const char* const given = std::getenv("KYMO_RECORDS");
  const auto level = std::find(kLevels.begin(), kLevels.end(), given ? given : kLevels[kKernels]) - kLevels.begin();
  if (level == std::ssize(kLevels) || cuptiActivityRegisterCallbacks(give, take) != CUPTI_SUCCESS || !watch(level)) return false;
  return cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS &&
         cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS;
}

}  // namespace

/// A measurement without records would pass for one with them: rather none at all.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (starts()) return 1;
  std::fputs("kernel_records: CUPTI does not record\n", stderr);
  std::abort();
}
