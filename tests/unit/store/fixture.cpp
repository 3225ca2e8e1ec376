// SPDX-License-Identifier: Apache-2.0
#include "unit/store/fixture.hpp"

#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/file.hpp"
#include "store/sqlite.hpp"

namespace kymo::store::testing {

void StoreTest::SetUp() { folder_ = make_private_folder("kymo-store-test"); }
void StoreTest::TearDown() { std::filesystem::remove_all(folder_); }

RunRow make_run(std::int64_t invocation_id, std::int64_t n, int ranks) {
  RunRow run;
  run.invocation_id = invocation_id;
  run.plugin = {"saxpy", "1.0", "/plugins/saxpy.so", "5a5a", "libtorch", "2.11.0", "13.0", "gcc 12"};
  run.what.plugin_file = "/plugins/saxpy.so";
  run.what.plugin_sha256 = "5a5a";
  run.what.plugin_libraries = {{"librest.so", "7b7b"}};
  run.what.workload = "saxpy";
  run.what.parameters = {{"n", n}, {"dtype", std::string("fp32")}, {"causal", true}, {"scale", 0.5}};
  run.what.ranks = ranks;
  run.method.warmup = 2;
  run.method.steps = 10;
  return run;
}

event::PassRecord make_record(std::int64_t steps) {
  event::PassRecord record;
  for (std::int64_t step = 0; step < steps; ++step) {
    event::Sample whole;
    whole.step = step;
    whole.phase = event::kWholeStep;
    whole.warmup = step < 2;
    whole.start_ns = step * 5000;
    whole.host_ns = 1000 + 10 * step;
    event::Sample compute = whole;
    compute.phase = "compute";
    compute.host_ns = whole.host_ns / 2;
    compute.device_ns = compute.host_ns - 1;
    record.samples.push_back(whole);
    record.samples.push_back(compute);
  }
  record.work.push_back({"compute", 2e9, 1e6});
  event::Metric loss;
  loss.name = "loss";
  loss.number = 2.5;
  record.metrics.push_back(loss);
  record.marks.push_back({"ready", 17, -1});
  record.memory_counters = {{-1, 20, 100, 200, 1}, {0, 30, 150, 400, 3}};
  record.memory = {1 << 20, 1 << 18, 1 << 19};
  record.device = {"cpu-1234", "cpu", "A processor", 1 << 30, 8, {}, {}, 2048, 32, 65536, 233472, 1024, 0};
  return record;
}

std::filesystem::path rank_file_name(const std::filesystem::path& folder, std::int64_t run_id, int rank,
                                     measure::Pass pass) {
  return folder /
         ("RUN-" + std::to_string(run_id) + "-" + std::to_string(rank) + "-" + measure::to_string(pass) + ".kymo");
}

std::int64_t store_run(ResultsDatabase& database, std::int64_t invocation_id, const std::filesystem::path& scratch,
                       std::int64_t n) {
  const std::int64_t run_id = database.begin_run(make_run(invocation_id, n));
  const auto file = rank_file_name(scratch, run_id, 0, measure::Pass::kTime);
  write_rank_file(file, run_id, 0, measure::Pass::kTime, make_record());
  WorkerRow worker;
  worker.pid = 4711;
  worker.host = "node1";
  worker.stdout_text = "hello";
  database.finalize_run(run_id, Outcome{}, {worker}, {file});
  std::filesystem::remove(file);
  return run_id;
}

void make_database(const std::filesystem::path& file, int runs) {
  ResultsDatabase database(file, ResultsDatabase::Mode::kCreate);
  const std::int64_t invocation_id =
      database.begin_invocation("kymo run saxpy", {{"host", "node1"}, {"cpu", "A processor"}});
  for (int i = 0; i < runs; ++i) store_run(database, invocation_id, file.parent_path(), i);
  database.end_invocation(invocation_id, 0);
}

namespace {

std::string text_of(const ResultsDatabase::Cell& cell) {
  using Type = ResultsDatabase::Cell::Type;
  switch (cell.type) {
    case Type::kNull:
      return "NULL";
    case Type::kInteger:
      return std::to_string(cell.integer);
    case Type::kReal: {
      char text[64];
      std::snprintf(text, sizeof text, "%.9g", cell.real);
      return text;
    }
    case Type::kText:
      break;
  }
  return cell.text;
}

}  // namespace

std::string ask(const ResultsDatabase& database, const std::string& sql) {
  std::string text;
  const auto table = database.query(sql);
  for (const auto& row : table.rows) {
    if (&row != &table.rows.front()) text += ';';
    for (std::size_t i = 0; i < row.size(); ++i) text += (i > 0 ? "|" : "") + text_of(row[i]);
  }
  return text;
}

void tamper(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_free(message);
  sqlite3_close(database);
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

int damaged_copies(int count) {
  const char* most = std::getenv("KYMO_DAMAGED_COPIES");
  return most ? std::min(count, std::atoi(most)) : count;
}

void put_content(const std::filesystem::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

void leave_hot_journal(const std::filesystem::path& file) {
  in_child([&] {
    const Connection writer(file, Connection::Access::kReadWrite);
    writer.exec(
        "PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE sample SET host_ns = 0; DELETE FROM param; "
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
        "INSERT INTO environment SELECT 1, 'fact ' || i, 'text' FROM n");
    return ::raise(SIGKILL);
  });
}

SmallDisk::SmallDisk(const std::filesystem::path& folder, const std::string& size)
    : folder_(folder),
      mounted_((std::filesystem::create_directories(folder),
                ::mount("none", folder.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0)) {}

SmallDisk::~SmallDisk() {
  if (!mounted_) return;
  EXPECT_EQ(::umount(folder_.c_str()), 0);
}

void SmallDisk::fill(std::int64_t left) const {
  const auto free = static_cast<std::int64_t>(std::filesystem::space(folder_).available);
  std::ofstream(folder_ / "fill", std::ios::binary | std::ios::app)
      << std::string(static_cast<std::size_t>(std::max<std::int64_t>(0, free - left)), 'x');
}

int in_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace kymo::store::testing
