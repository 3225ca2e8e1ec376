// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace kymo::report::testing
