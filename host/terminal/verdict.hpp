// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"
#include "measure/comparison.hpp"
#include "measure/step_statistic.hpp"

namespace kymo::terminal {

/// A verdict in words, without the final period, as measure::ratio_text() states the ratio: "B is 5.1 % faster than A
/// by the median step (95 % interval 4.2 to 6.0 %)", "B takes 2.50 times as long as A by the mean step (95 %
/// interval 2.30 to 2.70 times)". `statistic` of `time` is what was compared.
std::string verdict_sentence(const std::string& first, const std::string& second, const measure::Comparison& found,
                             double margin, measure::StepStatistic statistic, const std::string& time = "step");

/// Sets the members ratio, ratio_low, ratio_high, probability, verdict and more_runs; all are null without a
/// comparison.
void put_comparison(Json& row, const std::optional<measure::Comparison>& found);

}  // namespace kymo::terminal
