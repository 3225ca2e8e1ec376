// SPDX-License-Identifier: Apache-2.0
#include "unit/collect/cuda/fabricated_records.hpp"

#include <cupti_activity.h>
#include <cupti_driver_cbid.h>
#include <cupti_version.h>

#include <cstring>

namespace kymo::collect {
namespace {

#if CUPTI_API_VERSION >= 130200
using Kernel = CUpti_ActivityKernel11;
#else
using Kernel = CUpti_ActivityKernel10;
#endif

/// A record whose fields are all garbage that no test expects, apart from those that are set afterwards.
template <typename Record>
Record garbage(CUpti_ActivityKind kind) {
  Record record;
  std::memset(static_cast<void*>(&record), 0xa5, sizeof record);
  record.kind = kind;
  return record;
}

class Buffer {
 public:
  template <typename Record>
  void add(const Record& record) {
    static_assert(sizeof(Record) % sizeof(std::uint64_t) == 0);
    const std::size_t at = records.words.size();
    records.words.resize(at + sizeof(Record) / sizeof(std::uint64_t));
    std::memcpy(&records.words[at], &record, sizeof(Record));
    records.sizes.push_back(sizeof(Record));
    records.kinds.push_back(record.kind);
  }

  FabricatedRecords records{CUPTI_API_VERSION, {}, {}, {}, {}};
};

void add_kernel(Buffer& buffer) {
  auto kernel = garbage<Kernel>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.name = "_ZN2ab6kernelIfEEvPT_";
  kernel.start = 2000;
  kernel.end = 2300;
  kernel.correlationId = 42;
  kernel.streamId = 7;
  kernel.graphNodeId = (std::uint64_t{1} << 40) + 5;
  kernel.gridX = 10;
  kernel.gridY = 2;
  kernel.gridZ = 3;
  kernel.blockX = 256;
  kernel.blockY = 4;
  kernel.blockZ = 5;
  kernel.staticSharedMemory = 1024;
  kernel.dynamicSharedMemory = 4096;
  kernel.registersPerThread = 128;
  buffer.add(kernel);
}

template <typename Record>
Record transfer(CUpti_ActivityKind kind, std::uint64_t start) {
  auto record = garbage<Record>(kind);
  record.start = start;
  record.end = start + 50;
  record.bytes = 4096 + start;
  record.correlationId = 43;
  record.streamId = 13;
  record.graphNodeId = 77;
  return record;
}

void add_transfers(Buffer& buffer) {
  auto copy = transfer<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, 2400);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  buffer.add(copy);
  auto peer = transfer<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, 2500);
  peer.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  buffer.add(peer);
  buffer.add(transfer<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 2600));
}

void add_calls(Buffer& buffer) {
  for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER}) {
    auto call = garbage<CUpti_ActivityAPI>(kind);
    call.cbid = 1'000'000;
    call.start = 2700;
    call.end = 2760;
    call.threadId = 1234;
    call.correlationId = 44;
    buffer.add(call);
  }
}

void add_waits(Buffer& buffer) {
  auto wait = garbage<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  wait.start = 2800;
  wait.end = 2900;
  wait.correlationId = 45;
  wait.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  buffer.add(wait);
  auto overhead = garbage<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  overhead.start = 3000;
  overhead.end = 3100;
  buffer.add(overhead);
}

}  // namespace

FabricatedRecords fabricate_records() {
  Buffer buffer;
  add_transfers(buffer);
  add_calls(buffer);
  add_waits(buffer);
  add_kernel(buffer);  // last, because the size of the last record is not known from the next one
#if CUPTI_API_VERSION >= 130200
  buffer.records.new_calls = {
      CUPTI_DRIVER_TRACE_CBID_cuGraphLaunchWithArguments, CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync_ptsz, CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DWithAttributesAsync,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DWithAttributesAsync_ptsz};
#endif
  return buffer.records;
}

}  // namespace kymo::collect
