// SPDX-License-Identifier: Apache-2.0
#include "cli/run_details.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/fit_table.hpp"
#include "cli/run_results.hpp"

namespace kymo::cli {
namespace {

constexpr std::size_t kShownFindings = 5;

std::string text_of(const Json& row, const char* name) { return row[name].is_null() ? "" : value_text(row[name]); }

std::string calls_text(const Json& rows, const std::string& what, const std::string& time, const TableStyle& style) {
  if (rows.empty()) return "";
  TableBuilder builder(rows.size());
  builder.add(what, false, 0, [&](std::size_t row) { return text_of(rows[row], "name"); });
  builder.add("module", false, 0, [&](std::size_t row) { return text_of(rows[row], "module"); });
  builder.add("phase", false, 0, [&](std::size_t row) { return text_of(rows[row], "phase"); });
  builder.add("calls/step", true, 1,
              [&](std::size_t row) { return fmt::format("{:.4g}", rows[row]["calls"].get<double>()); });
  builder.add(time, true, 0,
              [&](std::size_t row) { return format_duration(rows[row]["time_ms"].get<double>() * kNsPerMs); });
  builder.add("share", true, 0, [&](std::size_t row) { return percent_text(rows[row]["share"]); });
  return table_text(builder.table(), style) + "\n";
}

/// The member of a row of "memory" with the bytes of a category.
std::string bytes_key(const Json& category) { return text_of(category, "category") + "_bytes"; }

/// "peak 152 MiB in backward: unknown 52 %, activations 38 %, ...".
std::string peak_text(const Json& peak, const Json& categories) {
  std::vector<std::pair<double, std::string>> parts;
  const auto total = peak["peak_allocated_bytes"].get<double>();
  for (const Json& category : categories)
    if (const auto bytes = peak[bytes_key(category)].get<double>(); bytes > 0.005 * total)
      parts.emplace_back(bytes, fmt::format("{} {:.0f} %", text_of(category, "title"), 100 * bytes / total));
  std::ranges::sort(parts, std::greater{});
  std::vector<std::string> texts;
  for (const auto& [bytes, text] : parts) texts.push_back(text);
  return "memory peak (" + text_of(peak, "device") +
         "): " + format_bytes(peak["peak_allocated_bytes"].get<std::int64_t>()) + " in " + text_of(peak, "phase") +
         (texts.empty() ? "" : ": " + join(texts, ", ")) + "\n";
}

std::string memory_text(const Json& rows, const Json& categories, const TableStyle& style) {
  if (rows.empty()) return "";
  TableBuilder builder(rows.size());
  builder.add("phase", false, 0, [&](std::size_t row) { return text_of(rows[row], "phase"); });
  builder.add("peak", true, 0,
              [&](std::size_t row) { return format_bytes(rows[row]["peak_allocated_bytes"].get<std::int64_t>()); });
  std::map<std::string, std::int64_t> largest;  // by category
  for (const Json& category : categories)
    for (const Json& row : rows)
      largest[bytes_key(category)] =
          std::max(largest[bytes_key(category)], row[bytes_key(category)].get<std::int64_t>());
  for (const Json& category : categories) {
    // Where the columns do not fit, those of the smallest categories are left out first.
    const auto optional = 1 + std::ranges::count_if(largest, [&](const auto& other) {
                            return other.second > largest[bytes_key(category)];
                          });
    builder.add(text_of(category, "title"), true, static_cast<int>(optional), [&](std::size_t row) {
      const auto bytes = rows[row][bytes_key(category)].get<std::int64_t>();
      return bytes == 0 ? "" : format_bytes(bytes);
    });
  }
  return peak_text(rows[0], categories) + "\n" + table_text(builder.table(), style) + "\n";
}

/// The phases of a pass that records events, for runs without a time pass.
std::string observed_phases_text(const Json& rows, const TableStyle& style) {
  if (rows.empty()) return "";
  TableBuilder builder(rows.size());
  builder.add("phase", false, 0, [&](std::size_t row) { return text_of(rows[row], "phase"); });
  builder.add("mean time", true, 0,
              [&](std::size_t row) { return format_duration(rows[row]["mean_ms"].get<double>() * kNsPerMs); });
  builder.add("share", true, 0, [&](std::size_t row) { return percent_text(rows[row]["share"]); });
  return fmt::format("{} steps of the {} pass, with the cost of observation:\n\n", rows[0]["steps"].get<std::int64_t>(),
                     text_of(rows[0], "pass")) +
         table_text(builder.table(), style) + "\n";
}

/// What takes the time of a step, each with its evidence and what to do next.
std::string findings_text(const Json& rows, const TableStyle& style) {
  if (rows.empty()) return "";
  const std::size_t columns = style.wide ? kAnyWidth : style.columns;
  std::string text = "what limits a step:\n\n";
  for (std::size_t i = 0; i < std::min(kShownFindings, rows.size()); ++i) {
    const Json& row = rows[i];
    const std::string share = row["share"].is_null() ? "" : ", " + percent_text(row["share"]) + " of a step";
    text += wrapped(std::to_string(i + 1) + ". ",
                    visible(text_of(row, "subject") + share + ": " + text_of(row, "evidence")), columns);
    text += wrapped("   ", "next: " + visible(text_of(row, "next_step")), columns);
  }
  if (rows.size() > kShownFindings) text += fmt::format("and {} more\n", rows.size() - kShownFindings);
  return text + "\n";
}

/// The steps after the observed ones, in which nothing is recorded.
std::string later_text(const Json& rows) {
  std::string text;
  for (const Json& row : rows)
    text += fmt::format("later steps of the {} pass, with nothing recorded: {:.0f}, median {}\n", text_of(row, "pass"),
                        row["steps"].get<double>(), format_duration(row["median_ms"].get<double>() * kNsPerMs));
  return text;
}

/// Time of compilations, and what was compiled repeatedly or left out.
std::string compilation_text(const Json& total, const Json& causes, const TableStyle& style) {
  if (total.empty()) return "";
  std::string text = fmt::format("compilation: {} in {} compilations\n\n",
                                 format_duration(total[0]["compile_ms"].get<double>() * kNsPerMs),
                                 total[0]["compilations"].get<std::int64_t>());
  if (causes.empty()) return text;
  TableBuilder builder(causes.size());
  builder.add("compilation", false, 0, [&](std::size_t row) { return text_of(causes[row], "kind"); });
  builder.add("code", false, 0, [&](std::size_t row) { return text_of(causes[row], "location"); });
  builder.add("number", true, 0, [&](std::size_t row) { return text_of(causes[row], "count"); });
  builder.add("in steps", false, 1, [&](std::size_t row) { return text_of(causes[row], "steps"); });
  builder.add("reason", false, 0, [&](std::size_t row) { return text_of(causes[row], "reason"); });
  return text + table_text(builder.table(), style) + "\n";
}

std::string overhead_text(const Json& rows) {
  std::vector<std::string> parts;
  for (const Json& row : rows) parts.push_back(text_of(row, "pass") + ": " + text_of(row, "summary"));
  return rows.empty() ? "" : "overhead of observation: " + join(parts, "; ") + "\n";
}

}  // namespace

Json observed_details(const store::ResultsDatabase& database, std::int64_t run_id) {
  const std::string id = std::to_string(run_id);
  Json details;
  details["kernels"] = rows_of(
      database,
      "SELECT e.short_name AS name, min(e.class) AS class, e.module, e.phase, 1.0 * sum(e.calls) / max(e.steps) AS "
      "calls, "
      "sum(e.total_ns) / 1e6 / max(e.steps) AS time_ms, 1.0 * sum(e.total_ns) / sum(sum(e.total_ns)) OVER () AS share "
      "FROM kernel_entry e WHERE e.run_id = " +
          id + " AND e.rank = (SELECT min(k.rank) FROM kernel_pass k WHERE k.run_id = " + id +
          ") GROUP BY e.short_name, e.module, e.phase ORDER BY sum(e.total_ns) DESC LIMIT 10");
  details["operators"] =
      rows_of(database,
              "SELECT o.name, o.module, o.phase, sum(o.calls) AS calls, sum(o.self_ms) AS time_ms, "
              "sum(o.share_of_step) AS share "
              "FROM op_by_scope o WHERE o.pass = 'ops' AND o.run_id = " +
                  id + " AND o.rank = (SELECT min(k.rank) FROM rank k WHERE k.pass = 'ops' AND k.run_id = " + id +
                  ") GROUP BY o.name, o.module, o.phase ORDER BY sum(o.self_ms) DESC LIMIT 10");
  details["memory"] =
      rows_of(database,
              "SELECT p.device, p.phase, p.peak_allocated_bytes, p.peak_reserved_bytes FROM memory_peak p WHERE "
              "p.phase NOT IN ('run', 'step') AND p.pass = 'memory' AND p.run_id = " +
                  id + " AND p.rank = (SELECT min(k.rank) FROM rank k WHERE k.pass = 'memory' AND k.run_id = " + id +
                  ") ORDER BY p.device = 'cpu', p.peak_allocated_bytes DESC");
  const Json parts = rows_of(
      database,
      "SELECT c.device, c.phase, c.category, c.bytes FROM memory_by_category c WHERE c.pass = 'memory' AND c.run_id "
      "= " +
          id + " AND c.rank = (SELECT min(k.rank) FROM rank k WHERE k.pass = 'memory' AND k.run_id = " + id + ")");
  for (Json& row : details["memory"]) {
    for (const Json& part : parts)
      if (part["device"] == row["device"] && part["phase"] == row["phase"]) row[bytes_key(part)] = part["bytes"];
  }
  details["memory_categories"] =
      rows_of(database, "SELECT c.category, c.title FROM memory_category c ORDER BY c.category_order");
  details["phases"] = rows_of(
      database,
      "SELECT p.pass, p.phase, max(w.steps) AS steps, sum(p.host_ms) / max(w.steps) AS mean_ms, "
      "sum(p.host_ms) / max(w.host_ms) AS share "
      "FROM pass_step_time p JOIN (SELECT rank, pass, count(*) AS steps, sum(host_ms) AS host_ms FROM pass_step_time "
      "WHERE is_least_observed AND pass <> 'time' AND NOT warmup AND phase = 'step' AND run_id = " +
          id +
          " GROUP BY rank, pass ORDER BY rank LIMIT 1) w ON w.rank = p.rank AND w.pass = p.pass "
          "WHERE NOT p.warmup AND p.run_id = " +
          id + " GROUP BY p.pass, p.phase ORDER BY p.phase <> 'step', p.phase = 'other', sum(p.host_ms) DESC");
  details["findings"] = rows_of(database,
                                "SELECT f.subject, f.share, f.evidence, f.next_step FROM step_finding f "
                                "WHERE f.run_id = " +
                                    id + " ORDER BY f.share IS NULL, f.share DESC, f.subject");
  const std::string first_rank = " AND {0}.rank = (SELECT min(k.rank) FROM rank k WHERE k.run_id = " + id + ")";
  details["compilation"] =
      rows_of(database,
              "SELECT sum(s.compile_ms) AS compile_ms, sum(s.compilations) AS compilations FROM compilation_step s "
              "WHERE s.is_least_observed AND s.run_id = " +
                  id + fmt::format(fmt::runtime(first_rank), "s") + " HAVING sum(s.compilations) > 0");
  details["compilation_causes"] = rows_of(
      database,
      "SELECT replace(c.kind, '_', ' ') AS kind, c.location, c.count, c.steps, c.reason FROM compilation_cause c "
      "WHERE c.run_id = " +
          id + fmt::format(fmt::runtime(first_rank), "c") +
          " ORDER BY c.kind, c.count DESC, c.location, c.reason LIMIT 10");
  details["overhead"] = rows_of(
      database,
      "SELECT o.pass, o.ratio, o.observed_ms, o.time_ms, o.summary FROM trace_overhead o WHERE o.phase = 'step' "
      "AND o.run_id = " +
          id + " AND o.rank = (SELECT min(k.rank) FROM rank k WHERE k.run_id = " + id + ") ORDER BY o.pass");
  details["later"] =
      rows_of(database,
              "SELECT s.pass, s.value AS steps, m.value AS median_ms FROM reported_metric s JOIN reported_metric m "
              "ON m.run_id = s.run_id AND m.rank = s.rank AND m.pass = s.pass AND m.name = 'later_step_median' "
              "WHERE s.name = 'later_steps' AND s.run_id = " +
                  id + fmt::format(fmt::runtime(first_rank), "s") + " ORDER BY s.pass");
  return details;
}

std::string observed_text(const Json& details, const Json& run, const std::string& database, const TableStyle& style) {
  std::string text = observed_phases_text(details["phases"], style) + findings_text(details["findings"], style) +
                     calls_text(details["kernels"], "kernel", "device time", style) +
                     calls_text(details["operators"], "operator", "self time", style) +
                     memory_text(details["memory"], details["memory_categories"], style) +
                     compilation_text(details["compilation"], details["compilation_causes"], style) +
                     overhead_text(details["overhead"]) + later_text(details["later"]);
  if (text.empty()) return "";
  const std::string in = database_option(database);
  const std::string where = " --run " + value_text(run["run_id"]) + in;
  if (!details["findings"].empty())
    text += "next: kymo report program --invocation " + value_text(run["invocation_id"]) + in + "\n";
  if (!details["memory"].empty()) text += "next: kymo export memory-viz" + where + "\n";
  if (!details["kernels"].empty() || !details["operators"].empty()) text += "next: kymo export perfetto" + where + "\n";
  return style.text(text);
}

std::string program_text(const store::ResultsDatabase& database, const Json& results, const std::string& file,
                         const TableStyle& style) {
  std::string text = results_text(results, style, file);
  if (results.empty()) return text;
  const Json& last = results.back();
  const std::string observed =
      observed_text(observed_details(database, last["run_id"].get<std::int64_t>()), last, file, style);
  return observed.empty() ? text : text + "\n" + observed;
}

}  // namespace kymo::cli
