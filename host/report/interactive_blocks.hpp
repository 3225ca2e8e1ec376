// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "report/chart.hpp"
#include "report/json_text.hpp"

namespace kymo::report {

inline constexpr std::size_t kMaxInteractiveBlocks = 100'000;

/// Writes the memory blocks and segments of an area chart as members of the object that is open.
void write_memory(JsonText& json, const Chart& chart, double origin);

}  // namespace kymo::report
