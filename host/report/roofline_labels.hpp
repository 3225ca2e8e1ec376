// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "report/roofline_picture.hpp"

/// Where the labels of a roofline chart are, so that they cover little of it. All positions are in pixels; y points
/// down.
namespace kymo::report {

struct LabelBox {
  double left = 0, top = 0, right = 0, bottom = 0;

  bool overlaps(const LabelBox& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// What labels should not cover.
struct RooflineObstacles {
  std::vector<LabelBox> slopes;  ///< lines from the lower left to the upper right end
  std::vector<LabelBox> ceilings;
  std::vector<LabelBox> labels;  ///< of roofs
  std::vector<RooflinePicture::Circle> marks;

  bool is_free(const LabelBox& box) const;
  /// Grows with the number of covered marks and how much of them is covered.
  double marks_covered(const LabelBox& box) const;
  /// The same with the lines of roofs.
  double covered(const LabelBox& box) const;
};

struct LabelPlace {
  LabelBox box;
  double cost = 0;
  std::optional<RooflinePicture::Line> leader;
  std::vector<LabelBox> taken;  ///< by the label and its leader
};

/// Places for the labels of the first marks within `plot`; empty for those without room. `widths` are those of the
/// labels.
std::vector<std::optional<LabelPlace>> places_of_labels(const RooflineObstacles& obstacles, const LabelBox& plot,
                                                        const std::vector<double>& widths);

}  // namespace kymo::report
