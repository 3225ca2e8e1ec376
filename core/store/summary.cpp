// SPDX-License-Identifier: Apache-2.0
#include "store/summary.hpp"

#include <string>
#include <utility>
#include <vector>

#include "measure/statistics.hpp"

namespace kymo::store {
namespace {

/// The steps of one phase on one clock, in nanoseconds.
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
            "INSERT INTO main.statistic (run_id, phase, clock, count, excluded, all_throttled, mean_ns, std_ns, median_ns, min_ns, max_ns, "
            "ci_low_ns, ci_high_ns, p95_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind_all(run_id, series.phase, clock, s.count, excluded, all_throttled, s.mean, s.std, s.median, s.min, s.max, s.ci_low, s.ci_high,
                s.p95)
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

/// `clock` names the column that holds the times. A step is throttled as a whole, whichever phase it was noticed in.
void summarize_clock(const Connection& results, std::int64_t run_id, const char* clock) {
  const std::string column = std::string("d.") + clock + "_ns";
  Statement steps(results, "SELECT d.phase, w.throttled, " + column +
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

}  // namespace

void summarize_run(const Connection& results, std::int64_t run_id) {
  derive_durations(results, run_id);
  summarize_clock(results, run_id, "host");
  summarize_clock(results, run_id, "device");
}

}  // namespace kymo::store
