// SPDX-License-Identifier: Apache-2.0
#include "supervisor/supervisor.hpp"

#include <boost/asio/io_context.hpp>

#include "supervisor/control_server.hpp"
#include "supervisor/follower_hub.hpp"
#include "supervisor/launch.hpp"
#include "supervisor/progress_meter.hpp"
#include "supervisor/run_maker.hpp"
#include "supervisor/scratch.hpp"
#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {
namespace {

store::RunRow row_of(std::int64_t invocation_id, const PlannedRun& run) {
  store::RunRow row;
  row.invocation_id = invocation_id;
  row.plugin = run.plugin;
  row.what = run.what;
  row.how = run.how;
  row.suite = run.suite;
  row.suite_case = run.suite_case;
  row.label = run.label;
  row.repetition = run.repetition;
  return row;
}

MadeRun skipped(const PlannedRun& run) {
  MadeRun made;
  made.end.status = "skipped";
  made.end.detail = run.skip_reason;
  return made;
}

}  // namespace

Summary make_runs(store::ResultsDatabase& database, std::int64_t invocation_id, const std::vector<PlannedRun>& runs,
                  const Options& options, const Conditions& setup) {
  const store::Keep keep = store::keep_from(options.keep);
  Summary summary;
  Scratch scratch(database, invocation_id);
  ProgressMeter meter(runs, options.on_progress);
  RunMaker maker(setup, scratch, meter, options.leading);
  maker.gather_followers();
  for (std::size_t i = 0; i < runs.size() && maker.interrupted_by() == 0 && maker.can_go_on(runs.size() - i); ++i) {
    const PlannedRun& run = runs[i];
    meter.begin_run(i, steady_seconds());
    const std::int64_t run_id = database.begin_run(row_of(invocation_id, run));
    scratch.note(run_id);
    const MadeRun made = run.skip_reason.empty() ? maker.make(run_id, run) : skipped(run);
    database.finish_run(run_id, made.end, made.workers, made.rank_files, keep);
    scratch.clear(run_id);
    summary.runs.push_back({run_id, made.end.status, made.end.detail});
    meter.end_run(steady_seconds());
  }
  maker.close();
  scratch.finish();
  summary.signal = maker.interrupted_by();
  summary.interrupted = summary.signal != 0;
  if (options.leading) maker.finish_followers(options.leading->exit_code(summary));
  return summary;
}

void dismiss_followers(const Leading& leading) {
  boost::asio::io_context loop{1};
  std::unique_ptr<FollowerHub> hub;
  const ControlServer server(
      loop,
      {[](WorkerId, const auto&) {}, [](WorkerId, const Json&) {}, [](WorkerId, const std::string&) {},
       [&](int socket, const Json& first) { hub->take(socket, first); }},
      listening_place(leading.launch));
  hub = std::make_unique<FollowerHub>(loop, leading.launch, follower_protocol::plan_of(leading.plan), [](int, int) {});
  hub->gather([] { return false; });
  hub->finish(0);
}

Summary make_runs(store::ResultsDatabase& database, std::int64_t invocation_id, const std::vector<PlannedRun>& runs,
                  const Options& options) {
  return make_runs(database, invocation_id, runs, options, Conditions{});
}

}  // namespace kymo::supervisor
