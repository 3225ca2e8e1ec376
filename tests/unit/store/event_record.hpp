// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::store::testing {

/// A name as an enemy would choose it.
inline const std::string kHostileName = "kernel<'x\"; DROP TABLE run; --\n<script>\\input{x}=cmd>";

/// make_record() with four steps (0 and 1 warm-up) and some rows of every table that collectors fill. The texts are
/// interned in the order of `first_texts` before all others, so that two records can number them differently. Step s
/// lasts from 5000 s for about 1000 ns.
event::PassRecord make_event_record(const std::vector<std::string>& first_texts = {});

/// Every table of events and of what is derived from them with columns that do not depend on the numbers of texts and
/// runs; `t` is the table.
struct TableContent {
  std::string table;
  std::string columns;
  std::string expected;  ///< for make_event_record()
  int since = 2;         ///< schema that brought the table
};
std::vector<TableContent> event_contents();

}  // namespace kymo::store::testing
