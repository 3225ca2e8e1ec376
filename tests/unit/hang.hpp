// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace kymo {

/// The limit of waits in tests. It ends a test that hangs; nothing that a test waits for takes a tenth of it on two
/// idle processors.
inline constexpr std::chrono::seconds kHang{600};
inline constexpr double kHang_s = kHang.count();

}  // namespace kymo
