// SPDX-License-Identifier: Apache-2.0
#include "store/summary.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "measure/statistics.hpp"

namespace kymo::store {
namespace {

/// Durations of one phase on one clock, in nanoseconds.
struct Series {
  std::string phase;
  std::vector<double> usual;
  std::vector<double> throttled;
};

void store_statistic(const Connection& results, std::int64_t run_id, const char* clock, const Series& series) {
  const bool all_throttled = series.usual.empty();
  const auto& counted = all_throttled ? series.throttled : series.usual;
  if (counted.empty()) return;
  const measure::Statistics s = measure::summarize(counted);
  const std::int64_t excluded = all_throttled ? 0 : static_cast<std::int64_t>(series.throttled.size());
  Statement(results,
            "INSERT INTO main.statistic (run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, "
            "median_ns, min_ns, max_ns, "
            "ci_low_ns, ci_high_ns, p95_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind_all(run_id, series.phase, clock, s.count, excluded, all_throttled, s.mean, s.std, s.median, s.min, s.max,
                s.ci_low, s.ci_high, s.p95)
      .run();
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

/// `clock` selects the column with the durations. A throttled step is excluded in all phases.
void summarize_clock(const Connection& results, std::int64_t run_id, const char* clock) {
  const std::string column = std::string("d.") + clock + "_ns";
  Statement steps(results,
                  "SELECT d.phase, w.throttled, " + column +
                      " FROM main.step_duration d "
                      "JOIN main.step_duration w ON w.run_id = d.run_id AND w.phase = 'step' AND w.step = d.step "
                      "JOIN main.run r ON r.run_id = d.run_id "
                      "WHERE d.run_id = ?1 AND w.warmup = 0 AND w.ranks = r.ranks AND " +
                      column + " IS NOT NULL ORDER BY d.phase, d.step");
  steps.bind(1, run_id);
  Series series;
  while (steps.step()) {
    const std::string phase = steps.text(0);
    if (phase != series.phase) {
      store_statistic(results, run_id, clock, series);
      series = {phase, {}, {}};
    }
    (steps.integer(1) != 0 ? series.throttled : series.usual).push_back(steps.real(2));
  }
  store_statistic(results, run_id, clock, series);
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

}  // namespace

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

void summarize_run(const Connection& results, std::int64_t run_id) {
  derive_durations(results, run_id);
  summarize_clock(results, run_id, "host");
  summarize_clock(results, run_id, "device");
}

}  // namespace kymo::store
