// SPDX-License-Identifier: Apache-2.0
#include "cli/run_roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "cli/fit_table.hpp"
#include "cli/run_results.hpp"

namespace kymo::cli {
namespace {

constexpr std::size_t kReasons = 5;

std::string percent(const Json& share) {
  return share.is_null() ? "" : fmt::format("{:.1f} %", 100 * share.get<double>());
}

std::string rate(const Json& value) { return value.is_null() ? "" : rate_text(value.get<double>()); }

std::string operators_text(const Json& rows, const TableStyle& style) {
  TableBuilder builder(rows.size());
  const auto text = [&](const char* name) {
    return [&rows, name](std::size_t row) { return rows[row][name].is_null() ? "" : value_text(rows[row][name]); };
  };
  builder.add("#", true, 1, [](std::size_t row) { return std::to_string(row + 1); });
  builder.add("operator", false, 0, text("name"));
  builder.add("module", false, 3, text("module"));
  builder.add("phase", false, 2, text("phase"));
  builder.add("type", false, 3, text("dtype"));
  builder.add("time/step", true, 0,
              [&](std::size_t row) { return format_duration(rows[row]["time_ms"].get<double>() * 1e6); });
  builder.add("share", true, 1, [&](std::size_t row) { return percent(rows[row]["share_of_step"]); });
  builder.add("FLOP/s", true, 2, [&](std::size_t row) { return rate(rows[row]["flop_rate"]); });
  builder.add("B/s", true, 2, [&](std::size_t row) { return rate(rows[row]["byte_rate"]); });
  builder.add("of roofline", true, 0, [&](std::size_t row) { return percent(rows[row]["attained"]); });
  builder.add("verdict", false, 0, text("verdict"));
  TextTable table = builder.table();
  if (!style.wide) fit(table, style.columns);
  return render(table, style.colour) + "\n";
}

std::string reasons_text(const Json& rows) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kReasons, rows.size()); ++i) {
    const Json& row = rows[i];
    text += fmt::format("{}. {}: {}", i + 1, visible(value_text(row["name"])), value_text(row["reason"]));
    if (row["next_step"] != "") text += "; would decide: " + value_text(row["next_step"]);
    text += "\n";
  }
  return text.empty() ? "" : text + "thresholds: " + value_text(rows[0]["thresholds"]) + "\n\n";
}

std::string utilization_text(const Json& rows) {
  std::string text;
  for (const Json& row : rows) {
    if (row["mfu"].is_null()) continue;
    text += fmt::format("{}: MFU {} ({} without masked scores), HFU {} of the measured {} for {}",
                        value_text(row["phase"]), percent(row["mfu"]), percent(row["mfu_masked"]), percent(row["hfu"]),
                        rate(row["measured_peak_flop_rate"]) + "FLOP/s", value_text(row["dtype"]));
    if (!row["nominal_mfu"].is_null()) text += ", MFU " + percent(row["nominal_mfu"]) + " of the nominal peak";
    text += "\n";
  }
  return text.empty() ? "" : text + "counted: " + value_text(rows[0]["convention"]) + "\n";
}

std::string unknown_text(const Json& rows) {
  std::string text;
  for (const Json& row : rows)
    text += "unknown work: " + visible(value_text(row["name"])) + ", " + percent(row["share"]) +
            " of the operators' time\n";
  return text;
}

}  // namespace

Json roofline_of(const store::ResultsDatabase& database, std::int64_t run_id) {
  const std::string id = std::to_string(run_id);
  const std::string first = " AND rank = (SELECT min(rank) FROM op_roofline WHERE run_id = " + id +
                            ") AND pass = (SELECT max(pass) FROM op_roofline WHERE run_id = " + id + ")";
  Json roofline;
  roofline["has_work"] = !rows_of(database, "SELECT 1 FROM op_roofline WHERE run_id = " + id + " LIMIT 1").empty();
  roofline["operators"] = rows_of(
      database, "SELECT * FROM op_verdict WHERE run_id = " + id + first + " ORDER BY time_ms DESC, name LIMIT 10");
  roofline["unknown"] =
      rows_of(database, "SELECT name, sum(share_of_step) AS share FROM op_roofline WHERE run_id = " + id + first +
                            " AND kind = 'unknown' GROUP BY name ORDER BY share DESC, name");
  roofline["utilization"] =
      rows_of(database, "SELECT * FROM step_utilization WHERE run_id = " + id + " ORDER BY phase <> 'step', phase");
  return roofline;
}

std::string roofline_text(const Json& roofline, const std::string& database, const TableStyle& style) {
  if (!roofline["has_work"].get<bool>())
    return "no roofline: the run did not record the arguments of operators; run it again with --passes time,ops "
           "--trace-detail shapes\n";
  const Json& operators = roofline["operators"];
  std::string text = operators_text(operators, style) + reasons_text(operators) +
                     utilization_text(roofline["utilization"]) + unknown_text(roofline["unknown"]);
  const bool has_peaks = std::ranges::any_of(operators, [](const Json& row) { return !row["attained"].is_null(); });
  if (!has_peaks) text += "next: kymo peaks" + (database == "kymo.db" ? "" : " --db " + database) + "\n";
  return text;
}

}  // namespace kymo::cli
