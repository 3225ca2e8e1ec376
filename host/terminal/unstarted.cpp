// SPDX-License-Identifier: Apache-2.0
#include "terminal/unstarted.hpp"

namespace kymo::terminal {

std::string unstarted_lines(const store::ResultsDatabase& database, const UnstartedFilter& filter) {
  std::string lines;
  const auto found = database.query(
      "SELECT invocation_id, count(*), reason, is_running FROM unstarted_run WHERE (:label = '' OR label = :label) "
      "AND (:workload = '' OR workload = :workload)" +
          (filter.invocation ? " AND invocation_id = " + std::to_string(*filter.invocation) : "") +
          " GROUP BY invocation_id ORDER BY invocation_id DESC",
      {{"label", filter.label}, {"workload", filter.workload}});
  for (const auto& row : found.rows) {
    const std::int64_t runs = row.at(1).integer;
    lines += "invocation " + std::to_string(row.at(0).integer) + ": " + std::to_string(runs) +
             (runs == 1 ? " planned run was" : " planned runs were") + " not started: " + row.at(2).text;
    if (row.at(3).integer == 0)
      lines += std::string("; the same command with --resume starts ") + (runs == 1 ? "it" : "them");
    lines += "\n";
  }
  return lines;
}

}  // namespace kymo::terminal
