// SPDX-License-Identifier: Apache-2.0
#include "sample_events.hpp"

#include <sqlite3.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kymo::exports::testing {
namespace fs = std::filesystem;

namespace {

std::string sql_text(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? "''" : std::string(1, letter);
  return quoted + "'";
}

const std::vector<std::string>& texts() {
  static const std::vector<std::string> all{kHostile,
                                            "forward",
                                            "backward",
                                            "block_0/attention",
                                            "attention",
                                            "sgemm_kernel",
                                            "memcpy host to device",
                                            "memset",
                                            "aten::mm",
                                            "[4, 256] [256]",
                                            "cudaLaunchKernel",
                                            "c10::alloc(unsigned long)"};
  return all;
}

}  // namespace

void ExportTest::SetUp() {
  folder_ = make_private_folder("kymo-export-test");
  {
    const store::ResultsDatabase make(path("kymo.db"), store::ResultsDatabase::Mode::kCreate);
  }
  ASSERT_EQ(sqlite3_open(path("kymo.db").c_str(), &file_), SQLITE_OK);
  execute("PRAGMA synchronous = OFF");  // durability is not required in a test
  execute(read_file(fs::path(KYMO_SOURCE_DIR) / "tests" / "sql" / "common" / "runs.sql"));
  execute("UPDATE run SET keep = 'summary' WHERE run_id = 1; UPDATE run SET ranks = 2 WHERE run_id = 3;");
  for (const char* worker : {"1, 0, 'trace'", "3, 0, 'time'", "3, 0, 'trace'", "3, 1, 'trace'", "3, 0, 'ops'",
                             "3, 0, 'memory'", "4, 0, 'time'"}) {
    execute(
        std::string("INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, stdout, stderr) VALUES (") +
        worker + ", 4321, 'h', 'ok', 2, '', '')");
  }
  add_texts();
  add_trace();
  add_ops();
  add_memory();
  add_collectives();
  database_ = std::make_unique<store::ResultsDatabase>(path("kymo.db"), store::ResultsDatabase::Mode::kReadOnly);
}

void ExportTest::TearDown() {
  database_.reset();
  sqlite3_close(file_);
  fs::remove_all(folder_);
}

void ExportTest::execute(const std::string& sql) {
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(file_, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << (message ? message : "") << " in " << sql;
  sqlite3_free(message);
}

int ExportTest::text_id(const std::string& text) {
  const auto found = std::find(texts().begin(), texts().end(), text);
  EXPECT_NE(found, texts().end()) << text;
  return static_cast<int>(found - texts().begin()) + 1;
}

std::vector<std::string> ExportTest::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
  names.erase(std::remove(names.begin(), names.end(), "kymo.db"), names.end());
  std::sort(names.begin(), names.end());
  return names;
}

void ExportTest::add_texts() {
  for (std::size_t i = 0; i < texts().size(); ++i) {
    execute("INSERT INTO string VALUES (" + std::to_string(i + 1) + ", " + sql_text(texts()[i]) + ")");
  }
  execute("INSERT INTO kernel_class VALUES (" + std::to_string(text_id("sgemm_kernel")) + ", 'sgemm', 'matmul'), (1, " +
          sql_text(kHostile) + ", 'other')");
}

// Two steps of 1 ms; the second kernel of stream 7 begins before the first one ends, as in a CUDA graph.
void ExportTest::add_trace() {
  const std::string forward = std::to_string(text_id("forward"));
  const std::string scope = std::to_string(text_id("block_0/attention"));
  execute(
      "INSERT INTO sample (run_id, rank, pass, step, phase, warmup, throttled, calls, start_ns, host_ns, device_ns) "
      "VALUES (3, 0, 'trace', 0, 'step', 1, 0, 1, 1000000, 900000, NULL), "
      "(3, 0, 'trace', 1, 'step', 0, 0, 1, 2000000, 900001, NULL)");
  execute("INSERT INTO range VALUES (3, 0, 'trace', 0, NULL, 'phase', " + forward + ", NULL, 0, " + forward +
          ", 0, 1000010, 1500000), "
          "(3, 0, 'trace', 1, 0, 'scope', 1, " +
          scope + ", 0, " + forward +
          ", 1, 1000020, 1400000), "
          "(3, 0, 'trace', 2, NULL, 'scope', 1, 1, 1, NULL, 0, 2000000, NULL), "
          "(3, 1, 'trace', 0, NULL, 'phase', " +
          forward + ", NULL, 0, " + forward + ", 0, 5, 6)");
  execute("INSERT INTO launch_config VALUES (3, 0, 'trace', 0, 8, 4, 2, 256, 1, 1, 1024, 2048, 96)");
  execute("INSERT INTO gpu_activity VALUES (3, 0, 'trace', 0, " + std::to_string(text_id("sgemm_kernel")) +
          ", 1100000, 1200500, 7, 42, 0, " + forward + ", " + scope +
          ", 'launch', 0, NULL, NULL, NULL, NULL), "
          "(3, 0, 'trace', 2, 1, 1200000, 1300001, 7, 43, 0, NULL, NULL, 'none', 0, 99, NULL, NULL, NULL), "
          "(3, 0, 'trace', 1, " +
          std::to_string(text_id("memcpy host to device")) + ", 1150000, 1160000, 13, 44, 0, " + forward +
          ", NULL, 'phase', NULL, NULL, NULL, 4096, NULL), "
          "(3, 0, 'trace', 3, " +
          std::to_string(text_id("memset")) +
          ", 1400000, 1400100, 7, 45, 1, NULL, NULL, 'none', NULL, NULL, NULL, 512, NULL)");
  const std::string call = std::to_string(text_id("cudaLaunchKernel"));
  execute("INSERT INTO api_call VALUES (3, 0, 'trace', 0, " + call +
          ", 1050000, 1060000, 4321, 42), (3, 0, 'trace', 1, " + call + ", 1070000, 1080000, 4322, 43)");
  execute("INSERT INTO synchronization VALUES (3, 0, 'trace', 0, 'stream', 1300000, 1400000, 7, 60)");
  execute("INSERT INTO cupti_overhead VALUES (3, 0, 'trace', 0, 'buffer flush', 1600000, 1700000)");
}

void ExportTest::add_ops() {
  execute("INSERT INTO op VALUES (3, 0, 'ops', 0, NULL, " + std::to_string(text_id("aten::mm")) + ", " +
          std::to_string(text_id("[4, 256] [256]")) + ", 0, 100, 900, 500, 0, 17, 0, " +
          std::to_string(text_id("forward")) +
          ", 1, 'launch', NULL), "
          "(3, 0, 'ops', 1, 0, 1, NULL, 1, 200, NULL, 500, 0, NULL, -1, NULL, NULL, 'none', NULL)");
}

// A segment of 1 MiB with three blocks: never freed, freed, and freed but still in use by a stream; and one of the
// host.
void ExportTest::add_memory() {
  const std::string forward = std::to_string(text_id("forward"));
  const auto block = [&](const std::string& values) {
    execute("INSERT INTO allocation VALUES (3, 0, 'memory', " + values + ")");
  };
  execute(
      "INSERT INTO segment VALUES (3, 0, 'memory', 0, 1048576, 1048576, 0, 1000, NULL, NULL), "
      "(3, 0, 'memory', 10, 9000000, 4096, 0, 11000, 12000, 11)");
  block(
      "1, 'cuda', 1048576, 1000, 1024, 2000, NULL, NULL, NULL, NULL, 0, 0, -1, NULL, NULL, NULL, NULL, NULL, "
      "'parameter', 'tag', 0");
  block("2, 'cuda', 1050000, 700, 1024, 3000, 4000, 5000, 3, 4, 0, 0, 0, " + forward + ", 1, 0, " +
        std::to_string(text_id("backward")) + ", " + std::to_string(text_id("aten::mm")) +
        ", 'activation', 'lifetime', 0");
  block("5, 'cuda', 1100000, 512, 512, 6000, 7000, NULL, 6, NULL, 0, 0, 0, " + forward + ", NULL, 0, " + forward +
        ", 1, 'unknown', '', NULL");
  block("7, 'cpu', 64, 100, 100, 8000, 9000, 9000, 8, 8, 0, 0, 0, NULL, NULL, 0, NULL, NULL, 'input', 'tag', NULL");
  block(
      "9, 'cpu', -4096, 10, 10, 10000, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 'unknown', '', "
      "NULL");
  execute("INSERT INTO stack VALUES (3, 0, 'memory', 0, 0, 0), (3, 0, 'memory', 0, 1, 1)");
  execute("INSERT INTO stack_frame VALUES (3, 0, 'memory', 0, 'libc10_cuda.so', 4660, " +
          std::to_string(text_id("c10::alloc(unsigned long)")) + ", NULL), (3, 0, 'memory', 1, " + sql_text(kHostile) +
          ", 255, NULL, NULL)");
  execute(
      "INSERT INTO memory_point (run_id, rank, pass, sequence, device, time_ns, step, phase_id, requested_bytes, "
      "allocated_bytes, "
      "active_bytes, reserved_bytes) "
      "VALUES (3, 0, 'memory', 1, 'cuda', 2000, -1, NULL, 1000, 1024, 1024, 1048576)");
}

// Two overlapping calls, the second issued first and started last; one of another communicator without observed
// execution, and one that never ended.
void ExportTest::add_collectives() {
  const std::string backward = std::to_string(text_id("backward"));
  const std::string scope = std::to_string(text_id("block_0/attention"));
  execute(
      "INSERT INTO collective (run_id, rank, pass, sequence, communicator_id, call_number, operation, bytes, "
      "on_device, "
      "enqueue_ns, returned_ns, start_ns, end_ns, kernels, step, phase_id, scope_id, attribution, group_ranks, dtype) "
      "VALUES (3, 0, 'trace', 0, 1, 7, 'all_reduce', 4096, 1, 1010000, 1020000, 1150000, "
      "1250000, 2, 0, " +
      backward + ", " + scope +
      ", 'autograd', NULL, NULL), "
      "(3, 0, 'trace', 1, 1, 8, 'all_gather', 64, 1, 1030000, 1040000, 1100000, 1200000, 1, 0, NULL, NULL, 'none', "
      "NULL, NULL), "
      "(3, 0, 'trace', 2, 2, 0, 'broadcast', 8, 1, 1300000, 1310000, NULL, NULL, 0, -1, NULL, NULL, 'none', NULL, "
      "NULL), "
      "(3, 0, 'trace', 3, 2, 1, 'barrier', 0, 0, 1400000, NULL, 1400000, NULL, 0, -1, NULL, NULL, 'none', NULL, NULL)");
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

}  // namespace kymo::exports::testing
