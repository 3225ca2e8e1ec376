// SPDX-License-Identifier: Apache-2.0
#include "report/roofline_labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace kymo::report {

bool RooflineObstacles::is_free(const LabelBox& box) const {
  return std::ranges::none_of(labels, [&box](const LabelBox& each) { return each.overlaps(box); });
}

double RooflineObstacles::marks_covered(const LabelBox& box) const {
  double cost = 0;
  for (const RooflinePicture::Circle& circle : marks) {
    const double x = circle.x - std::clamp(circle.x, box.left, box.right);
    const double y = circle.y - std::clamp(circle.y, box.top, box.bottom);
    const double depth = circle.radius + 1 - std::hypot(x, y);
    if (depth > 0) cost += 8 + 4 * depth;
  }
  return cost;
}

double RooflineObstacles::covered(const LabelBox& box) const {
  constexpr double kRoofCost = 150;
  double cost = marks_covered(box);
  for (const LabelBox& line : ceilings) {
    if (box.overlaps({line.left, line.top - 1, line.right, line.bottom + 1})) cost += kRoofCost;
  }
  for (const LabelBox& line : slopes) {
    const auto height = [&line](double x) {
      return line.top + (x - line.left) / (line.right - line.left) * (line.bottom - line.top);
    };
    const double left = std::max(box.left, line.left), right = std::min(box.right, line.right);
    if (left < right && box.overlaps({left, height(right), right, height(left)})) cost += kRoofCost;
  }
  return cost;
}

namespace {

// From the edge of the circle to the nearest point of the box.
RooflinePicture::Line leader_to(const RooflinePicture::Circle& circle, const LabelBox& box) {
  const double x = std::clamp(circle.x, box.left, box.right);
  const double y = std::clamp(circle.y, box.top + 2, box.bottom - 2);
  const double share = circle.radius / std::hypot(x - circle.x, y - circle.y);
  return {circle.x + (x - circle.x) * share, circle.y + (y - circle.y) * share, x, y, RooflinePicture::Stroke::kLeader};
}

// Small boxes along a line, without its ends.
void add_boxes_along(const RooflinePicture::Line& line, std::vector<LabelBox>& boxes) {
  constexpr int kBoxes = 12;
  for (int i = 1; i < kBoxes; ++i) {
    const double x = line.x1 + (line.x2 - line.x1) * i / kBoxes, y = line.y1 + (line.y2 - line.y1) * i / kBoxes;
    boxes.push_back({x - 1, y - 1, x + 1, y + 1});
  }
}

// Places for a label around its circle that do not cover the labels of roofs; those that cost the least first.
std::vector<LabelPlace> places_around(const RooflineObstacles& obstacles, const LabelBox& plot,
                                      const RooflinePicture::Circle& circle, double width) {
  constexpr double kHeight = kSvgFontSize + 2;
  constexpr int kDirections = 16;
  constexpr double kLeaderGap = 8;  // labels that are farther from their mark have a leader
  std::vector<LabelPlace> places;
  for (const double gap : {3.0, 14.0, 28.0, 46.0, 70.0, 100.0}) {
    for (int i = 0; i < kDirections; ++i) {
      const double angle = 2 * M_PI * i / kDirections;
      const double x = circle.x + std::cos(angle) * (circle.radius + gap + width / 2);
      const double y = circle.y + std::sin(angle) * (circle.radius + gap + kHeight / 2);
      LabelPlace place{{x - width / 2, y - kHeight / 2, x + width / 2, y + kHeight / 2}, gap, {}, {}};
      const bool inside = place.box.left >= plot.left && place.box.right <= plot.right && place.box.top >= plot.top &&
                          place.box.bottom <= plot.bottom;
      if (!inside || !obstacles.is_free(place.box)) continue;
      place.cost += obstacles.covered(place.box);
      place.taken = {place.box};
      if (gap > kLeaderGap) {
        constexpr double kCrossedLabel = 200;
        place.leader = leader_to(circle, place.box);
        add_boxes_along(*place.leader, place.taken);
        if (!std::all_of(place.taken.begin(), place.taken.end(),
                         [&obstacles](const LabelBox& each) { return obstacles.is_free(each); }))
          place.cost += kCrossedLabel;
      }
      places.push_back(std::move(place));
    }
  }
  std::ranges::stable_sort(places, [](const LabelPlace& a, const LabelPlace& b) { return a.cost < b.cost; });
  return places;
}

const LabelPlace* first_free(const std::vector<LabelPlace>& places, const std::vector<const LabelPlace*>& chosen) {
  const auto overlap = [](const LabelPlace& a, const LabelPlace& b) {
    return std::any_of(a.taken.begin(), a.taken.end(), [&b](const LabelBox& each) {
      return std::any_of(b.taken.begin(), b.taken.end(), [&](const LabelBox& other) { return each.overlaps(other); });
    });
  };
  const auto found = std::ranges::find_if(places, [&](const LabelPlace& place) {
    return std::ranges::none_of(chosen,
                                [&](const LabelPlace* other) { return other != nullptr && overlap(place, *other); });
  });
  return found == places.end() ? nullptr : &*found;
}

}  // namespace

// Each label takes the best place that earlier ones leave; of all orders, that with the least total cost counts.
std::vector<std::optional<LabelPlace>> places_of_labels(const RooflineObstacles& obstacles, const LabelBox& plot,
                                                        const std::vector<double>& widths) {
  std::vector<std::vector<LabelPlace>> places;
  for (std::size_t i = 0; i < widths.size(); ++i)
    places.push_back(places_around(obstacles, plot, obstacles.marks[i], widths[i]));
  std::vector<std::size_t> order(widths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<const LabelPlace*> best;
  double least = INFINITY;
  do {
    std::vector<const LabelPlace*> chosen(order.size());
    double cost = 0;
    for (const std::size_t i : order) {
      constexpr double kWithoutLabel = 1000;  // the caption names the mark
      chosen[i] = first_free(places[i], chosen);
      cost += chosen[i] != nullptr ? chosen[i]->cost : kWithoutLabel;
    }
    if (cost >= least) continue;
    least = cost;
    best = chosen;
  } while (std::next_permutation(order.begin(), order.end()));
  std::vector<std::optional<LabelPlace>> found;
  for (const LabelPlace* place : best) found.push_back(place != nullptr ? std::optional(*place) : std::nullopt);
  return found;
}

}  // namespace kymo::report
