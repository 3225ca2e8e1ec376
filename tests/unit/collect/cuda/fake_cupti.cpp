// SPDX-License-Identifier: Apache-2.0
// Replaces the functions of CUPTI that read records, because those of CUPTI 13.2 need a driver. Like CUPTI, they know
// records by their kind and the size of its newest struct. Compiled with the headers of the version that it replaces.
#include <cupti_activity.h>
#include <cupti_version.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "unit/collect/cuda/fabricated_records.hpp"

namespace {

std::size_t size_of(CUpti_ActivityKind kind) {
  static const kymo::collect::FabricatedRecords records = kymo::collect::fabricate_records();
  const auto known = std::ranges::find(records.kinds, static_cast<std::uint32_t>(kind));
  return known == records.kinds.end() ? 0 : records.sizes[static_cast<std::size_t>(known - records.kinds.begin())];
}

}  // namespace

extern "C" {

CUptiResult CUPTIAPI cuptiGetVersion(std::uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                                CUpti_Activity** record) {
  const auto* const last = reinterpret_cast<const std::uint8_t*>(*record);
  const std::size_t at = last ? static_cast<std::size_t>(last - buffer) + size_of((*record)->kind) : 0;
  if (at + sizeof(CUpti_Activity) > valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* const next = reinterpret_cast<CUpti_Activity*>(buffer + at);
  const std::size_t bytes = size_of(next->kind);
  if (bytes == 0) return CUPTI_ERROR_INVALID_KIND;
  if (at + bytes > valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = next;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain, std::uint32_t, const char**) {
  return CUPTI_ERROR_INVALID_PARAMETER;
}
}
