// SPDX-License-Identifier: Apache-2.0
// ingest [KERNELS] [FOLDER]: measures how fast a GPU's activity records become rows of a results database, and their
// size there. One pass with this many kernels is read, analyzed, written as a rank file, imported by a run, and merged
// into a second database.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "analysis/derive.hpp"
#include "base/error.hpp"
#include "store/rank_file.hpp"
#include "store/results.hpp"
#include "training_run.hpp"

namespace {

namespace fs = std::filesystem;
using namespace kymo;

constexpr std::int64_t kWarmup = 5;

/// Cost in seconds: elapsed time, and processor time of this process, which is less sensitive to other load.
struct Cost {
  double elapsed = 0;
  double processor = 0;
  Cost operator+(const Cost& other) const { return {elapsed + other.elapsed, processor + other.processor}; }
};

template <typename Action>
Cost timed(const Action& action) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  action();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC};
}

void report(const char* what, const Cost& cost, std::int64_t kernels) {
  const double millions = static_cast<double>(kernels) / 1e6;
  std::printf("%-28s %7.3f s  %6.2f M kernels/s  (%.3f s of processor time: %.2f M kernels/s)\n", what, cost.elapsed,
              millions / cost.elapsed, cost.processor, millions / cost.processor);
}

/// Breakdown of derive(): each part is timed separately on a copy of the events, so that no part is counted twice in
/// the sums.
void report_parts(event::PassRecord record, std::int64_t kernels) {
  const event::Trace& trace = record.trace;
  const std::vector<bool> none_communicates(trace.texts.size() + 1, false);
  report("  attribute", timed([&] { analysis::attribute(record.trace); }), kernels);
  report("  kernel_totals", timed([&] { analysis::kernel_totals(trace, kWarmup); }), kernels);
  report("  step_activity", timed([&] { analysis::step_activity(trace, none_communicates, kWarmup); }), kernels);
  report("  kernel_outliers",
         timed([&] { analysis::kernel_outliers(trace, none_communicates, record.gpu_samples, kWarmup); }), kernels);
}

/// From the GPU's records to the worker's data at the end of a pass.
Cost read_and_derive(event::PassRecord& record, const bench::TrainingRun& run, std::int64_t kernels) {
  const auto source = bench::make_kernel_source(run);
  const Cost reading = timed([&] { source->add_to(record.trace); });
  report(source->what(), reading, kernels);
  report_parts(record, kernels);
  const Cost deriving = timed([&] { analysis::derive(record, {.warmup = kWarmup, .classifier = nullptr}); });
  report("attribute and derive", deriving, kernels);
  std::int64_t attributed = 0;
  for (const auto& activity : record.trace.activities) attributed += activity.scope != event::kNoText ? 1 : 0;
  std::printf("%-28s %zu totals, %zu outliers, %.1f %% of the kernels in a scope\n", "",
              record.derived.kernel_totals.size(), record.derived.outliers.size(),
              100.0 * static_cast<double>(attributed) / static_cast<double>(kernels));
  return reading + deriving;
}

void measure_in(const fs::path& folder, std::int64_t kernels) {
  const bench::TrainingRun made_up(kernels);
  event::PassRecord record = made_up.host_side();
  const fs::path rank_file = folder / "RUN-1-0-trace.kymo";
  store::ResultsDatabase results(folder / "results.db", store::ResultsDatabase::Mode::kCreate);
  store::RunRow run;
  run.invocation_id = results.begin_invocation("ingest", {});
  run.what.workload = "kernels";
  run.method.passes = {measure::Pass::kTrace};
  const std::int64_t run_id = results.begin_run(run);
  const auto empty = fs::file_size(folder / "results.db");

  const Cost observing = read_and_derive(record, made_up, kernels);
  const Cost writing = timed([&] { store::write_rank_file(rank_file, run_id, 0, measure::Pass::kTrace, record); });
  report("record to rank file", writing, kernels);
  report("ALL, TO THE RANK FILE", observing + writing, kernels);
  const Cost finishing = timed([&] { results.finalize_run(run_id, {}, {}, {rank_file}); });
  const auto stored = results.query("SELECT count(*) FROM kernel").rows.at(0).at(0).integer;
  if (stored != kernels)
    throw Error(std::to_string(stored) + " of " + std::to_string(kernels) + " kernels were stored");
  report("rank file to results", finishing, kernels);
  report("ALL, TO COMMITTED RESULTS", observing + writing + finishing, kernels);

  store::ResultsDatabase merged(folder / "merged.db", store::ResultsDatabase::Mode::kCreate);
  report("merge of two databases", timed([&] { merged.merge(folder / "results.db"); }), kernels);
  std::printf("%-28s %7.1f bytes per kernel (rank file %.1f)\n", "results database",
              static_cast<double>(fs::file_size(folder / "results.db") - empty) / static_cast<double>(kernels),
              static_cast<double>(fs::file_size(rank_file)) / static_cast<double>(kernels));

  std::size_t rows = 0;
  const Cost asking = timed([&] {
    rows =
        results
            .query(
                "SELECT t.run_id, p.text AS phase, n.text AS name, sum(t.calls), sum(t.total_ns) FROM kernel_total t "
                "JOIN string n ON n.string_id = t.name_id LEFT JOIN string p ON p.string_id = t.phase_id "
                "GROUP BY t.run_id, t.phase_id, t.name_id ORDER BY 5 DESC")
            .rows.size();
  });
  std::printf("%-28s %7.3f ms for %zu rows\n", "summary from kernel_total", 1e3 * asking.elapsed, rows);
}

}  // namespace

int main(int count, char** words) {
  try {
    const std::int64_t kernels = count > 1 ? std::atoll(words[1]) : 1'000'000;
    if (kernels < 1 || count > 3)
      throw UsageError("usage: ingest [KERNELS] [FOLDER]; KERNELS is at least 1, 1000000 by default");
    const fs::path parent = count > 2 ? fs::path(words[2]) : fs::temp_directory_path();
    const fs::path folder =
        parent / ("kymo-ingest-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    fs::create_directories(folder);
    std::printf("%lld kernels\n", static_cast<long long>(kernels));
    try {
      measure_in(folder, kernels);
    } catch (...) {
      fs::remove_all(folder);
      throw;
    }
    fs::remove_all(folder);
    return 0;
  } catch (const kymo::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
