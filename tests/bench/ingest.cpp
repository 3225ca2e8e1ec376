// SPDX-License-Identifier: Apache-2.0
// ingest [KERNELS] [FOLDER]: how fast events get into a results database, and how much room they take there. One pass with that many
// kernels is written as a rank file, adopted by a run, and merged into a second database.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "store/rank_file.hpp"
#include "store/results.hpp"

namespace {

namespace fs = std::filesystem;
using namespace kymo;

constexpr std::int64_t kKernelsPerStep = 2'000;
constexpr int kNames = 331;
constexpr int kScopes = 97;

/// The kernels of a training run: a few hundred names and paths, a handful of launch shapes, times that grow.
event::PassRecord make_record(std::int64_t kernels) {
  event::PassRecord record;
  event::Trace& trace = record.trace;
  trace.phases = {"forward", "backward", "optimizer"};
  std::vector<event::TextId> names, scopes;
  for (int i = 0; i < kNames; ++i)
    names.push_back(
        trace.texts.intern("void at::native::vectorized_elementwise_kernel<4, functor " + std::to_string(i) + ">(int, float*)"));
  for (int i = 0; i < kScopes; ++i) scopes.push_back(trace.texts.intern("block_" + std::to_string(i) + "/attention/softmax"));
  for (int i = 0; i < 64; ++i) trace.shapes.push_back({{128 + i, 1, 1}, {256, 1, 1}, 0, 49'152, 168});
  for (std::int64_t i = 0; i < kernels; ++i) {
    event::Activity kernel;
    kernel.start_ns = 1'000'000'000 + i * 3'400;
    kernel.end_ns = kernel.start_ns + 2'500 + i % 3'333;
    kernel.name = names[static_cast<std::size_t>(i % kNames)];
    kernel.correlation_id = static_cast<std::uint32_t>(3 * i + 1);
    kernel.stream = 7;
    kernel.shape = static_cast<std::uint32_t>(i % 64);
    kernel.attribution = i % 2 == 0 ? event::Attribution::kLaunch : event::Attribution::kAutograd;
    kernel.step = static_cast<std::int32_t>(i / kKernelsPerStep);
    kernel.phase = static_cast<std::int32_t>(i % 3);
    kernel.scope = scopes[static_cast<std::size_t>(i % kScopes)];
    trace.activities.push_back(kernel);
  }
  for (int phase = 0; phase < 3; ++phase) {
    for (int i = 0; i < kNames; ++i) {
      event::KernelTotal total;
      total.phase = phase;
      total.name = names[static_cast<std::size_t>(i)];
      total.scope = scopes[static_cast<std::size_t>(i % kScopes)];
      total.steps = kernels / kKernelsPerStep + 1;
      total.calls = kernels / kNames / 3;
      total.total_ns = total.calls * (4'000 + i);
      record.derived.kernel_totals.push_back(total);
    }
  }
  for (std::int64_t step = 0; step <= kernels / kKernelsPerStep; ++step) {
    event::Sample sample;
    sample.step = step;
    sample.phase = event::kWholeStep;
    sample.host_ns = kKernelsPerStep * 3'400;
    record.samples.push_back(sample);
  }
  return record;
}

/// What something took, in seconds: on the clock, and of this process's processor time, which a busy machine does not lengthen as much.
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

void measure_in(const fs::path& folder, std::int64_t kernels) {
  const event::PassRecord record = make_record(kernels);
  const fs::path rank_file = folder / "RUN-1-0-trace.kymo";
  store::ResultsDatabase results(folder / "results.db", store::ResultsDatabase::Mode::kCreate);
  store::RunRow run;
  run.invocation_id = results.begin_invocation("ingest", {});
  run.what.workload = "kernels";
  run.how.passes = {measure::Pass::kTrace};
  const std::int64_t run_id = results.begin_run(run);
  const auto empty = fs::file_size(folder / "results.db");

  const Cost writing = timed([&] { store::write_rank_file(rank_file, run_id, 0, measure::Pass::kTrace, record); });
  store::RunEnd end;
  end.status = "ok";
  const Cost finishing = timed([&] { results.finish_run(run_id, end, {}, {rank_file}); });
  const auto stored = results.query("SELECT count(*) FROM kernel").rows.at(0).at(0).integer;
  if (stored != kernels) throw Error(std::to_string(stored) + " of " + std::to_string(kernels) + " kernels were stored");
  report("record to rank file", writing, kernels);
  report("rank file to results", finishing, kernels);
  report("record to results", writing + finishing, kernels);

  store::ResultsDatabase merged(folder / "merged.db", store::ResultsDatabase::Mode::kCreate);
  report("merge of two databases", timed([&] { merged.merge(folder / "results.db"); }), kernels);
  std::printf("%-28s %7.1f bytes a kernel (rank file %.1f)\n", "results database",
              static_cast<double>(fs::file_size(folder / "results.db") - empty) / static_cast<double>(kernels),
              static_cast<double>(fs::file_size(rank_file)) / static_cast<double>(kernels));

  std::size_t rows = 0;
  const Cost asking = timed([&] {
    rows = results
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
    if (kernels < 1 || count > 3) throw UsageError("usage: ingest [KERNELS] [FOLDER]; KERNELS is at least 1, 1000000 by default");
    const fs::path parent = count > 2 ? fs::path(words[2]) : fs::temp_directory_path();
    const fs::path folder = parent / ("kymo-ingest-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
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
