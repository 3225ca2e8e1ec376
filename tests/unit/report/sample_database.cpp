// SPDX-License-Identifier: Apache-2.0
#include "sample_database.hpp"

#include <cmath>

#include "base/file.hpp"
#include "store/rank_file.hpp"

namespace kymo::report::testing {
namespace {

using measure::RunStatus;

constexpr double kNanosecondsPerMillisecond = 1e6;

// A variation of a few percent, the same in every run of the test.
double wobble(std::int64_t step, std::size_t phase) {
  return 1 + 0.03 * std::sin(2.1 * static_cast<double>(step) + static_cast<double>(phase));
}

void add_step(event::PassRecord& record, const SampleRun& run, std::int64_t step, std::int64_t& clock_ns) {
  const bool warmup = step < run.warmup;
  const double factor = step == 0 ? run.first_step_factor : 1;
  const std::int64_t begin_ns = clock_ns;
  for (std::size_t p = 0; p < run.phases_ms.size(); ++p) {
    const auto [name, mean_ms] = run.phases_ms[p];
    const auto duration_ns = static_cast<std::int64_t>(mean_ms * factor * wobble(step, p) * kNanosecondsPerMillisecond);
    event::Sample sample;
    sample.step = step;
    sample.phase = name;
    sample.warmup = warmup;
    sample.start_ns = clock_ns;
    sample.host_ns = run.on_gpu ? duration_ns / 4 : duration_ns;  // the host only launches
    if (run.on_gpu) sample.device_ns = duration_ns;
    record.samples.push_back(sample);
    clock_ns += duration_ns;
  }
  event::Sample whole;
  whole.step = step;
  whole.phase = event::kWholeStep;
  whole.warmup = warmup;
  whole.start_ns = begin_ns;
  whole.host_ns = clock_ns - begin_ns + 20'000;
  if (run.on_gpu) whole.device_ns = clock_ns - begin_ns;
  record.samples.push_back(whole);
  if (run.on_gpu)
    record.gpu_samples.push_back({step, clock_ns, 1200 + 90 * std::min<std::int64_t>(step, 5), 2600, 350'000, 55, 0});
  clock_ns += 100'000;
}

event::Device device_of(const SampleRun& run) {
  event::Device device;
  device.uuid = "uuid-" + run.device_name;
  device.kind = run.on_gpu ? "cuda" : "cpu";
  device.name = run.device_name;
  device.memory_bytes = 85'000'000'000;
  device.multiprocessors = run.on_gpu ? 132 : 8;
  if (run.on_gpu) device.max_sm_clock_mhz = 1980;
  return device;
}

event::PassRecord time_record(const SampleRun& run) {
  event::PassRecord record;
  std::int64_t clock_ns = 1'000'000;
  const std::int64_t steps = run.status == RunStatus::kOk ? run.warmup + run.steps : 0;
  for (std::int64_t step = 0; step < steps; ++step) add_step(record, run, step, clock_ns);
  if (run.gflop > 0 && !run.phases_ms.empty())
    record.work.push_back({run.phases_ms[0].first, run.gflop * 1e9, run.gflop * 1e7});
  if (run.workload == "transformer_lm")
    record.metrics.push_back({event::MetricLevel::kRun, -1, "", "parameters", 128.6e6, "", ""});
  if (!run.loss.empty()) record.dropped_records.push_back({"kymo_cuda", 12, run.loss});
  record.memory.resident_bytes = 412'000'000;
  if (run.on_gpu) {
    record.memory.allocated_bytes = 1'610'612'736;
    record.memory.reserved_bytes = 2'147'483'648;
  }
  record.device = device_of(run);
  if (run.status == RunStatus::kOom)
    record.out_of_memory = event::OutOfMemory{"device", 2'000'000'000, 150'000'000, 84'000'000'000};
  return record;
}

event::PassRecord verify_record(const SampleRun& run) {
  event::PassRecord record;
  record.device = device_of(run);
  const bool passed = run.verification == event::CheckOutcome::kPassed;
  record.checks.push_back({"output", *run.verification, 1e-6, 1e-5, 1e-4, "float64 on the CPU",
                           passed ? "" : "the reference needs 180 GiB"});
  return record;
}

}  // namespace

TemporaryFolder::TemporaryFolder() : path_(make_private_folder("kymo-report-test")) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

SampleDatabase::SampleDatabase(const std::filesystem::path& folder, const std::string& command)
    : folder_(folder),
      database_(
          std::make_unique<store::ResultsDatabase>(folder / "results.db", store::ResultsDatabase::Mode::kCreate)) {
  invocation_ = database_->begin_invocation(
      command, {{"cpu", "Sample CPU, 8 cores"}, {"kernel", "Linux 6.1"}, {"torch", "2.11.0"}});
}

std::int64_t SampleDatabase::add(const SampleRun& run) {
  store::RunRow row;
  row.invocation_id = invocation_;
  row.plugin = {"sample", "1.0", "/plugins/sample.so", sha256("sample"), "libtorch", "2.11.0", "13.0", "GCC 12.2.0"};
  row.what.plugin_file = row.plugin.file;
  row.what.plugin_sha256 = row.plugin.sha256;
  row.what.workload = run.workload;
  if (run.workload == "transformer_lm") {
    row.title.family = "transformer";
    row.title.parameters["size"].choice = run.parameters.at("size") == measure::Value("small") ? 1 : 2;
  }
  row.what.parameters = run.parameters;
  row.what.device = run.on_gpu ? measure::DeviceKind::kCuda : measure::DeviceKind::kCpu;
  row.method.warmup = run.warmup;
  row.method.steps = run.steps;
  row.suite = run.suite;
  row.suite_case = run.suite_case;
  const std::int64_t run_id = database_->begin_run(row);

  std::vector<std::filesystem::path> files;
  std::vector<store::WorkerRow> workers;
  if (run.status != RunStatus::kSkipped) {
    for (const measure::Pass pass : {measure::Pass::kVerify, measure::Pass::kTime}) {
      if (pass == measure::Pass::kVerify && !run.verification) continue;
      files.push_back(folder_ / ("RUN-" + std::to_string(run_id) + "-0-" + measure::to_string(pass) + ".kymo"));
      store::write_rank_file(files.back(), run_id, 0, pass,
                             pass == measure::Pass::kTime ? time_record(run) : verify_record(run));
      workers.push_back({0, pass, 4711, "sample-host", run.status, "", ""});
    }
  }
  measure::Outcome outcome{run.status, run.detail, run.verification};
  if (run.status != RunStatus::kOk && run.status != RunStatus::kSkipped) {
    outcome.rank = 0;
    outcome.pass = measure::Pass::kTime;
    outcome.phase = "forward";
    outcome.step = 0;
  }
  database_->finalize_run(run_id, outcome, workers, files);
  return run_id;
}

SampleRun transformer_run(const std::string& size, std::int64_t context, const std::string& suite_case, double scale) {
  SampleRun run;
  run.workload = "transformer_lm";
  run.suite = "cs336";
  run.suite_case = suite_case;
  run.parameters = {{"size", size},
                    {"context", context},
                    {"batch", std::int64_t{4}},
                    {"dtype", std::string("fp32")},
                    {"autocast", false},
                    {"mode", std::string(suite_case == "timing-inference" ? "forward" : "train")},
                    {"vocab_size", std::int64_t{10000}},
                    {"d_model", std::int64_t{768}},
                    {"layers", std::int64_t{12}}};
  const double forward_ms = scale * static_cast<double>(context) / 256;
  run.phases_ms = {{"forward", forward_ms}};
  if (suite_case != "timing-inference")
    run.phases_ms = {{"forward", forward_ms}, {"backward", 1.9 * forward_ms}, {"optimizer", 0.4 * scale}};
  run.gflop = 40 * scale;
  run.on_gpu = true;
  run.device_name = "Sample H100";
  return run;
}

void fill_with_everything(SampleDatabase& sample) {
  const std::vector<std::pair<std::string, double>> sizes{
      {"small", 20.6}, {"medium", 59.1}, {"large", 124.8}, {"xl", 205.7}, {"2.7B", 334.8}};
  for (const auto& [size, scale] : sizes) {
    for (const std::int64_t context : {128, 256, 512, 1024}) {
      SampleRun run = transformer_run(size, context, "timing", scale);
      if (size == "2.7B" && context >= 512) {
        run.status = RunStatus::kOom;
        run.detail = "CUDA out of memory: asked for 1.86 GiB, 143 MiB free";
      }
      if (size == "xl" && context == 1024) {
        run.status = RunStatus::kSkipped;
        run.detail = "needs 2 ranks, 1 device found";
        run.verification.reset();
      }
      if (size == "large") run.verification = event::CheckOutcome::kUnavailable;
      sample.add(run);
    }
  }
  for (const std::int64_t warmup : {0, 1, 2, 5}) {
    SampleRun run = transformer_run("small", 256, "timing-warmup", 20.6);
    run.warmup = warmup;
    run.steps = 10;
    run.first_step_factor = 14;
    sample.add(run);
  }
  for (const auto& [size, scale] : sizes) sample.add(transformer_run(size, 256, "timing-inference", 0.93 * scale));
  for (const std::int64_t n : {1024, 65536, 16777216}) {
    SampleRun run;
    run.parameters = {{"n", n}, {"dtype", std::string("fp32")}};
    run.phases_ms = {{"compute", 0.002 + static_cast<double>(n) * 4e-7}};
    run.gflop = 2e-9 * static_cast<double>(n);
    if (n == 65536) run.loss = "3 activity buffers were dropped";
    sample.add(run);
  }
}

const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> names{"it's \"quoted\"",
                                              "two\nlines\r\nand\ttab",
                                              "<script>alert(1)</script>",
                                              "\\input{/etc/passwd}",
                                              "=cmd|'/c calc'!A1",
                                              "100 % _of_ everything_",
                                              "x^2 ~ y~z ^^41",
                                              "{unbalanced } {{mustache}} }{",
                                              "$HOME $$ #1 ## &amp; &",
                                              "`rm -rf` ``two`` ```",
                                              "a|b||c \\| d",
                                              "\xE2\x80\xAE"
                                              "desrever\xE2\x81\xA6 \xE2\x80\x8F",
                                              std::string("nul\0bell\a esc\x1b[31m del\x7f", 23),
                                              "\xF0\x9D\x95\x82 \xF0\x9F\x9A\x80 non-BMP",
                                              std::string(3000, 'W'),
                                              "broken \xC3( \xFF\xFE \xE2\x82 \xED\xA0\x80",
                                              "-->]]> <![CDATA[ <!-- ",
                                              "\\end{document} \\write18{id} \\\\ \\[",
                                              "[link](javascript:alert(1)) ![i](x) **b** _e_",
                                              "@SUM(A1) +1+1 -2",
                                              "-- ?` !` ,, << >> ''",
                                              "../../etc/passwd",
                                              " ",
                                              "zero\xE2\x80\x8B width\xEF\xBB\xBF joiner\xE2\x80\x8D e\xCC\x81",
                                              "'; DROP TABLE run; --",
                                              "Ünïcödé ßæø ×±µ → 中文 العربية"};
  return names;
}

}  // namespace kymo::report::testing
