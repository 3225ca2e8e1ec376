// SPDX-License-Identifier: Apache-2.0
#include "store/rank_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/enum_names.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "store/rank_rows.hpp"
#include "store/row_inserter.hpp"
#include "store/schema_version.hpp"
#include "store/sqlite.hpp"

namespace kymo::store {
namespace {

namespace fs = std::filesystem;

constexpr auto kLevels = enum_names<event::MetricLevel>(
    "metric level",
    {{event::MetricLevel::kRun, "run"}, {event::MetricLevel::kStep, "step"}, {event::MetricLevel::kPhase, "phase"}});
constexpr auto kOutcomes =
    enum_names<event::CheckOutcome>("check outcome", {{event::CheckOutcome::kPassed, "passed"},
                                                      {event::CheckOutcome::kFailed, "failed"},
                                                      {event::CheckOutcome::kUnavailable, "unavailable"}});

/// Work that is not a finite number counts as not declared.
double declared(double count) { return std::isfinite(count) && count > 0 ? count : 0; }

void write_samples(RankTarget& to, const std::vector<event::Sample>& samples) {
  RowInserter rows(
      to.connection, "sample",
      {"run_id", "rank", "pass", "step", "phase", "warmup", "throttled", "calls", "start_ns", "host_ns", "device_ns"});
  for (const auto& s : samples) {
    rows.add(to.run_id, to.rank, to.pass, s.step, s.phase, s.warmup, s.throttled, s.calls, s.start_ns, s.host_ns,
             s.device_ns);
  }
  to.dropped["sample"] = rows.finish();
}

void write_metrics(RankTarget& to, const std::vector<event::Metric>& metrics) {
  RowInserter numbers(to.connection, "metric",
                      {"run_id", "rank", "pass", "sequence", "level", "step", "phase", "name", "value", "unit"});
  int sequence = 0;
  for (const auto& m : metrics) {
    if (m.number && !std::isnan(*m.number)) {
      numbers.add(to.run_id, to.rank, to.pass, sequence, kLevels.name(m.level), m.step, m.phase, m.name, *m.number,
                  m.unit);
    } else {
      // A metric that is not a number is a result (such as a diverged loss), so keep it visible.
      const std::string text = m.number ? "nan" : m.text;
      numbers.add(to.run_id, to.rank, to.pass, sequence, kLevels.name(m.level), m.step, m.phase, m.name, text, m.unit);
    }
    ++sequence;
  }
  numbers.finish();
}

void write_work(RankTarget& to, const std::vector<event::Work>& work) {
  RowInserter rows(to.connection, "work", {"run_id", "rank", "phase", "flops", "bytes"});
  for (const auto& w : work) rows.add(to.run_id, to.rank, w.phase, declared(w.flops), declared(w.bytes));
  to.dropped["work"] = rows.finish();
}

void write_checks(RankTarget& to, const std::vector<event::Check>& checks) {
  RowInserter rows(
      to.connection, "verification",
      {"run_id", "rank", "name", "outcome", "max_abs_error", "max_rel_error", "tolerance", "reference", "detail"});
  std::map<std::string, int> seen;
  for (const auto& c : checks) {
    const int count = ++seen[c.name];
    const std::string name = count == 1 ? c.name : c.name + " #" + std::to_string(count);
    rows.add(to.run_id, to.rank, name, kOutcomes.name(c.outcome), c.max_abs_error, c.max_rel_error, c.tolerance,
             c.reference, c.detail);
  }
  to.dropped["verification"] = rows.finish();
}

void write_gpu_samples(RankTarget& to, const std::vector<event::GpuSample>& samples) {
  RowInserter rows(to.connection, "gpu_sample",
                   {"run_id", "rank", "pass", "step", "time_ns", "sm_clock_mhz", "memory_clock_mhz", "power_mw",
                    "temperature_c", "throttle_reasons"});
  for (const auto& s : samples) {
    rows.add(to.run_id, to.rank, to.pass, s.step, s.time_ns, s.sm_clock_mhz, s.memory_clock_mhz, s.power_mw,
             s.temperature_c, s.throttle_reasons);
  }
  to.dropped["gpu_sample"] = rows.finish();
}

void write_memory_counters(RankTarget& to, const std::vector<event::MemoryCounter>& counters) {
  RowInserter rows(
      to.connection, "memory_counter",
      {"run_id", "rank", "pass", "step", "time_ns", "allocated_bytes", "reserved_bytes", "device_allocations"});
  for (const auto& c : counters)
    rows.add(to.run_id, to.rank, to.pass, c.step, c.time_ns, c.allocated_bytes, c.reserved_bytes, c.device_allocations);
  to.dropped["memory_counter"] = rows.finish();
}

void write_marks(RankTarget& to, const std::vector<event::Mark>& marks) {
  RowInserter rows(to.connection, "mark", {"run_id", "rank", "pass", "sequence", "name", "time_ns", "step"});
  int sequence = 0;
  for (const auto& m : marks) rows.add(to.run_id, to.rank, to.pass, sequence++, m.name, m.time_ns, m.step);
  rows.finish();
}

void write_dropped_records(RankTarget& to, const std::vector<event::DroppedRecords>& dropped_records) {
  RowInserter rows(to.connection, "dropped_record",
                   {"run_id", "rank", "pass", "sequence", "source", "count", "detail"});
  int sequence = 0;
  for (const auto& l : dropped_records) rows.add(to.run_id, to.rank, to.pass, sequence++, l.source, l.count, l.detail);
  for (const auto& [table, count] : to.dropped) {
    if (count > 0)
      rows.add(to.run_id, to.rank, to.pass, sequence++, "store", count, "rows of " + table + " with a duplicate key");
  }
  rows.finish();
}

void write_rank(RankTarget& to, const event::PassRecord& record) {
  const event::Device& d = record.device;
  std::optional<std::int64_t> device_id;
  if (!d.uuid.empty()) {
    device_id = 1;
    Statement(to.connection,
              "INSERT INTO device (device_id, uuid, kind, name, memory_bytes, multiprocessors, max_sm_clock_mhz, "
              "max_memory_clock_mhz) "
              "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        .bind_all(*device_id, d.uuid, d.kind, d.name, d.memory_bytes, d.multiprocessors, d.max_sm_clock_mhz,
                  d.max_memory_clock_mhz)
        .run();
  }
  Statement(to.connection,
            "INSERT INTO rank (run_id, rank, pass, pid, host, status, device_id, resident_peak_bytes, "
            "allocated_peak_bytes, reserved_peak_bytes, "
            "stdout, stderr, trace_status) VALUES (?, ?, ?, 0, '', '', ?, ?, ?, ?, '', '', ?)")
      .bind_all(to.run_id, to.rank, to.pass, device_id, record.memory.resident_bytes, record.memory.allocated_bytes,
                record.memory.reserved_bytes, record.trace_status)
      .run();
  if (record.out_of_memory) {
    const event::OutOfMemory& o = *record.out_of_memory;
    Statement(
        to.connection,
        "INSERT INTO out_of_memory (run_id, rank, pass, location, requested_bytes, free_bytes, peak_bytes) VALUES "
        "(?, ?, ?, ?, ?, ?, ?)")
        .bind_all(to.run_id, to.rank, to.pass, o.where, o.requested_bytes, o.free_bytes, o.peak_bytes)
        .run();
  }
}

/// Run, rank and pass of a file.
struct Owner {
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

void write_observations(RankTarget& to, const event::PassRecord& record) {
  write_rank(to, record);
  write_samples(to, record.samples);
  write_metrics(to, record.metrics);
  write_work(to, record.work);
  write_checks(to, record.checks);
  write_gpu_samples(to, record.gpu_samples);
  write_memory_counters(to, record.memory_counters);
  write_marks(to, record.marks);
  write_text_facts(to, record.derived);
  write_trace_summary(to, record);
  write_memory_summary(to, record);
}

/// Without the events if `events_left_out` gives the reason and their number.
void write_database(const fs::path& file, const Owner& owner, const event::PassRecord& record,
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
  write_observations(to, record);
  if (!events_left_out) {
    write_trace_events(to, record.trace);
    write_memory_events(to, record);
  }
  std::vector<event::DroppedRecords> dropped_records = record.dropped_records;
  if (events_left_out) dropped_records.push_back(*events_left_out);
  write_dropped_records(to, dropped_records);
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

void write_complete(const fs::path& file, const Owner& owner, const event::PassRecord& record,
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
  const Owner owner{run_id, rank, pass};
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

}  // namespace kymo::store
