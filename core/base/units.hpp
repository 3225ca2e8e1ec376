// SPDX-License-Identifier: Apache-2.0
// Factors between units of time. All times in kymo are in nanoseconds where nothing else is said.
#pragma once

namespace kymo {

constexpr double kNsPerS = 1e9;
constexpr double kNsPerMs = 1e6;

}  // namespace kymo
