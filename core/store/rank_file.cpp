// SPDX-License-Identifier: Apache-2.0
#include "store/rank_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "store/rank_import.hpp"
#include "store/schema_version.hpp"
#include "store/sqlite.hpp"
#include "store/table.hpp"

namespace kymo::store {
namespace {

namespace fs = std::filesystem;

void write_rank(RankTarget& to, const event::PassRecord& record) {
  const event::Device& d = record.device;
  std::optional<std::int64_t> device_id;
  if (!d.uuid.empty()) {
    device_id = 1;
    constexpr const char* kColumns =
        "device_id, uuid, kind, name, memory_bytes, multiprocessors, max_sm_clock_mhz, max_memory_clock_mhz, "
        "multiprocessor_threads, multiprocessor_blocks, multiprocessor_registers, multiprocessor_shared_bytes, "
        "reserved_shared_bytes";
    Statement(to.connection, insert_sql("device", kColumns))
        .bind_all(*device_id, d.uuid, d.kind, d.name, d.memory_bytes, d.multiprocessors, d.max_sm_clock_mhz,
                  d.max_memory_clock_mhz, d.multiprocessor_threads, d.multiprocessor_blocks, d.multiprocessor_registers,
                  d.multiprocessor_shared_bytes, d.reserved_shared_bytes)
        .run();
  }
  constexpr const char* kColumns =
      "run_id, rank, pass, pid, host, status, device_id, resident_peak_bytes, allocated_peak_bytes, "
      "reserved_peak_bytes, stdout, stderr, trace_status";
  Statement(to.connection, insert_sql("rank", kColumns))
      .bind_all(to.run_id, to.rank, to.pass, 0, "", "", device_id, record.memory.resident_bytes,
                record.memory.allocated_bytes, record.memory.reserved_bytes, "", "", record.trace_status)
      .run();
}

/// Run, rank and pass of a file.
struct FileOwner {
  std::int64_t run_id;
  int rank;
  measure::Pass pass;
};

// A page size suited to millions of rows would make a file of many small tables four times larger.
constexpr std::int64_t kManyEvents = 20'000;

std::int64_t sum(const std::map<std::string, std::int64_t>& counts) {
  std::int64_t total = 0;
  for (const auto& [table, count] : counts) total += count;
  return total;
}

/// Event tables are omitted if `events_left_out` is set.
void write_tables(RankTarget& to, const event::PassRecord& record,
                  const std::optional<event::DroppedRecords>& events_left_out) {
  for (const auto& table : observed_tables()) {
    if (!table->is_event() || !events_left_out) table->write(to, record);
  }
  if (events_left_out) to.dropped.insert(to.dropped.begin(), *events_left_out);
  for (const auto& [source, count, detail] : to.dropped)
    add_dropped_records(to.connection, to.run_id, to.rank, to.pass, source, count, detail);
}

/// Number of event rows of a pass by table; empty tables are omitted.
std::map<std::string, std::int64_t> count_events(const event::PassRecord& record) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& table : observed_tables()) {
    const std::int64_t rows = table->is_event() ? table->count(record) : 0;
    if (rows > 0) counts[table->name()] = rows;
  }
  return counts;
}

/// Without the events if `events_left_out` gives the reason and their number.
void write_database(const fs::path& file, const FileOwner& owner, const event::PassRecord& record,
                    const std::optional<event::DroppedRecords>& events_left_out) {
  const Connection connection(file, Connection::Access::kCreate);
  const bool many = !events_left_out && sum(count_events(record)) > kManyEvents;
  connection.exec(many ? "PRAGMA page_size = 16384; PRAGMA cache_size = -32768" : "PRAGMA page_size = 4096");
  // No other process uses the file until it is renamed, so it needs no journal on disk and no flush per transaction.
  connection.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE");
  Transaction transaction(connection);
  connection.exec("PRAGMA application_id = " + std::to_string(kRankFileApplicationId));
  migrate(connection, own_schema());
  RankTarget to{
      connection, owner.run_id, owner.rank, measure::to_string(owner.pass), {record.trace.texts, record.trace.phases}};
  write_rank(to, record);
  write_tables(to, record, events_left_out);
  to.texts.write(connection);
  transaction.commit();
}

void flush_to_disk(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const int failed = descriptor < 0 || ::fsync(descriptor) != 0 ? errno : 0;
  if (descriptor >= 0) ::close(descriptor);
  if (failed != 0)
    throw Error("rank file " + quote(file.string()) + " could not be flushed (" + std::strerror(failed) +
                "); check free space and the disk");
}

/// Removes an unfinished file, however writing ends.
struct Unfinished {
  fs::path file;
  ~Unfinished() {
    std::error_code ignored;
    fs::remove(file, ignored);
  }
};

}  // namespace

namespace {

/// Dropped-record entry for events that do not fit.
event::DroppedRecords left_out(const std::map<std::string, std::int64_t>& events, const std::string& why) {
  std::vector<std::string> counts;
  for (const auto& [table, count] : events) counts.push_back(table + " " + std::to_string(count));
  return {"store", sum(events), "events that could not be written (" + join(counts, ", ") + "): " + why};
}

void write_complete(const fs::path& file, const FileOwner& owner, const event::PassRecord& record,
                    const std::optional<event::DroppedRecords>& events_left_out) {
  std::error_code ignored;
  fs::remove(file, ignored);
  write_database(file, owner, record, events_left_out);
  flush_to_disk(file);
}

}  // namespace

void write_rank_file(const fs::path& file, std::int64_t run_id, int rank, measure::Pass pass,
                     const event::PassRecord& record) {
  const Unfinished unfinished{file.string() + ".unfinished-" + std::to_string(::getpid())};
  const FileOwner owner{run_id, rank, pass};
  try {
    write_complete(unfinished.file, owner, record, std::nullopt);
  } catch (const Error& error) {
    const auto events = count_events(record);
    if (events.empty()) throw;
    // The other tables may still fit without the events.
    write_complete(unfinished.file, owner, record, left_out(events, error.what()));
  }
  std::error_code error;
  fs::rename(unfinished.file, file, error);
  if (error)
    throw Error("rank file " + quote(file.string()) + " could not be renamed into place (" + error.message() +
                "); check the permissions of its directory");
}

namespace {

/// Calls a function with the connection to a rank file, if it exists.
template <class Add>
void add_to(const fs::path& file, Add add) {
  if (!fs::exists(file)) return;
  const Connection connection(file, Connection::Access::kReadWrite);
  connection.exec("PRAGMA journal_mode = MEMORY");
  add(connection);
}

}  // namespace

void add_metrics(const fs::path& file, std::int64_t run_id, int rank, measure::Pass pass,
                 const std::vector<event::Metric>& metrics) {
  add_to(file, [&](const Connection& connection) {
    Statement insert(connection,
                     insert_next_sql("metric", "run_id, rank, pass", "level, step, phase, name, value, unit"));
    for (const event::Metric& metric : metrics) {
      const auto value = metric.number ? measure::Value(*metric.number) : measure::Value(metric.text);
      insert
          .bind_all(run_id, rank, measure::to_string(pass), event::to_string(metric.level), metric.step, metric.phase,
                    metric.name, value, metric.unit)
          .run();
    }
  });
}

void add_warning(const fs::path& file, std::int64_t run_id, int rank, measure::Pass pass,
                 const event::Warning& warning) {
  add_to(file, [&](const Connection& connection) {
    Statement(connection, insert_next_sql("warning", "run_id, rank, pass", "kind, detail"))
        .bind_all(run_id, rank, measure::to_string(pass), warning.kind, warning.detail)
        .run();
  });
}

}  // namespace kymo::store
