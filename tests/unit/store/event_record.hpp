// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::store::testing {

/// A malicious name.
inline const std::string kHostileName = "kernel<'x\"; DROP TABLE run; --\n<script>\\input{x}=cmd>";

/// make_record() with four steps (0 and 1 are warm-up) and some rows of every table that collectors fill. `first_texts`
/// are interned in order before all others, so that two records can number their texts differently. Step s starts at
/// 5000 s and takes about 1000 ns.
event::PassRecord make_event_record(const std::vector<std::string>& first_texts = {});

/// Every table of events and derived data, with the columns that do not depend on text and run IDs; `t` is the table.
struct TableContent {
  std::string table;
  std::string columns;
  std::string expected;  ///< for make_event_record()
};
std::vector<TableContent> event_contents();

}  // namespace kymo::store::testing
