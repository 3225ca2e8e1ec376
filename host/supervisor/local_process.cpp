// SPDX-License-Identifier: Apache-2.0
#include "supervisor/local_process.hpp"

#include <unistd.h>

#include <array>
#include <utility>

#include "base/machine.hpp"

namespace kymo::supervisor {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

LocalProcess::LocalProcess(boost::asio::io_context& loop, const SpawnOptions& options, ProcessReaper& reaper,
                           const LocalPlacement& placement)
    : process_(loop, options, reaper), placement_(placement), kernel_kills_before_(kernel_out_of_memory_kills()) {}

void LocalProcess::localize(measure::protocol::Assignment& assignment) const {
  assignment.local_rank = placement_.local_rank;
  assignment.device_index = placement_.device_index;
}

void LocalProcess::begin_pass(std::int64_t, measure::Pass) { kernel_kills_before_ = kernel_out_of_memory_kills(); }

std::optional<WorkerEnd> LocalProcess::poll_end() {
  if (end_) return end_;
  if (const auto end = process_.poll_end())
    end_ = WorkerEnd{*end, kernel_out_of_memory_kills() > kernel_kills_before_, process_.last_line(), ""};
  return end_;
}

std::optional<RankProcess::MemoryUse> LocalProcess::memory_use(std::int64_t bound_bytes) {
  const auto bytes = resident_bytes(process_.worker_pid());
  if (!bytes) return std::nullopt;
  const bool exceeds = bound_bytes > 0 && *bytes > bound_bytes;
  return MemoryUse{*bytes, exceeds ? available_host_bytes() : std::nullopt};
}

ProcessOutput LocalProcess::take_output() { return process_.take_output(); }

}  // namespace kymo::supervisor
