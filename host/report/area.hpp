// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/document.hpp"

/// Stacked areas as pictures that cannot be zoomed show them.
namespace kymo::report {

/// The curves of an area chart over common positions.
struct AreaLayers {
  std::vector<double> x;  ///< ascending
  std::vector<std::vector<double>>
      values;  ///< of each series at each position; what is absent holds the value before it
};
AreaLayers area_layers(const Chart& chart);

/// At most `most` positions, evenly apart: each has the values of the highest sum between it and the next.
AreaLayers highest_of_stretches(const AreaLayers& layers, std::size_t most);

/// An area chart ready to be drawn: every series has a value at every position, positions and values are in the unit of
/// their axis, and bands too narrow for their names have none.
struct AreaPicture {
  Chart chart;
  std::vector<std::string> notes;  ///< sentences on what the picture leaves out
};
AreaPicture area_picture(const Chart& chart);

/// Corners of the stacked steps of one series of a picture, in axis units: along the top, and back along the bottom.
std::vector<std::pair<double, double>> area_corners(const Chart& picture, std::size_t series);

/// A unit and how much of the raw one it holds.
struct ShownUnit {
  std::string name;
  double size = 1;
};
/// ns, µs, ms or s: the largest of which the span holds at least one.
ShownUnit time_unit(double span_ns);
/// B, KiB, MiB, GiB or TiB likewise.
ShownUnit byte_unit(double largest_bytes);

}  // namespace kymo::report
