// SPDX-License-Identifier: Apache-2.0
// The least that observing kernels can cost: CUPTI's records of them, which nobody reads. A library that CUDA loads if
// CUDA_INJECTION64_PATH names it; tracing_cost.py --floor does.
//   KYMO_RECORDS=kernels   records of kernels and copies (the default)
//   KYMO_RECORDS=calls     also a call at each launch, which does nothing
#include <cupti.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::array kLaunches = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                                  CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2};

void CUPTIAPI give(std::uint8_t** memory, std::size_t* bytes, std::size_t* most_records) {
  *memory = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = *memory ? kBufferBytes : 0;
  *most_records = 0;
}

void CUPTIAPI take(CUcontext, std::uint32_t, std::uint8_t* memory, std::size_t, std::size_t) { std::free(memory); }

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

bool starts() {
  if (cuptiActivityRegisterCallbacks(give, take) != CUPTI_SUCCESS) return false;
  const char* asked = std::getenv("KYMO_RECORDS");
  if (asked && std::strcmp(asked, "calls") == 0) {
    CUpti_SubscriberHandle subscriber = nullptr;
    if (cuptiSubscribe(&subscriber, ignore, nullptr) != CUPTI_SUCCESS) return false;
    for (const CUpti_CallbackId call : kLaunches)
      if (cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call) != CUPTI_SUCCESS) return false;
  }
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
