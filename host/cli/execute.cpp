// SPDX-License-Identifier: Apache-2.0
#include "cli/execute.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/environment.hpp"
#include "cli/progress.hpp"
#include "cli/reading.hpp"
#include "cli/results_table.hpp"
#include "cli/selection.hpp"
#include "store/results.hpp"
#include "supervisor/supervisor.hpp"
#include "worker/worker.hpp"

namespace kymo::cli {
namespace {

using supervisor::PlannedRun;

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_json(const Json& json) { print(json_text(json)); }

/// The GPUs of this machine, asked for at most once and only if something depends on them.
class GpuCount {
 public:
  Gpus operator()() {
    if (!known_) {
      const worker::Devices devices = worker::probe_devices();
      known_ = Gpus{static_cast<int>(devices.gpus.size()), devices.no_gpu_reason};
    }
    return *known_;
  }

 private:
  std::optional<Gpus> known_;
};

std::vector<PlannedCase> all_cases(const Order& order, Targets& targets, const RunOptions& options) {
  GpuCount gpu_count;
  std::vector<PlannedCase> cases;
  for (CaseSpec spec : order.specs) {
    apply(options, spec);
    const catalog::Found found = targets.find(spec.workload);
    for (PlannedCase& planned : expand(
             spec, *found.plugin, *found.workload, [&] { return gpu_count(); }, order.missing)) {
      planned.run.label = options.label;
      cases.push_back(std::move(planned));
    }
    if (cases.size() > kMaxCases)
      throw UsageError("there are more than " + std::to_string(kMaxCases) + " cases; give fewer values to the axes");
  }
  return cases;
}

std::vector<PlannedRun> plan(const Order& order, Targets& targets, const RunOptions& options) {
  std::vector<PlannedCase> cases = all_cases(order, targets, options);
  if (!options.filter.empty()) cases = matching(std::move(cases), options.filter);
  if (options.shard) cases = shard_of(std::move(cases), *options.shard);
  std::int64_t runs = 0;
  for (const PlannedCase& planned : cases) {
    if (__builtin_add_overflow(runs, planned.repeat, &runs) || runs > static_cast<std::int64_t>(kMaxCases)) {
      throw UsageError("there are more than " + std::to_string(kMaxCases) + " runs; repeat the cases less often");
    }
  }
  return repeated(cases);
}

/// Leaves out what the database holds already; without a database that is nothing.
std::vector<PlannedRun> without_finished(std::vector<PlannedRun> runs, const RunOptions& options) {
  if (!options.resume || is_missing(options.database)) return runs;
  const store::ResultsDatabase database(options.database, store::ResultsDatabase::Mode::kReadOnly);
  return unfinished(std::move(runs), [&](const std::string& key) { return database.finished_runs(key); });
}

Json plan_json(const std::vector<PlannedRun>& runs) {
  Json json = Json::array();
  for (const PlannedRun& run : runs) {
    json.push_back({{"suite", run.suite},
                    {"suite_case", run.suite_case},
                    {"repetition", run.repetition},
                    {"case_key", measure::case_key(run.what)},
                    {"plan_key", measure::plan_key(run.what, run.how)},
                    {"case", measure::to_json(run.what)},
                    {"method", measure::to_json(run.how)},
                    {"skip_reason", run.skip_reason}});
  }
  return json;
}

int print_plan(const std::vector<PlannedRun>& runs, bool as_json) {
  if (as_json) {
    print_json(plan_json(runs));
    return 0;
  }
  TextTable table{{"#", "case", "ranks", "device", "warmup", "steps", "repetition"}, {true, false, true, false, true, true, true}, {}};
  for (const PlannedRun& run : runs) {
    table.rows.push_back({std::to_string(table.rows.size() + 1), full_title(run), std::to_string(run.what.ranks),
                          run.skip_reason.empty() ? measure::to_string(run.what.device) : "skipped: " + run.skip_reason,
                          std::to_string(run.how.warmup), run.how.until ? "until" : std::to_string(run.how.steps),
                          std::to_string(run.repetition)});
  }
  print(render(table, false));
  return 0;
}

/// The line on the index-th run of the invocation, read before the next one is made.
std::string finished_line(const store::ResultsDatabase& database, std::int64_t invocation, std::size_t index) {
  const Json result = run_result(database, invocation, index);
  return result.is_null() ? "" : result_line(result);
}

int show(const store::ResultsDatabase& database, std::int64_t invocation, const RunOptions& options, int code) {
  const Json results = invocation_results(database, invocation);
  if (options.json) {
    print_json({{"database", database.file().string()}, {"invocation_id", invocation}, {"exit_code", code}, {"runs", results}});
    return code;
  }
  print(render(results_table(results), colour_on_stdout()));
  if (options.show_checks) print("\n" + render(checks_table(results), colour_on_stdout()));
  print(failures(results));
  print("results: " + visible(database.file().string()) + ", invocation " + std::to_string(invocation) + "\n");
  return code;
}

int make(const std::vector<PlannedRun>& runs, const RunOptions& options, const std::string& command_line) {
  store::ResultsDatabase database(options.database, store::ResultsDatabase::Mode::kCreate);
  const std::int64_t invocation = database.begin_invocation(command_line, machine_facts());
  Progress progress([&](std::size_t index) { return finished_line(database, invocation, index); });
  supervisor::Options how;
  how.keep = options.keep;
  how.on_progress = [&](const supervisor::ProgressView& view) { progress.show(view); };
  supervisor::Summary summary;
  try {
    summary = supervisor::make_runs(database, invocation, runs, how);
  } catch (const Error& error) {
    database.end_invocation(invocation, static_cast<int>(error.code()));
    throw;
  }
  progress.finish(summary.runs.size());
  std::vector<std::string> statuses;
  for (const auto& run : summary.runs) statuses.push_back(run.status);
  const int code = exit_code(statuses, options.fail_on_oom, summary.interrupted ? summary.signal : 0);
  database.end_invocation(invocation, code);
  return show(database, invocation, options, code);
}

}  // namespace

int exit_code(const std::vector<std::string>& statuses, bool fail_on_oom, int signal) {
  if (signal != 0) return static_cast<int>(signal == SIGTERM ? ExitCode::kTerminated : ExitCode::kInterrupted);
  const bool failed = std::any_of(statuses.begin(), statuses.end(), [&](const std::string& status) {
    return status != "ok" && status != "skipped" && (status != "oom" || fail_on_oom);
  });
  return static_cast<int>(failed ? ExitCode::kRunFailed : ExitCode::kOk);
}

int execute(const Order& order, Targets& targets, const RunOptions& options, const std::string& command_line) {
  const std::vector<PlannedRun> runs = without_finished(plan(order, targets, options), options);
  if (options.plan) return print_plan(runs, options.json);
  if (runs.empty()) {
    if (options.json)
      print_json({{"database", options.database.string()}, {"invocation_id", nullptr}, {"exit_code", 0}, {"runs", Json::array()}});
    std::fprintf(stderr, "kymo: nothing left to do: every case of this call is in %s already or belongs to another shard\n",
                 visible(options.database.string()).c_str());
    return 0;
  }
  return make(runs, options, command_line);
}

}  // namespace kymo::cli
