// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "measure/status_page.hpp"

namespace kymo::supervisor {

/// A call as sentences name it: "all_reduce 3 of communicator 'world' (4.00 KiB)".
std::string describe(const measure::BegunCollective& call);

/// Says which collective call a rank that failed or hangs did not join, and which ranks began it: "rank 1 did not join
/// all_reduce 3 of communicator 'world' (4.00 KiB), in which rank 0 and rank 2 are"; empty if none is known. If there
/// are several, the one that another rank began first. A rank belongs to a communicator if it has begun another call of
/// it, or if all other ranks have begun this one. `status_of` returns what is visible of a rank.
std::string missing_collective(int rank, int ranks,
                               const std::function<std::optional<measure::WorkerStatus>(int)>& status_of);

}  // namespace kymo::supervisor
