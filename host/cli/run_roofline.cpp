// SPDX-License-Identifier: Apache-2.0
#include "cli/run_roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "cli/fit_table.hpp"
#include "cli/option_text.hpp"
#include "cli/run_results.hpp"

namespace kymo::cli {
namespace {

constexpr std::size_t kRows = 10, kReasons = 5;

std::string rate(const Json& value) { return value.is_null() ? "" : rate_text(value.get<double>()); }

/// The columns of operators and kernels: what it is, its time, `results`, and the verdict.
std::string rows_text(const Json& rows, const char* title, const char* name,
                      const std::function<void(TableBuilder&)>& results, const TableStyle& style) {
  if (rows.empty()) return "";
  TableBuilder builder(rows.size());
  const auto text = [&](const char* column) {
    return
        [&rows, column](std::size_t row) { return rows[row][column].is_null() ? "" : value_text(rows[row][column]); };
  };
  builder.add("#", true, 1, [](std::size_t row) { return std::to_string(row + 1); });
  builder.add(title, false, 0, text(name));
  builder.add("module", false, 3, text("module"));
  builder.add("phase", false, 2, text("phase"));
  builder.add("type", false, 3, text("dtype"));
  builder.add("time/step", true, 0,
              [&](std::size_t row) { return format_duration(rows[row]["time_ms"].get<double>() * 1e6); });
  builder.add("share", true, 1, [&](std::size_t row) { return percent_text(rows[row]["share_of_step"]); });
  results(builder);
  builder.add("of roofline", true, 0, [&](std::size_t row) { return percent_text(rows[row]["attained"]); });
  builder.add("verdict", false, 0, text("verdict"));
  return table_text(builder.table(), style) + "\n";
}

std::string operators_text(const Json& rows, bool per_rank, const TableStyle& style) {
  const auto rates = [&](TableBuilder& builder) {
    builder.add(rate_title("FLOP/s", per_rank), true, 2, [&](std::size_t row) { return rate(rows[row]["flop_rate"]); });
    builder.add(rate_title("B/s", per_rank), true, 2, [&](std::size_t row) { return rate(rows[row]["byte_rate"]); });
  };
  return rows_text(rows, "operator", "name", rates, style);
}

std::string kernels_text(const Json& rows, const TableStyle& style) {
  const auto launches = [&](TableBuilder& builder) {
    builder.add("calls/step", true, 3,
                [&](std::size_t row) { return fmt::format("{:.4g}", rows[row]["calls"].get<double>()); });
    builder.add("waves", true, 2, [&](std::size_t row) {
      const Json& waves = rows[row]["waves"];
      return waves.is_null() ? "" : fmt::format("{:.3g}", waves.get<double>());
    });
    builder.add("warps", true, 2, [&](std::size_t row) { return percent_text(rows[row]["active_occupancy"]); });
  };
  return rows_text(rows, "kernel", "short_name", launches, style);
}

std::string reasons_text(const Json& rows, const char* name) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kReasons, rows.size()); ++i) {
    const Json& row = rows[i];
    text += fmt::format("{}. {}: {}", i + 1, visible(value_text(row[name])), value_text(row["reason"]));
    if (row["next_step"] != "") text += "; would decide: " + value_text(row["next_step"]);
    text += "\n";
  }
  return text.empty() ? "" : text + "thresholds: " + value_text(rows[0]["thresholds"]) + "\n\n";
}

std::string utilization_text(const Json& rows) {
  std::string text;
  for (const Json& row : rows) {
    if (row["mfu"].is_null()) continue;
    text +=
        fmt::format("{}: MFU {} ({} without masked scores), HFU {} of the measured {} for {}", value_text(row["phase"]),
                    percent_text(row["mfu"]), percent_text(row["mfu_masked"]), percent_text(row["hfu"]),
                    rate(row["measured_peak_flop_rate"]) + "FLOP/s", value_text(row["dtype"]));
    if (!row["nominal_mfu"].is_null()) text += ", MFU " + percent_text(row["nominal_mfu"]) + " of the nominal peak";
    text += "\n";
  }
  return text.empty() ? "" : text + "counted: " + value_text(rows[0]["convention"]) + "\n";
}

std::string unknown_text(const Json& rows) {
  std::string text;
  for (const Json& row : rows)
    text += "unknown work: " + visible(value_text(row["name"])) + ", " + percent_text(row["share"]) +
            " of the operators' time\n";
  return text;
}

/// The rows of the rank and pass of the first one.
Json of_first_rank(const Json& rows) {
  Json found = Json::array();
  for (const Json& row : rows)
    if (row["rank"] == rows[0]["rank"] && row["pass"] == rows[0]["pass"]) found.push_back(row);
  return found;
}

/// The first kRows rows.
Json longest(const Json& rows) {
  Json found = Json::array();
  for (std::size_t i = 0; i < std::min(kRows, rows.size()); ++i) found.push_back(rows[i]);
  return found;
}

/// The operators of unknown work with their share of the time, the largest first.
Json unknown_work(const Json& operators) {
  std::map<std::string, double> shares;
  for (const Json& row : operators)
    if (row["kind"] == "unknown") shares[value_text(row["name"])] -= row["share_of_step"].get<double>();
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, negative] : shares) order.emplace_back(negative, name);
  std::ranges::sort(order);
  Json found = Json::array();
  for (const auto& [negative, name] : order) found.push_back({{"name", name}, {"share", -negative}});
  return found;
}

}  // namespace

Json roofline_of(const store::ResultsDatabase& database, std::int64_t run_id) {
  const std::string of_run = " WHERE run_id = " + std::to_string(run_id);
  Json roofline;
  roofline["utilization"] =
      rows_of(database, "SELECT * FROM step_utilization" + of_run + " ORDER BY phase <> 'step', phase");
  roofline["ranks"] = rows_of(database, "SELECT ranks FROM run" + of_run)[0]["ranks"];
  roofline["has_work"] = !roofline["utilization"].empty();
  // The pass is that of step_utilization.
  const Json operators = of_first_rank(rows_of(
      database, "SELECT * FROM op_verdict" + of_run + " ORDER BY rank, pass <> 'ops', pass DESC, time_ms DESC, name"));
  roofline["operators"] = longest(operators);
  roofline["unknown"] = unknown_work(operators);
  roofline["kernels"] = longest(
      of_first_rank(rows_of(database, "SELECT * FROM kernel_verdict" + of_run +
                                          " ORDER BY rank, time_ms DESC, name LIMIT " + std::to_string(kRows))));
  return roofline;
}

std::string roofline_text(const Json& roofline, const std::string& database, const TableStyle& style) {
  const Json& operators = roofline["operators"];
  const Json& kernels = roofline["kernels"];
  const std::string of_kernels = kernels_text(kernels, style) + reasons_text(kernels, "short_name");
  if (!roofline["has_work"].get<bool>())
    return of_kernels +
           "no roofline: the run did not record the arguments of operators; run it again with --passes time,ops "
           "--trace-detail shapes\n";
  std::string text = operators_text(operators, has_several_ranks(roofline), style) + reasons_text(operators, "name") +
                     of_kernels + utilization_text(roofline["utilization"]) + unknown_text(roofline["unknown"]);
  const bool has_peaks = std::ranges::any_of(operators, [](const Json& row) { return !row["attained"].is_null(); });
  if (!has_peaks) text += "next: kymo peaks" + database_option(database) + "\n";
  return text;
}

}  // namespace kymo::cli
