// SPDX-License-Identifier: Apache-2.0
#include "terminal/reading.hpp"

#include <unistd.h>

#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "supervisor/scratch.hpp"

namespace kymo::terminal {

using store::ResultsDatabase;

namespace {

std::vector<std::string>& opened() {
  static std::vector<std::string> files;
  return files;
}

}  // namespace

std::string unexpected_value(const std::string& what) {
  return (opened().empty() ? "" : "database " + join(opened(), " or ") + ": ") +
         "a value in the data is not what kymo stores there (" + what +
         "): the database is damaged, or another program changed it; use a copy or another file";
}

bool is_missing(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::status(file, error).type() == std::filesystem::file_type::not_found;
}

void require_database(const std::filesystem::path& file) {
  if (is_missing(file))
    throw UsageError("no such database: " + quote(file.string()) + "; pass one created by 'kymo run'");
}

std::unique_ptr<ResultsDatabase> open_results(const std::filesystem::path& file) {
  if (is_missing(file)) {
    throw UsageError("no such database: " + quote(file.string()) +
                     "; pass another one with --db or create one with 'kymo run'");
  }
  auto database = std::make_unique<ResultsDatabase>(file, ResultsDatabase::Mode::kReadOnly);
  database->set_limits(kQueryLimits);
  if (std::string name = quote(file.string()); !contains(opened(), name)) opened().push_back(std::move(name));
  if (database->running_runs().empty() || access(file.c_str(), W_OK) != 0) return database;
  try {
    ResultsDatabase writable(file, ResultsDatabase::Mode::kReadWrite);
    supervisor::recover_abandoned(writable);
  } catch (const Error&) {
    // Reading must work even without write permission; the runs stay `running` until a later command can close them.
  }
  return database;
}

}  // namespace kymo::terminal
