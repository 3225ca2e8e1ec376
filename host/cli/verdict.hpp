// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"
#include "measure/comparison.hpp"

namespace kymo::cli {

/// A verdict in words, without the final period: "B is 5.1 % faster than A (95 % interval 4.2 to 6.0 %)". Percentages
/// are differences of the time of `second` relative to that of `first`.
std::string verdict_sentence(const std::string& first, const std::string& second, const measure::Comparison& found,
                             double margin);

/// Sets the members ratio, ratio_low, ratio_high, probability, verdict and more_runs; all are null without a
/// comparison.
void put_comparison(Json& row, const std::optional<measure::Comparison>& found);

/// Cells of a table: a number, or the interval of such an object, with three decimals; "-" for null.
std::string fixed_or_dash(const Json& value);
std::string interval_or_dash(const Json& row);

}  // namespace kymo::cli
