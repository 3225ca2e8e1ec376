// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// Returns true if a string id is marked. Ids beyond the end of `marks` are not.
inline bool is_marked(const std::vector<bool>& marks, event::TextId text) { return text < marks.size() && marks[text]; }

}  // namespace kymo::analysis
