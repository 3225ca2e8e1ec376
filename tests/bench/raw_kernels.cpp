// SPDX-License-Identifier: Apache-2.0
#include <cupti.h>

#include <cstring>

#include "collect/cuda/activity_parser.hpp"
#include "collect/cuda/record_sizes.hpp"
#include "collect/event_log/event_arena.hpp"
#include "training_run.hpp"

namespace kymo::bench {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::int64_t kRunStartNs = 7'000'000'000'000;
constexpr std::int64_t kClockOffsetNs = 12'345'678;

/// Buffers as delivered by CUPTI, in the arena from which a collector allocates them.
class RawKernels final : public KernelSource {
 public:
  explicit RawKernels(const TrainingRun& run) : names_(run.names()), arena_(arena_bytes(run.kernels().size())) {
    for (const TrainingRun::Kernel& kernel : run.kernels()) {
      if (buffers_.empty() || buffers_.back().bytes + kernel_bytes() > kBufferBytes)
        buffers_.push_back({arena_.take_low(kBufferBytes), 0});
      Buffer& buffer = buffers_.back();
      const CUpti_ActivityKernel10 record = record_of(kernel, run.shapes()[kernel.shape]);
      std::memcpy(buffer.memory + buffer.bytes, &record, sizeof(record));
      buffer.bytes += kernel_bytes();
    }
  }

  const char* what() const override { return "parse"; }

  void add_to(event::Trace& trace) override {
    const collect::ClockPair begin{kRunStartNs, kRunStartNs + kClockOffsetNs, 400};
    const collect::ClockPair end{kRunStartNs + 10'000'000'000, kRunStartNs + kClockOffsetNs + 10'000'000'001, 400};
    collect::ActivityParser parser(collect::ClockConversion(begin, end), kRunStartNs, trace);
    for (const Buffer& buffer : buffers_) parser.expect(bytes_of(buffer), buffer.bytes);
    for (const Buffer& buffer : buffers_) {
      parser.parse(bytes_of(buffer), buffer.bytes);
      collect::EventArena::release(buffer.memory, buffer.bytes);
    }
    trace.clock_syncs.push_back({"cupti", begin.host_ns - kRunStartNs, begin.clock_ns, begin.error_ns});
  }

 private:
  struct Buffer {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
  };

  static std::size_t kernel_bytes() { return collect::record_size(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); }
  static std::int64_t arena_bytes(std::size_t kernels) {
    return static_cast<std::int64_t>((kernels / (kBufferBytes / kernel_bytes()) + 1) * kBufferBytes);
  }
  static std::uint8_t* bytes_of(const Buffer& buffer) { return reinterpret_cast<std::uint8_t*>(buffer.memory); }

  CUpti_ActivityKernel10 record_of(const TrainingRun::Kernel& kernel, const event::LaunchShape& shape) const {
    CUpti_ActivityKernel10 record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.name = names_[kernel.name].c_str();
    record.start = static_cast<std::uint64_t>(kRunStartNs + kClockOffsetNs + kernel.start_ns);
    record.end = static_cast<std::uint64_t>(kRunStartNs + kClockOffsetNs + kernel.end_ns);
    record.correlationId = kernel.correlation_id;
    record.streamId = 7;
    record.gridX = shape.grid[0];
    record.gridY = shape.grid[1];
    record.gridZ = shape.grid[2];
    record.blockX = shape.block[0];
    record.blockY = shape.block[1];
    record.blockZ = shape.block[2];
    record.staticSharedMemory = shape.static_shared_bytes;
    record.dynamicSharedMemory = shape.dynamic_shared_bytes;
    record.registersPerThread = static_cast<std::uint16_t>(shape.registers);
    return record;
  }

  const std::vector<std::string>& names_;
  collect::EventArena arena_;
  std::vector<Buffer> buffers_;
};

}  // namespace

std::unique_ptr<KernelSource> make_kernel_source(const TrainingRun& run) { return std::make_unique<RawKernels>(run); }

}  // namespace kymo::bench
