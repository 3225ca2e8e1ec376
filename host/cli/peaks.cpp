// SPDX-License-Identifier: Apache-2.0
#include "cli/peaks.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/commands.hpp"
#include "cli/execute.hpp"
#include "cli/fit_table.hpp"
#include "cli/reading.hpp"
#include "cli/results_table.hpp"
#include "cli/step_times.hpp"
#include "cli/suite.hpp"
#include "cli/text_table.hpp"
#include "worker/devices.hpp"

namespace kymo::cli {
namespace {

Json peaks_of(const store::ResultsDatabase& database, const std::string& device_uuid) {
  const auto found = database.query(
      "SELECT name AS device, kind, dtype, rate, rate_low, rate_high, unit, core_clock_mhz, memory_clock_mhz, "
      "started_at, run_id, warnings FROM device_peak WHERE uuid = :uuid "
      "ORDER BY kind = 'matmul', kind = 'cache', kind = 'read', dtype <> 'fp32', dtype <> 'tf32', dtype",
      {{"uuid", device_uuid}});
  Json peaks = Json::array();
  for (const auto& row : found.rows) peaks.push_back(json_row(found.columns, row));
  return peaks;
}

std::string name_of(const Json& peak) {
  const auto dtype = peak["dtype"].get<std::string>();
  return peak["kind"].get<std::string>() + (dtype.empty() ? "" : " " + dtype);
}

std::string rate_of(const Json& peak) { return rate_text(peak["rate"].get<double>(), peak["unit"].get<std::string>()); }

/// The larger distance to the ends of the interval, in percent.
std::string interval_of(const Json& peak) {
  if (peak["rate_low"].is_null() || peak["rate_high"].is_null()) return "";
  const auto rate = peak["rate"].get<double>();
  const double half = std::max(peak["rate_high"].get<double>() - rate, rate - peak["rate_low"].get<double>());
  return fmt::format("± {:.1f} %{}", 100 * half / rate, half > kMaxHalfWidth * rate ? " (not reproducible)" : "");
}

std::string clock_of(const Json& peak) {
  if (peak["core_clock_mhz"].is_null()) return "";
  const std::string core = fmt::format("{:.0f} MHz", peak["core_clock_mhz"].get<double>());
  if (peak["memory_clock_mhz"].is_null()) return core;
  return core + fmt::format(", memory {:.0f} MHz", peak["memory_clock_mhz"].get<double>());
}

TextTable peaks_table(const Json& peaks) {
  TextTable table{{"peak", "rate", "interval", "clock", "measured (UTC)", "run", "warnings"},
                  {false, true, false, false, false, true, false},
                  {},
                  {0, 0, 0, 1, 2, 2, 0},
                  true};
  for (const Json& peak : peaks)
    table.rows.push_back({name_of(peak), rate_of(peak), interval_of(peak), clock_of(peak),
                          peak["started_at"].get<std::string>().substr(0, 16), peak["run_id"].dump(),
                          peak["warnings"].get<std::string>()});
  return table;
}

/// The device that `--device` selects; auto: the first GPU, if there is one.
event::Device selected_device(DeviceChoice choice) {
  const worker::Devices devices = worker::probe_devices();
  if (choice == DeviceChoice::kCpu || (choice == DeviceChoice::kAuto && devices.gpus.empty())) return devices.cpu;
  if (devices.gpus.empty()) throw UsageError("--device cuda: " + devices.no_gpu_reason);
  return devices.gpus.front();
}

int peaks(RunOptions options, const std::string& command_line) {
  const event::Device device = selected_device(options.device.value_or(DeviceChoice::kAuto));
  options.device = device.kind == "cpu" ? DeviceChoice::kCpu : DeviceChoice::kCuda;
  options.resume = true;
  Targets targets(options.plugins);
  const Order order{.specs = find_suite("peaks", device.kind).cases,
                    .ranks = Ranks::kStartedHere,
                    .device_uuid = device.uuid,
                    .show_results = false};
  const int code = execute(order, targets, options, command_line);
  const Json found = peaks_of(*open_results(options.database), device.uuid);
  if (options.json) {
    print(json_text({{"database", options.database.string()}, {"exit_code", code}, {"peaks", found}}));
    return code;
  }
  print(visible(device.name) + "\n\n" + table_text(peaks_table(found), output_style(options.wide)) + "\n");
  const auto disturbed = [](const Json& peak) { return peak["warnings"].get_ref<const std::string&>() != ""; };
  if (std::ranges::any_of(found, disturbed))
    print(
        "rates with warnings may be too low; the highest rates count, so repeat on an idle machine:\n"
        "  kymo suite run peaks --profile " +
        device.kind + " --db " + visible(options.database.string()) + "\n");
  print("results: " + visible(options.database.string()) + "\n");
  return code;
}

}  // namespace

std::string peaks_line(const store::ResultsDatabase& database, const std::string& device_uuid) {
  const Json peaks = peaks_of(database, device_uuid);
  if (peaks.empty()) return "not measured in " + database.file().string() + "; 'kymo peaks' measures them";
  std::string newest, line;
  for (const Json& peak : peaks) {
    line += (line.empty() ? "" : ", ") + name_of(peak) + " " + rate_of(peak);
    newest = std::max(newest, peak["started_at"].get<std::string>().substr(0, 10));
  }
  return line + " (" + newest + ")";
}

void add_peaks(CLI::App& app, Session& session) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand(
      "peaks",
      "Measure the peak rates of a device, unless the database contains them: memory and cache bandwidth, matrix "
      "products of each data type");
  add_worker_options(*command, *options);
  add_settings(*command, *options, measure::SettingGroup::kSteps);
  command->add_flag("--wide", options->wide, "show every column, whatever the width of the terminal");
  command->add_flag("--json", options->json, "print JSON");
  add_database_option(*command, options->database);
  add_plugin_options(*command, options->plugins);
  command->footer("Example: kymo peaks --db peaks.db");
  session.on(*command, [&session, options] { return peaks(*options, session.command_line); });
}

}  // namespace kymo::cli
