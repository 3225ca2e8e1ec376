// SPDX-License-Identifier: Apache-2.0
#include "report/picture_notes.hpp"

#include "base/text.hpp"
#include "report/area.hpp"
#include "report/timeline_picture.hpp"

namespace kymo::report {

std::string picture_notes(const Chart& chart) {
  if (chart.kind == ChartKind::kTimeline) return join(timeline_picture(chart, kTimelinePlotPx).notes, " ");
  return chart.kind == ChartKind::kArea ? join(area_picture(chart).notes, " ") : "";
}

std::string picture_caption(const Chart& chart) {
  const std::string notes = picture_notes(chart);
  return notes.empty() ? chart.caption : chart.caption + " " + notes;
}

}  // namespace kymo::report
