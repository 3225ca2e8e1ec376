// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/option_number.hpp"
#include "base/private_folder.hpp"
#include "base/text.hpp"
#include "cli/case_options.hpp"
#include "cli/commands.hpp"
#include "cli/typed_option.hpp"
#include "report/renderer.hpp"
#include "report/result.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"

namespace kymo::cli {
namespace {

/// Parameters that a user chooses to make a model fit, with the workload's usual values.
constexpr std::array kChoices{"batch", "context", "checkpoint"};
const std::vector<std::int64_t> kRankChoices{1, 2, 4, 8};

struct FitArguments {
  CaseOptions cases;
  RunOptions options;
  std::int64_t memory_bytes = 0;
  std::string runs;
};

bool is_given(const CaseSpec& spec, const std::string& name) {
  return std::ranges::any_of(spec.set, [&](const auto& each) { return each.first == name; });
}

/// Without axes: every choice that is not fixed and has usual values. The memory of several ranks of a workload in
/// Python is not predicted.
void add_choices(CaseSpec& spec, const catalog::Found& found, bool with_ranks) {
  if (!spec.axes.empty()) return;
  const catalog::Workload& workload = *found.workload;
  for (const char* name : kChoices) {
    const bool has_values = std::ranges::any_of(
        workload.parameters, [&](const auto& parameter) { return parameter.name == name && !parameter.axis.empty(); });
    if (has_values && !is_given(spec, name)) spec.axes.push_back(axis_from(name));
  }
  if (!with_ranks || !found.plugin->file.interpreter.empty()) return;
  spec.ranks.clear();
  std::ranges::copy_if(kRankChoices, std::back_inserter(spec.ranks), [&](std::int64_t ranks) {
    return ranks >= workload.min_ranks && (workload.max_ranks == 0 || ranks <= workload.max_ranks);
  });
}

/// The peaks of the device in the database whose peaks were measured last.
Json measured_peaks(const std::filesystem::path& file, const std::string& device_kind) {
  if (is_missing(file)) return Json::array();
  const auto found = open_results(file)->query(
      "SELECT name AS device, kind, dtype, rate FROM device_peak WHERE device_kind = :kind AND uuid = (SELECT p.uuid "
      "FROM device_peak p WHERE p.device_kind = :kind ORDER BY p.started_at DESC LIMIT 1)",
      {{"kind", device_kind}});
  return report::json_rows(found);
}

void print_output(const FitArguments& arguments, const report::Output& output, Json json) {
  json["memory_bytes"] = arguments.memory_bytes;
  json.update(output.json());
  print(arguments.options.json ? json_text(json) : text_of(output.document(), output_style(arguments.options.wide)));
}

/// From measured steps: runs with their batch, as "3:8,4:16", or one run as "3".
int fit_runs(const FitArguments& arguments) {
  Json runs = Json::array();
  for (const std::string& text : split(arguments.runs, ',')) {
    const std::size_t colon = text.find(':');
    const auto number = [](const std::string& word) { return whole_number("--runs", word, 1, kAnyNumber); };
    runs.push_back({{"run", number(text.substr(0, colon))},
                    {"batch", colon == text.npos ? Json() : Json(number(text.substr(colon + 1)))}});
  }
  print_output(arguments,
               {"fit_runs",
                *open_results(arguments.options.database),
                {{"memory", std::to_string(arguments.memory_bytes)}, {"runs", dump_json(runs)}}},
               Json::object());
  return 0;
}

int show(const FitArguments& arguments, const std::filesystem::path& predictions, const std::string& device_kind,
         int code) {
  const report::Output output("fit", *open_results(predictions),
                              {{"memory", std::to_string(arguments.memory_bytes)},
                               {"memory_text", format_bytes(arguments.memory_bytes)},
                               {"peaks", dump_json(measured_peaks(arguments.options.database, device_kind))}});
  print_output(arguments, output, {{"device", device_kind}, {"exit_code", code}});
  return code;
}

int fit(const FitArguments& arguments, const std::string& command_line) {
  if (arguments.runs.empty() == arguments.cases.workloads.empty()) throw UsageError("fit takes a workload, or --runs");
  if (!arguments.runs.empty()) return fit_runs(arguments);
  Targets targets(arguments.options.plugins);
  Invocation invocation = invocation_of(arguments.cases);
  invocation.show_results = false;
  invocation.ranks = Ranks::kStartedHere;
  std::string device_kind = "cpu";
  for (CaseSpec& spec : invocation.specs) {
    const catalog::Found found = targets.find(spec.workload);
    add_choices(spec, found, !arguments.cases.ranks && spec.ranks == std::vector<std::int64_t>{1});
    const DeviceChoice fallback = found.workload->runs_on_cuda ? DeviceChoice::kCuda : DeviceChoice::kCpu;
    spec.device = arguments.options.device.value_or(DeviceChoice::kAuto);
    if (spec.device == DeviceChoice::kAuto) spec.device = fallback;
    if (spec.device == DeviceChoice::kCuda) device_kind = "cuda";
    spec.method.passes = {measure::Pass::kPredict};
  }
  const PrivateFolder folder("kymo-fit");
  RunOptions options = arguments.options;
  options.device.reset();
  options.database = folder.path() / "predictions.db";
  const int code = execute(invocation, targets, options, command_line);
  return show(arguments, options.database, device_kind, code);
}

}  // namespace

void add_fit(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<FitArguments>();
  CLI::App* command = app.add_subcommand(
      "fit",
      "Predict which choices of a workload fit into a memory, and the time of their steps, without running them");
  add_case_options(*command, arguments->cases, Axes::kAllowed);
  command->get_option("workload")->required(false);
  command
      ->add_option("--runs", arguments->runs,
                   "instead of a workload: runs of a small step with a memory pass, such as those of 'kymo trace', and "
                   "their batch; predict the peak of larger batches")
      ->type_name("RUN[:BATCH],...");
  typed_option(*command, "--memory", arguments->memory_bytes, "SIZE", "memory of the device, such as 80Gi", size_bytes)
      ->required();
  add_device_option(*command, arguments->options,
                    "device to predict, which need not be present [cuda if the workload supports it]");
  add_table_options(*command, arguments->options.wide, arguments->options.json);
  add_database_option(*command, arguments->options.database);
  add_plugin_options(*command, arguments->options.plugins);
  command->footer(
      "Without --axis, batch, context, checkpoint and the number of ranks take their usual values. The database "
      "provides the peak rates of 'kymo peaks' for the times.\n"
      "Example: kymo fit transformer_lm --set size=xl --memory 80Gi\n"
      "Example: kymo fit --runs 1:4,2:8 --memory 80Gi");
  session.on(*command, [&session, arguments] { return fit(*arguments, session.command_line); });
}

}  // namespace kymo::cli
