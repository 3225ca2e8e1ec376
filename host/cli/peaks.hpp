// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "store/results.hpp"

namespace kymo::cli {

/// The measured peaks of a device in one line: "copy 24.1 GB/s, ..., matmul bf16 537 GFLOP/s (2026-01-02)".
std::string peaks_line(const store::ResultsDatabase& database, const std::string& device_uuid);

}  // namespace kymo::cli
