// SPDX-License-Identifier: Apache-2.0
#include "store/launch_order.hpp"

#include <string>

#include "base/text.hpp"
#include "store/rank_import.hpp"

namespace kymo::store {
namespace {

constexpr const char* kPass = "counters";
constexpr const char* kSource = "hardware counters";

// Of each pass without a step that agrees, the first one.
constexpr const char* kDifferences =
    "SELECT rank, pass, min(step), launches, counted, first_difference, name, counted_name FROM main.launch_match "
    "WHERE run_id = ? GROUP BY rank, pass HAVING max(launches = counted AND first_difference IS NULL) = 0";

std::string name_or_none(const std::string& name) { return name.empty() ? "none" : quote(name); }

}  // namespace

void compare_launch_order(const Connection& results, std::int64_t run_id) {
  Statement counted(results, "SELECT 1 FROM main.kernel_count WHERE run_id = ? LIMIT 1");
  if (!counted.bind(1, run_id).step()) return;
  Statement differences(results, kDifferences);
  differences.bind(1, run_id);
  while (differences.step()) {
    const std::string pass = differences.text(1);
    const std::string numbers = differences.integer(3) == differences.integer(4)
                                    ? ""
                                    : " (" + differences.text(3) + " kernels instead of " + differences.text(4) + ")";
    const std::string where = differences.is_null(5)
                                  ? ""
                                  : ": kernel " + differences.text(5) + " is " + name_or_none(differences.text(6)) +
                                        " instead of " + name_or_none(differences.text(7));
    add_dropped_records(results, run_id, static_cast<int>(differences.integer(0)), kPass, kSource,
                        differences.integer(4),
                        "counts of kernels have no modules and times of the pass " + pass +
                            ", which launched other kernels in step " + differences.text(2) + numbers + where);
  }
}

}  // namespace kymo::store
