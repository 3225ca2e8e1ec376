// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/installation.hpp"
#include "base/text.hpp"
#include "export/export.hpp"
#include "export/perfetto_writer.hpp"

namespace kymo::exports {

using store::ResultsDatabase;

PerfettoWriter::PerfettoWriter(const ResultsDatabase& database, const Target& target, Output& output)
    : database_(database), target_(target), events_(output), texts_(database) {}

const std::string& PerfettoWriter::name(std::int64_t id) {
  const auto [found, is_new] = names_.try_emplace(id);
  if (is_new) found->second = json_string(texts_.text(id));
  return found->second;
}

bool PerfettoWriter::has_rows(const std::string& table) const {
  const std::string sql = "SELECT EXISTS (SELECT 1 FROM main.\"" + table +
                          "\" WHERE run_id = CAST(:run AS INTEGER) AND rank = CAST(:rank AS INTEGER) AND pass = :pass)";
  return database_.query(sql, target_.parameters()).rows[0][0].integer != 0;
}

void PerfettoWriter::add_position(TraceEvent& event, const Row& row, std::size_t step, std::size_t phase,
                                  std::size_t scope) {
  if (row.integer(step) >= 0) event.argument("step", row.integer(step));
  if (row.has(phase)) event.argument("phase", name(row.integer(phase)));
  if (row.has(scope)) event.argument("scope", name(row.integer(scope)));
}

void PerfettoWriter::write_head() {
  const auto rows =
      database_
          .query(
              "SELECT r.workload, r.ranks, k.pid, d.kind, d.name, d.memory_bytes, k.trace_status FROM main.rank k "
              "JOIN main.run r ON r.run_id = k.run_id LEFT JOIN main.device d ON d.device_id = k.device_id "
              "WHERE k.run_id = CAST(:run AS INTEGER) AND k.rank = CAST(:rank AS INTEGER) AND k.pass = :pass",
              target_.parameters())
          .rows;
  const Row row(rows[0]);
  // Process 0 is the GPU.
  if (row.integer(2) > 0) host_process_ = row.integer(2);
  // Holistic Trace Analysis requires a space after the colon and a line of its own.
  const std::string rank = "\"distributedInfo\": {\"rank\": " + std::to_string(target_.rank) +
                           ", \"world_size\": " + std::to_string(row.integer(1)) + "}";
  Json others{{"schemaVersion", 1}};
  if (row.text(3) == "cuda") {
    const Json device{{"id", 0}, {"name", row.text(4)}, {"totalGlobalMem", row.integer(5)}};
    others["deviceProperties"] = Json::array({device});
  }
  others["displayTimeUnit"] = "ms";
  others["otherData"] = {{"tool", "kymo " + version()},
                         {"workload", row.text(0)},
                         {"run", std::to_string(target_.run)},
                         {"pass", target_.pass}};
  events_.begin(rank, others);
}

void PerfettoWriter::name_track(const Track& track, const std::string& name, std::int64_t order) {
  events_.add(TraceEvent('M', track, "\"thread_name\"", "").argument("name", json_string(name)));
  events_.add(TraceEvent('M', track, "\"thread_sort_index\"", "").argument("sort_index", order));
}

void PerfettoWriter::name_process(std::int64_t process, const std::string& name, std::int64_t order) {
  events_.add(TraceEvent('M', {process, 0}, "\"process_name\"", "").argument("name", json_string(name)));
  events_.add(TraceEvent('M', {process, 0}, "\"process_sort_index\"", "").argument("sort_index", order));
}

std::vector<std::string> PerfettoWriter::write() {
  write_head();
  has_calls_ = has_rows("api_call");
  write_steps();
  write_ranges();
  read_stacks();
  write_operators();
  write_calls();
  write_waits();
  write_overhead_records();
  write_collectives();
  write_activities();
  write_counters();
  write_rates();
  write_utilization();
  if (has_calls_ && last_step_ >= 0) {
    // Holistic Trace Analysis ignores the last step, so append an empty one.
    TraceEvent event('X', host(1), json_string("ProfilerStep#" + std::to_string(last_step_ + 1)), "user_annotation");
    events_.add(event.between(last_ns_ + 1'000, last_ns_ + 2'000).argument("empty", 1));
  }
  name_tracks();
  events_.end();
  if (has_calls_ || streams_.counts().empty()) return {};
  return {
      "no CUDA API calls were recorded (record them with --trace-detail api), so the trace has no flow arrows to "
      "kernels and its steps are not named ProfilerStep#N"};
}

std::vector<Written> export_perfetto(const ResultsDatabase& database, const Choice& choice,
                                     const std::filesystem::path& file) {
  const Wanted wanted{{"trace", "ops", "memory"},
                      {"range", "gpu_activity", "op", "memory_point", "collective"},
                      "no kernel, operator, scope, collective or memory events",
                      {"gpu_activity", "op"}};
  const std::vector<Target> targets = find_targets(database, choice, wanted);
  const std::vector<std::filesystem::path> files = files_for(targets, file, "trace", ".json");
  std::vector<Written> written;
  std::vector<std::unique_ptr<Output>> outputs;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    outputs.push_back(std::make_unique<Output>(files[i], Output::Kind::kText));
    written.push_back({files[i], PerfettoWriter(database, targets[i], *outputs.back()).write()});
  }
  for (const auto& output : outputs) output->finish();
  const std::vector<std::string> others =
      choice.pass ? std::vector<std::string>{} : other_passes(database, targets.front(), wanted);
  if (!others.empty())
    written.front().notes.push_back("this is the pass " + targets.front().pass + "; --pass exports " +
                                    join(others, " or "));
  return written;
}

}  // namespace kymo::exports
