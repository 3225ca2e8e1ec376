// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/build.hpp"
#include "report/document.hpp"
#include "report/result.hpp"

namespace kymo::report::testing {

/// One block of every kind, small enough to read.
Document sample_document();

/// A document in which every text is a hostile name.
Document hostile_document();

Chart sample_chart(ChartKind kind);

/// The charts that a report with this one chart builds from its query result.
std::vector<Chart> built_charts(const ChartSpec& spec, const Result& found);

/// A cell of a query result.
ResultCell cell(std::int64_t value);
ResultCell cell(double value);
ResultCell cell(const std::string& text);
inline ResultCell cell(int value) { return cell(static_cast<std::int64_t>(value)); }
inline ResultCell cell(const char* text) { return cell(std::string(text)); }
inline ResultCell cell(std::nullptr_t) { return {}; }

template <typename... Values>
std::vector<ResultCell> row(const Values&... values) {
  return {cell(values)...};
}

/// A bar of the first lane and class.
TimelineBar bar(std::int64_t start_ns, std::int64_t end_ns, std::uint32_t lane = 0, std::uint32_t bar_class = 0);

/// A timeline of these bars in lanes "lane 0" … and classes "class 0" …
Timeline timeline_of(const std::vector<TimelineBar>& bars);

/// Two streams, a lane of phases and one of nested scopes, small enough to read.
Chart sample_timeline();

/// Two panels with the same lanes, of which the second one ends earlier: in one, communication follows backward; in the
/// other, it overlaps it.
Chart sample_panels();

/// Two runs, the first with two ranks and two steps, with calls that launched kernels, and a counter.
Chart sample_runs();

/// Three memory curves with two bands and their blocks.
Chart sample_memory();

/// The roofline that builds from rows of the columns label, class, flops, bytes, ms and detail, and label, kind and
/// rate.
Chart roofline_of(const std::vector<std::vector<ResultCell>>& marks, const std::vector<std::vector<ResultCell>>& roofs);

/// A ceiling of 100 GFLOP/s and a memory of 10 GB/s above a matrix product, an addition, a copy and unknown work.
Chart sample_roofline();

/// Interactive charts and rooflines with hostile names only.
Document hostile_timelines();

}  // namespace kymo::report::testing
