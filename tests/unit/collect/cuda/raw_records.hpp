// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "collect/cuda/record_sizes.hpp"

namespace kymo::collect {

/// A buffer of activity records as filled by the CUPTI of this process, which may append fields to those of the
/// headers.
class RawRecords {
 public:
  template <typename Record>
  RawRecords& add(const Record& record) {
    const std::size_t at = bytes_;
    bytes_ += std::max(sizeof(Record), record_size(record.kind));
    words_.resize((bytes_ + 7) / 8, ~std::uint64_t{0});
    std::memcpy(buffer() + at, &record, sizeof(Record));
    return *this;
  }
  RawRecords& cut(std::size_t bytes) {
    bytes_ -= bytes;
    return *this;
  }
  std::uint8_t* buffer() { return reinterpret_cast<std::uint8_t*>(words_.data()); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::vector<std::uint64_t> words_;  // CUPTI requires eight-byte alignment
  std::size_t bytes_ = 0;
};

inline CUpti_ActivityKernel10 raw_kernel(const char* name, std::uint64_t start, std::uint64_t end,
                                         std::uint32_t correlation = 1) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = name;
  record.start = start;
  record.end = end;
  record.correlationId = correlation;
  record.streamId = 7;
  record.gridX = record.gridY = record.gridZ = 1;
  record.blockX = 32;
  record.blockY = record.blockZ = 1;
  return record;
}

inline CUpti_ActivityMemcpy6 raw_copy(CUpti_ActivityMemcpyKind kind, std::uint64_t start, std::uint64_t end,
                                      std::uint64_t bytes) {
  CUpti_ActivityMemcpy6 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = static_cast<std::uint8_t>(kind);
  record.start = start;
  record.end = end;
  record.bytes = bytes;
  record.correlationId = 2;
  record.streamId = 13;
  return record;
}

}  // namespace kymo::collect
