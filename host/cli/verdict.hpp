// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "measure/comparison.hpp"

namespace kymo::cli {

/// A verdict in words, without the final period: "B is 5.1 % faster than A (95 % interval 4.2 to 6.0 %)". Percentages
/// are differences of the time of `second` relative to that of `first`.
std::string verdict_sentence(const std::string& first, const std::string& second, const measure::Comparison& found,
                             double margin);

}  // namespace kymo::cli
