// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

namespace kymo::event {

/// The device that a worker used.
struct Device {
  std::string uuid;  ///< GPU UUID; for a CPU, a hash of its model and core count
  std::string kind;  ///< "cpu" or "cuda"
  std::string name;
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> multiprocessors;
  std::optional<std::int64_t> max_sm_clock_mhz;
  std::optional<std::int64_t> max_memory_clock_mhz;
  // Limits of each multiprocessor of a GPU for the blocks that it runs at a time.
  std::optional<std::int64_t> multiprocessor_threads, multiprocessor_blocks, multiprocessor_registers,
      multiprocessor_shared_bytes;
  std::optional<std::int64_t> reserved_shared_bytes;  ///< per block, by the driver
  std::int64_t index = 0;

  static auto fields(auto& m) {
    return std::forward_as_tuple(
        "uuid", m.uuid, "kind", m.kind, "name", m.name, "memory_bytes", m.memory_bytes, "multiprocessors",
        m.multiprocessors, "max_sm_clock_mhz", m.max_sm_clock_mhz, "max_memory_clock_mhz", m.max_memory_clock_mhz,
        "multiprocessor_threads", m.multiprocessor_threads, "multiprocessor_blocks", m.multiprocessor_blocks,
        "multiprocessor_registers", m.multiprocessor_registers, "multiprocessor_shared_bytes",
        m.multiprocessor_shared_bytes, "reserved_shared_bytes", m.reserved_shared_bytes, "index", m.index);
  }
};

}  // namespace kymo::event
