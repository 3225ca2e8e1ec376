// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstdint>
#include <optional>

#include "event/collective.hpp"

namespace kymo::worker {

/// A collective call as a workload reports it.
struct ReportedCollective {
  std::optional<event::CollectiveOperation> operation;  ///< empty if this version of kymo does not know it
  bool is_library_calls = false;                        ///< no call itself, see KYMO_LIBRARY_CALLS
  const char* communicator = nullptr;                   ///< may be nullptr
  std::optional<std::int64_t> sequence;                 ///< empty if the plugin's struct has no such field
  std::int64_t bytes = 0;
  bool on_device = false;
};

/// Reads the struct of a plugin, which lacks its last fields if it was compiled with an earlier version. `call` may be
/// nullptr, which has no operation.
ReportedCollective reported_collective(const kymo_collective* call);

}  // namespace kymo::worker
