// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/document.hpp"

namespace kymo::report {

struct Tick {
  double value = 0;
  std::string label;  ///< ASCII, or with U+202F between groups of digits; empty: a line without a label
};

/// An axis with its range chosen.
struct ScaledAxis {
  Scale scale = Scale::kLinear;
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks;

  /// Position of a value in 0 … 1; values outside the range are moved to its edge.
  double position(double value) const;
};

/// Ticks at 1, 2 or 5 times a power of ten, about `target` of them, that enclose the range.
std::vector<double> linear_ticks(double low, double high, int target);

/// Powers of ten that enclose the range; also their 2- and 5-fold where the range is below three decades. Needs 0 < low
/// ≤ high.
std::vector<double> log_ticks(double low, double high);

/// The value axis of a chart. Bars and areas start at zero on a linear scale; a log scale is refused (falls back to
/// linear) if nothing is above zero.
ScaledAxis value_axis(const Chart& chart);

/// The x axis of a chart without categories: ticks at the points themselves where they are few.
ScaledAxis point_axis(const Chart& chart);

/// A state to be written where a bar would stand.
struct StateLabel {
  double x = 0;
  double offset = 0;  ///< from the middle of the group, in widths of a bar
  std::string text;
};
/// One per missing bar; one per group if all of its bars are missing for the same reason.
std::vector<StateLabel> state_labels(const Chart& chart);

/// A number on an axis: grouped by U+202F, with an exponent where it is very large or small.
std::string tick_label(double value);

/// "time (ms)".
std::string axis_heading(const Axis& axis);

/// "peak of the device (3 350 GB/s)": the roof's title with its value, cut where they are too long for a legend; empty
/// without a roof.
std::string roof_label(const Chart& chart);

}  // namespace kymo::report
