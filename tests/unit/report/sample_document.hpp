// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/build.hpp"
#include "report/document.hpp"
#include "report/result.hpp"

namespace kymo::report::testing {

/// Every kind of block once, small enough to read.
Document sample_document();

/// A document in which every text is one of the hostile names.
Document hostile_document();

Chart sample_chart(ChartKind kind);

/// The pictures that a report with this one chart makes of what its query finds.
std::vector<Chart> built_charts(const ChartSpec& spec, const Result& found);

}  // namespace kymo::report::testing
