// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/record_sizes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kymo::collect {
namespace {

struct UsedKind {
  CUpti_ActivityKind kind;
  std::size_t read_bytes;  ///< of the struct that its records are read as
};

constexpr std::array kUsedKinds{
    UsedKind{CUPTI_ACTIVITY_KIND_KERNEL, sizeof(CUpti_ActivityKernel10)},
    UsedKind{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(CUpti_ActivityKernel10)},
    UsedKind{CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(CUpti_ActivityMemcpy6)},
    UsedKind{CUPTI_ACTIVITY_KIND_MEMCPY2, sizeof(CUpti_ActivityMemcpyPtoP4)},
    UsedKind{CUPTI_ACTIVITY_KIND_MEMSET, sizeof(CUpti_ActivityMemset4)},
    UsedKind{CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(CUpti_ActivityAPI)},
    UsedKind{CUPTI_ACTIVITY_KIND_DRIVER, sizeof(CUpti_ActivityAPI)},
    UsedKind{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(CUpti_ActivitySynchronization2)},
    UsedKind{CUPTI_ACTIVITY_KIND_OVERHEAD, sizeof(CUpti_ActivityOverhead3)},
};
constexpr std::size_t kAllKinds = CUPTI_ACTIVITY_KIND_COUNT;

/// CUPTI has no function for the size of a record, but finds the next record in a buffer by it. Each word of this
/// buffer is the kind, so that a record of it begins wherever CUPTI looks for one.
std::size_t measured_size(CUpti_ActivityKind kind) {
  alignas(std::uint64_t) std::array<std::uint32_t, 1024> words;
  words.fill(static_cast<std::uint32_t>(kind));
  auto* const buffer = reinterpret_cast<std::uint8_t*>(words.data());
  CUpti_Activity* record = nullptr;
  for (int i = 0; i < 2; ++i)
    if (cuptiActivityGetNextRecord(buffer, sizeof(words), &record) != CUPTI_SUCCESS) return 0;
  return static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(record) - buffer);
}

std::array<std::size_t, kAllKinds> measured_sizes() {
  std::array<std::size_t, kAllKinds> sizes{};
  for (const UsedKind& used : kUsedKinds) {
    const std::size_t bytes = measured_size(used.kind);
    if (bytes >= used.read_bytes) sizes[used.kind] = bytes;
  }
  return sizes;
}

}  // namespace

std::size_t record_size(CUpti_ActivityKind kind) {
  static const std::array<std::size_t, kAllKinds> sizes = measured_sizes();
  return static_cast<std::size_t>(kind) < sizes.size() ? sizes[kind] : 0;
}

}  // namespace kymo::collect
