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
#include "plan/suite.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"
#include "terminal/results_table.hpp"
#include "terminal/step_times.hpp"
#include "worker/devices.hpp"

namespace kymo::cli {
namespace {

Json peaks_of(const store::ResultsDatabase& database, const std::string& device_uuid) {
  const auto found = database.query(
      "SELECT name AS device, kind, dtype, rate, rate_low, rate_high, unit, core_clock_mhz, memory_clock_mhz, "
      "started_at, run_id, warnings FROM device_peak WHERE uuid = :uuid "
      "ORDER BY kind = 'matmul', kind = 'cache', kind = 'read', dtype <> 'fp32', dtype <> 'tf32', dtype",
      {{"uuid", device_uuid}});
  return report::json_rows(found);
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
  const Invocation invocation{.specs = find_suite("peaks", device.kind).cases,
                              .ranks = Ranks::kStartedHere,
                              .device_uuid = device.uuid,
                              .show_results = false};
  const int code = execute(invocation, targets, options, command_line);
  const Json found = peaks_of(*open_results(options.database), device.uuid);
  if (options.json) {
    print(json_text({{"database", options.database.string()}, {"exit_code", code}, {"peaks", found}}));
    return code;
  }
  print(visible(device.name) + "\n\n" +
        output_text("peaks", {{"peaks", dump_json(found)}}, output_style(options.wide)) + "\n");
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
  return trim(output_text("peaks_line", {{"peaks", dump_json(peaks)}}, {.wide = true}));
}

void add_peaks(CLI::App& app, Session& session) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand(
      "peaks",
      "Measure the peak rates of a device, unless the database contains them: memory and cache bandwidth, matrix "
      "products of each data type");
  add_worker_options(*command, *options);
  add_settings(*command, *options, measure::SettingGroup::kSteps);
  add_table_options(*command, options->wide, options->json);
  add_database_option(*command, options->database);
  add_plugin_options(*command, options->plugins);
  command->footer("Example: kymo peaks --db peaks.db");
  session.on(*command, [&session, options] { return peaks(*options, session.command_line); });
}

}  // namespace kymo::cli
