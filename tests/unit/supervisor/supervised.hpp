// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/file.hpp"
#include "store/results.hpp"
#include "supervisor/supervisor.hpp"
#include "unit/hang.hpp"

namespace kymo::supervisor {

/// A results database in a temporary directory, which is removed with it.
struct TemporaryDatabase {
  std::filesystem::path folder = make_private_folder("kymo-supervisor-test-");
  store::ResultsDatabase database{folder / "results.db", store::ResultsDatabase::Mode::kCreate};
  std::int64_t invocation = database.begin_invocation("kymo test", {{"host", "here"}});
  ~TemporaryDatabase() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::filesystem::path scratch_root() const { return std::filesystem::canonical(folder) / "results.db.scratch"; }
  /// Rows as lines, cells separated by '|'.
  std::vector<std::string> lines(const std::string& sql) const {
    std::vector<std::string> result;
    for (const auto& row : database.query(sql).rows) {
      std::string line;
      for (const auto& cell : row) {
        if (&cell != &row.front()) line += "|";
        using Type = store::ResultsDatabase::Cell::Type;
        line += cell.type == Type::kNull      ? "NULL"
                : cell.type == Type::kInteger ? std::to_string(cell.integer)
                                              : cell.text;
      }
      result.push_back(line);
    }
    return result;
  }
};

/// A run of the fake worker, controlled by `parameters`.
inline PlannedRun fake_run(measure::Parameters parameters = {}, int ranks = 1) {
  PlannedRun run;
  run.what.plugin_file = "/fake.so";
  run.what.plugin_sha256 = "00";
  run.what.workload = "fake";
  run.what.parameters = std::move(parameters);
  run.what.ranks = ranks;
  run.method.steps = 4;
  run.method.warmup = 0;
  run.method.passes = {measure::Pass::kTime};
  run.method.timeout_s = kHang_s;
  run.plugin.name = "fake";
  run.plugin.sha256 = "00";
  return run;
}

}  // namespace kymo::supervisor
