// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/document.hpp"

namespace kymo::report {

struct Tick {
  double value = 0;
  std::string label;  ///< ASCII, or with U+202F between groups of digits; empty: grid line without a label
};

/// An axis with its selected range.
struct ScaledAxis {
  Scale scale = Scale::kLinear;
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks;

  /// Position of a value in 0 … 1; values outside the range are clamped.
  double position(double value) const;
};

/// About `target` ticks at 1, 2 or 5 times a power of ten that enclose the range.
std::vector<double> linear_ticks(double low, double high, int target);

/// Powers of ten that enclose the range, and their multiples by 2 and 5 if the range is below three decades. Requires 0
/// < low ≤ high.
std::vector<double> log_ticks(double low, double high);

/// Powers of two that enclose the range, every `stride`-th of them so that there are at most about eight. Requires 0 <
/// low ≤ high.
std::vector<double> binary_ticks(double low, double high);

/// The value axis of a chart. Bars and areas start at zero on a linear scale; lines do if their values differ by more
/// than a fifth. A log scale falls back to linear if no value is positive. With a reference line, the axis ends shortly
/// above it or the highest value.
ScaledAxis value_axis(const Chart& chart);

/// The x axis of a chart without categories. If there are few points, the ticks are at the points. Where all of at
/// least three are powers of two, the ticks are too, and a scale `auto` is logarithmic.
ScaledAxis point_axis(const Chart& chart);

/// A run status to print at the position of a missing bar.
struct StateLabel {
  double x = 0;
  double offset = 0;  ///< offset from the center of the group, in bar widths
  std::string text;
};
/// One label per missing bar; one per group if all of its bars are missing for the same reason.
std::vector<StateLabel> state_labels(const Chart& chart);

/// Formats a number for an axis: grouped by U+202F, with an exponent if it is very large or small.
std::string tick_label(double value);

/// Every so many of the ticks have labels, so that these do not touch on an axis of this width. Widths and the size of
/// the font have the same unit.
std::size_t label_stride(const ScaledAxis& axis, double width, double font_size);

/// "time (ms)".
std::string axis_heading(const Axis& axis);

/// "peak of the device (3 350 GB/s)": title and value of the reference line, shortened if they are too long for a
/// legend; empty without a reference line.
std::string reference_line_label(const Chart& chart);

}  // namespace kymo::report
