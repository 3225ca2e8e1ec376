// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "measure/statistics.hpp"
#include "measure/step_statistic.hpp"
#include "store/copy_rows.hpp"
#include "store/executions.hpp"
#include "store/impl.hpp"
#include "store/launch_order.hpp"
#include "store/rank_import.hpp"
#include "store/retention.hpp"

namespace kymo::store {
namespace {

using measure::Outcome;

/// Parameters, libraries and the commit define the run; the other tables contain what was recorded.
void forget_observations(const Connection& results, std::int64_t run_id) {
  for (const std::string& table : tables_of_runs(results)) {
    if (table == "param" || table == "run_library" || table == "source_commit") continue;
    Statement(results, "DELETE FROM main." + table + " WHERE run_id = ?").bind(1, run_id).run();
  }
}

void store_worker(const Connection& results, std::int64_t run_id, const WorkerRow& worker) {
  Statement(results, insert_sql("rank", "run_id, rank, pass, pid, host, status, stdout, stderr") + R"(
              ON CONFLICT (run_id, rank, pass) DO UPDATE
              SET pid = excluded.pid, host = excluded.host, status = excluded.status, stdout = excluded.stdout,
                  stderr = excluded.stderr)")
      .bind_all(run_id, worker.rank, measure::to_string(worker.pass), worker.pid, worker.host, to_string(worker.status),
                worker.stdout_text, worker.stderr_text)
      .run();
}

std::string pass_of(const Outcome& outcome) { return outcome.pass ? to_string(*outcome.pass) : ""; }

/// Values reported by a rank take precedence.
void store_out_of_memory(const Connection& results, std::int64_t run_id, const Outcome& outcome) {
  if (!outcome.out_of_memory) return;
  const event::OutOfMemory& o = *outcome.out_of_memory;
  constexpr const char* kColumns = "run_id, rank, pass, location, requested_bytes, free_bytes, peak_bytes";
  Statement(results, insert_sql("out_of_memory", kColumns, "OR IGNORE"))
      .bind_all(run_id, outcome.rank.value_or(-1), pass_of(outcome), o.where, o.requested_bytes, o.free_bytes,
                o.peak_bytes)
      .run();
}

void store_detached(const Connection& results, std::int64_t run_id, const DetachedProcesses& processes) {
  constexpr std::size_t kMaxNamed = 16;
  std::vector<std::string> names = processes.names;
  if (names.size() > kMaxNamed) names.resize(kMaxNamed);
  const std::string more = processes.names.size() > kMaxNamed ? " and more" : "";
  add_dropped_records(results, run_id, processes.rank, measure::to_string(processes.pass), "detached",
                      static_cast<std::int64_t>(processes.names.size()), join(names, ", ") + more);
}

void store_outcome(const Connection& results, std::int64_t run_id, const Outcome& outcome, Keep keep) {
  const char* verification = outcome.verification ? to_string(*outcome.verification) : "";
  Statement(results,
            "UPDATE main.run SET status = ?, detail = ?, verification = ?, exit_code = ?, signal = ?, failed_rank = ?, "
            "failed_pass = ?, failed_phase = ?, failed_step = nullif(max(?, -1), -1), ended_at = ?, keep = ? WHERE "
            "run_id = ?")
      .bind_all(to_string(outcome.status), outcome.detail, verification, outcome.exit_code, outcome.signal,
                outcome.rank, pass_of(outcome), outcome.phase, outcome.step, wall_time_utc(), to_string(keep), run_id)
      .run();
  if (results.changes() == 1) return;
  throw Error("database " + quote(results.file().string()) + " contains no run " + std::to_string(run_id) +
              "; begin a run before finalizing it");
}

/// Durations of one phase on one clock, in nanoseconds, in the order of the steps.
struct Series {
  std::string phase;
  const char* clock = "";
  std::vector<double> usual;
  std::vector<double> throttled;

  bool all_throttled() const { return usual.empty(); }
  const std::vector<double>& counted() const { return all_throttled() ? throttled : usual; }
};

void store_statistic(const Connection& results, std::int64_t run_id, const Series& series, const measure::Statistics& s,
                     measure::StepStatistic represented_by) {
  const std::int64_t excluded = series.all_throttled() ? 0 : static_cast<std::int64_t>(series.throttled.size());
  const measure::UnlikeSteps unlike = measure::unlike_steps(series.counted(), s.median);
  Statement(results,
            "INSERT INTO main.statistic (run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, "
            "median_ns, min_ns, max_ns, "
            "ci_low_ns, ci_high_ns, p95_ns, median_low_ns, median_high_ns, median_confidence, block_steps, "
            "represented_by, slow_count, slow_ns, fast_count, fast_ns) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind_all(run_id, series.phase, series.clock, s.count, excluded, series.all_throttled(), s.mean, s.std, s.median,
                s.min, s.max, s.ci_low, s.ci_high, s.p95, s.median_low, s.median_high, s.median_confidence, s.block,
                measure::to_string(represented_by), unlike.slow, unlike.slow_total, unlike.fast, unlike.fast_total)
      .run();
}

/// What else than its steps decides which statistic represents a run.
struct RunConditions {
  measure::Timing timing = measure::Timing::kSync;
  bool waited_for_processor = false;
};

RunConditions conditions_of(const Connection& results, std::int64_t run_id) {
  Statement run(results,
                "SELECT r.timing, EXISTS (SELECT 1 FROM main.processor_wait w WHERE w.run_id = r.run_id AND "
                "w.is_interference) FROM main.run r WHERE r.run_id = ?");
  run.bind(1, run_id);
  if (!run.step()) return {};
  return {enum_from<measure::Timing>(run.text(0)), run.integer(1) != 0};
}

/// Stores the statistics of all phases. If the step is represented by the mean, its phases are, too, so that their
/// times add up; otherwise each phase decides for itself.
void store_statistics(const Connection& results, std::int64_t run_id, const std::vector<Series>& all) {
  using measure::StepStatistic;
  const RunConditions conditions = conditions_of(results, run_id);
  std::vector<measure::Statistics> statistics;
  std::vector<StepStatistic> represented_by;
  StepStatistic of_step = StepStatistic::kMedian;  // on the device clock, which comes last, if there is one
  for (const Series& series : all) {
    statistics.push_back(measure::summarize(series.counted()));
    represented_by.push_back(
        measure::statistic_of_run(conditions.timing, conditions.waited_for_processor, statistics.back()));
    if (series.phase == "step") of_step = represented_by.back();
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    store_statistic(results, run_id, all[i], statistics[i],
                    of_step == StepStatistic::kMean ? of_step : represented_by[i]);
}

void derive_durations(const Connection& results, std::int64_t run_id) {
  Statement(results,
            "INSERT INTO main.step_duration (run_id, phase, step, warmup, throttled, ranks, host_ns, device_ns) "
            "SELECT run_id, phase, step, max(warmup), max(throttled), count(*), max(host_ns), "
            "CASE WHEN count(device_ns) = count(*) THEN max(device_ns) END "
            "FROM main.sample WHERE run_id = ? AND pass = 'time' GROUP BY phase, step")
      .bind(1, run_id)
      .run();
}

/// Appends the durations of each phase on a clock. A throttled step is excluded in all phases.
void read_series(const Connection& results, std::int64_t run_id, const char* clock, std::vector<Series>& all) {
  const std::string column = std::string("d.") + clock + "_ns";
  Statement steps(results,
                  "SELECT d.phase, w.throttled, " + column +
                      " FROM main.step_duration d "
                      "JOIN main.step_duration w ON w.run_id = d.run_id AND w.phase = 'step' AND w.step = d.step "
                      "JOIN main.run r ON r.run_id = d.run_id "
                      "WHERE d.run_id = ?1 AND w.warmup = 0 AND "
                      // of an observed program, not all ranks may be observed
                      "w.ranks = CASE r.timing WHEN 'free' THEN (SELECT count(*) FROM main.rank k WHERE k.run_id = "
                      "?1 AND k.pass = 'time') ELSE r.ranks END AND " +
                      column + " IS NOT NULL ORDER BY d.phase, d.step");
  steps.bind(1, run_id);
  const std::size_t before = all.size();
  while (steps.step()) {
    const std::string phase = steps.text(0);
    if (all.size() == before || all.back().phase != phase) all.push_back({phase, clock, {}, {}});
    (steps.integer(1) != 0 ? all.back().throttled : all.back().usual).push_back(steps.real(2));
  }
}

/// Host durations of the measured steps of a phase on one rank, by pass.
using PassTimes = std::map<std::string, std::vector<double>>;

void store_overhead(const Connection& results, std::int64_t run_id, std::int64_t rank, const std::string& phase,
                    const PassTimes& passes) {
  const auto time = passes.find("time");
  if (time == passes.end()) return;
  const double time_ns = measure::summarize(time->second).median;
  if (time_ns <= 0) return;
  Statement insert(results,
                   "INSERT INTO main.overhead (run_id, rank, pass, phase, steps, observed_ns, time_ns, ratio) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  for (const auto& [pass, times] : passes) {
    if (pass == "time") continue;
    const double observed_ns = measure::summarize(times).median;
    const auto steps = static_cast<std::int64_t>(times.size());
    insert.bind_all(run_id, rank, pass, phase, steps, observed_ns, time_ns, observed_ns / time_ns).run();
  }
}

/// Derives the table overhead: the median host time of the measured steps of each rank, observing pass and phase,
/// divided by that of the time pass on the same rank, if both exist. Runs in the caller's transaction.
void derive_overhead(const Connection& results, std::int64_t run_id) {
  Statement samples(
      results,
      "SELECT rank, phase, pass, host_ns FROM main.sample WHERE run_id = ?1 AND warmup = 0 AND pass <> 'verify' "
      "AND EXISTS (SELECT 1 FROM main.rank WHERE run_id = ?1 AND pass NOT IN ('time', 'verify'))");
  samples.bind(1, run_id);
  std::map<std::pair<std::int64_t, std::string>, PassTimes> phases;
  while (samples.step()) phases[{samples.integer(0), samples.text(1)}][samples.text(2)].push_back(samples.real(3));
  for (const auto& [whose, passes] : phases) store_overhead(results, run_id, whose.first, whose.second, passes);
}

/// Derives the tables step_duration and statistic of a run from the samples of its time pass. A step counts if every
/// rank finished it; its duration is that of the slowest rank. Warm-up steps are excluded, and so are throttled steps
/// unless all steps are throttled. Runs in the caller's transaction.
void summarize_run(const Connection& results, std::int64_t run_id) {
  derive_durations(results, run_id);
  std::vector<Series> all;
  read_series(results, run_id, "host", all);
  read_series(results, run_id, "device", all);
  store_statistics(results, run_id, all);
}

}  // namespace

const Connection& writable(const std::filesystem::path& file, const Connection& connection, bool read_only) {
  if (read_only) throw Error("database " + quote(file.string()) + " was opened read-only; open it for writing");
  return connection;
}

void close_run(const Connection& results, std::int64_t run_id, const Outcome& outcome,
               const std::vector<WorkerRow>& workers, const std::vector<std::filesystem::path>& rank_files, Keep keep) {
  forget_observations(results, run_id);
  store_outcome(results, run_id, outcome, keep);
  import_rank_files(results, run_id, rank_files, choose_retention(keep, run_id, rank_files));
  for (const WorkerRow& worker : workers) store_worker(results, run_id, worker);
  store_out_of_memory(results, run_id, outcome);
  summarize_run(results, run_id);
  // The times of two executions that did not do the same say nothing about the cost of observation.
  if (compare_executions(results, run_id)) derive_overhead(results, run_id);
  compare_launch_order(results, run_id);
  drop_summarized_events(results, run_id, keep);
}

void ResultsDatabase::finalize_run(std::int64_t run_id, const Outcome& outcome, const std::vector<WorkerRow>& workers,
                                   const std::vector<std::filesystem::path>& rank_files, Keep keep,
                                   const std::vector<DetachedProcesses>& detached) {
  const Connection& results = writable(impl_->file, *impl_->connection, impl_->read_only);
  Transaction transaction(results);
  close_run(results, run_id, outcome, workers, rank_files, keep);
  for (const DetachedProcesses& each : detached) store_detached(results, run_id, each);
  transaction.commit();
}

}  // namespace kymo::store
