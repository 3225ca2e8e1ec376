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
#include "cli/case_options.hpp"
#include "cli/commands.hpp"
#include "terminal/print.hpp"
#include "terminal/reading.hpp"
#include "cli/typed_option.hpp"
#include "report/renderer.hpp"
#include "report/result.hpp"

namespace kymo::cli {
namespace {

/// Parameters that a user chooses to make a model fit, with the workload's usual values.
constexpr std::array kChoices{"batch", "context", "checkpoint"};
const std::vector<std::int64_t> kRankChoices{1, 2, 4, 8};

struct FitArguments {
  CaseOptions cases;
  RunOptions options;
  std::int64_t memory_bytes = 0;
};

bool is_given(const CaseSpec& spec, const std::string& name) {
  return std::ranges::any_of(spec.set, [&](const auto& each) { return each.first == name; });
}

/// Without axes: every choice that is not fixed.
void add_choices(CaseSpec& spec, const catalog::Workload& workload, bool with_ranks) {
  if (!spec.axes.empty()) return;
  for (const char* name : kChoices) {
    const bool is_declared =
        std::ranges::any_of(workload.parameters, [&](const auto& parameter) { return parameter.name == name; });
    if (is_declared && !is_given(spec, name)) spec.axes.push_back(axis_from(name));
  }
  if (!with_ranks) return;
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

int show(const FitArguments& arguments, const std::filesystem::path& predictions, const std::string& device_kind,
         int code) {
  const report::Output output("fit", *open_results(predictions),
                              {{"memory", std::to_string(arguments.memory_bytes)},
                               {"peaks", dump_json(measured_peaks(arguments.options.database, device_kind))}});
  if (arguments.options.json) {
    Json json{{"memory_bytes", arguments.memory_bytes}, {"device", device_kind}, {"exit_code", code}};
    json.update(output.json());
    print(json_text(json));
  } else {
    print(text_of(output.document(), output_style(arguments.options.wide)));
  }
  return code;
}

int fit(FitArguments arguments, const std::string& command_line) {
  Targets targets(arguments.options.plugins);
  Invocation invocation = invocation_of(arguments.cases);
  invocation.show_results = false;
  invocation.ranks = Ranks::kStartedHere;
  std::string device_kind = "cpu";
  for (CaseSpec& spec : invocation.specs) {
    const catalog::Workload& workload = *targets.find(spec.workload).workload;
    add_choices(spec, workload, !arguments.cases.ranks && spec.ranks == std::vector<std::int64_t>{1});
    const DeviceChoice fallback = workload.runs_on_cuda ? DeviceChoice::kCuda : DeviceChoice::kCpu;
    spec.device = arguments.options.device.value_or(DeviceChoice::kAuto);
    if (spec.device == DeviceChoice::kAuto) spec.device = fallback;
    if (spec.device == DeviceChoice::kCuda) device_kind = "cuda";
    spec.method.passes = {measure::Pass::kPredict};
  }
  const std::filesystem::path folder = make_private_folder("kymo-fit");
  const auto remove = [](const std::filesystem::path* each) { std::filesystem::remove_all(*each); };
  const std::unique_ptr<const std::filesystem::path, decltype(remove)> removed(&folder, remove);
  RunOptions options = arguments.options;
  options.device.reset();
  options.database = folder / "predictions.db";
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
  typed_option(*command, "--memory", arguments->memory_bytes, "SIZE", "memory of the device, such as 80Gi", size_bytes)
      ->required();
  add_device_option(*command, arguments->options,
                    "device to predict, which need not be present [cuda if the workload supports it]");
  command->add_flag("--wide", arguments->options.wide, "show every column, whatever the width of the terminal");
  command->add_flag("--json", arguments->options.json, "print JSON");
  add_database_option(*command, arguments->options.database);
  add_plugin_options(*command, arguments->options.plugins);
  command->footer(
      "Without --axis, batch, context, checkpoint and the number of ranks take their usual values. The database "
      "provides the peak rates of 'kymo peaks' for the times.\n"
      "Example: kymo fit transformer_lm --set size=xl --memory 80Gi");
  session.on(*command, [&session, arguments] { return fit(*arguments, session.command_line); });
}

}  // namespace kymo::cli
