// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/results.hpp"

namespace kymo::report::testing {

/// A directory that is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// One run with the outcome that the test needs.
struct SampleRun {
  std::string workload = "saxpy";
  std::string suite;
  std::string suite_case;
  measure::Parameters parameters;
  std::vector<std::pair<std::string, double>> phases_ms;  ///< name and mean time of each phase
  std::int64_t warmup = 2;
  std::int64_t steps = 6;
  double first_step_factor = 1;  ///< how much longer step 0 takes
  measure::RunStatus status = measure::RunStatus::kOk;
  std::string detail;
  std::optional<event::CheckOutcome> verification = event::CheckOutcome::kPassed;
  double gflop = 0;     ///< declared per step
  std::string loss;     ///< detail of dropped records, or empty
  bool on_gpu = false;  ///< device times, allocator peaks and clock readings
  std::string device_name = "Sample CPU";
};

/// Writes results through the store like a supervisor. The times are a fixed function of step and phase.
class SampleDatabase {
 public:
  explicit SampleDatabase(const std::filesystem::path& folder, const std::string& command = "kymo suite run cs336");
  std::int64_t add(const SampleRun& run);
  store::ResultsDatabase& database() { return *database_; }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<store::ResultsDatabase> database_;
  std::int64_t invocation_ = 0;
};

/// A run of the Transformer workload.
SampleRun transformer_run(const std::string& size, std::int64_t context, const std::string& suite_case, double scale);

/// A small but complete result: both workloads, all cases of the assignment, failures, dropped records and missing
/// verification.
void fill_with_everything(SampleDatabase& sample);

/// About twenty names that would break one format or another without escaping.
const std::vector<std::string>& hostile_names();

}  // namespace kymo::report::testing
