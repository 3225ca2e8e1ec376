// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/document.hpp"

/// Stacked area charts for static pictures.
namespace kymo::report {

/// The curves of an area chart, sampled at common positions.
struct AreaLayers {
  std::vector<double> x;  ///< ascending
  std::vector<std::vector<double>>
      values;  ///< per series, the value at each position; missing points repeat the previous value
};
AreaLayers area_layers(const Chart& chart);

/// Reduces the layers to at most `most` equidistant positions; each gets the values with the highest sum in its
/// interval.
AreaLayers max_of_intervals(const AreaLayers& layers, std::size_t most);

/// An area chart ready to draw: every series has a value at every position, positions and values are in display units,
/// and bands too narrow for a label have none.
struct AreaPicture {
  Chart chart;
  std::vector<std::string> notes;  ///< sentences about what the picture omits
};
AreaPicture area_picture(const Chart& chart);

/// Corner points of one stacked series of a picture, in axis units: along the top, then back along the bottom.
std::vector<std::pair<double, double>> area_corners(const Chart& picture, std::size_t series);

/// A display unit and its size in raw units.
struct ShownUnit {
  std::string name;
  double size = 1;
};
/// Selects ns, µs, ms or s: the largest unit that is not larger than the span.
ShownUnit time_unit(double span_ns);
/// The same for B, KiB, MiB, GiB or TiB.
ShownUnit byte_unit(double largest_bytes);

}  // namespace kymo::report
