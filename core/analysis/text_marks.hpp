// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// Whether a text is marked, of marks by number; texts beyond the last mark are not.
inline bool is_marked(const std::vector<bool>& marks, event::TextId text) { return text < marks.size() && marks[text]; }

}  // namespace kymo::analysis
