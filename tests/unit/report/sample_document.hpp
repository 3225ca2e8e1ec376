// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report::testing {

/// Every kind of block once, small enough to read.
Document sample_document();

/// A document in which every text is one of the hostile names.
Document hostile_document();

Chart sample_chart(ChartKind kind);

}  // namespace kymo::report::testing
