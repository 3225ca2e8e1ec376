// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "export/perfetto_writer.hpp"

namespace kymo::exports {

namespace {

struct Work {
  double flops = 0;
  double bytes = 0;
};

/// A part of the work of a call, done at a constant rate.
struct Stretch {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Work rate;  ///< per second
};

/// Calls of operators with known work. What such a call calls itself belongs to it.
class WorkOfCalls {
 public:
  WorkOfCalls(const store::ResultsDatabase& database, const Target& target) : database_(database), target_(target) {
    // Name and arguments determine the work of a call.
    const auto rows = database
                          .query(
                              "SELECT DISTINCT name_id, coalesce(shapes_id, 0), CAST(flops AS REAL), CAST(bytes AS "
                              "REAL) FROM main.op_work WHERE run_id = CAST(:run AS INTEGER) AND rank = CAST(:rank AS "
                              "INTEGER) AND pass = :pass AND kind <> 'overhead' AND flops + bytes > 0",
                              target.parameters())
                          .rows;
    for (const auto& row : rows) known_[{row[0].integer, row[1].integer}] = {row[2].real, row[3].real};
    if (!known_.empty()) read_calls();
  }

  /// On a GPU at the times of the kernels that the calls launched, otherwise at the times of the calls.
  std::vector<Stretch> stretches(bool of_kernels) const {
    std::vector<Stretch> found;
    if (of_kernels) return stretches_of_kernels();
    for (const auto& [sequence, call] : calls_)
      add(found, call.start_ns, call.end_ns, call.work, call.end_ns - call.start_ns);
    return found;
  }

 private:
  struct Call {
    Work work;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };

  void read_calls() {
    Pages pages(database_, target_, "op", "sequence, parent, name_id, shapes_id, backward, start_ns, end_ns");
    while (const auto row = pages.next()) {
      const std::int64_t sequence = row->integer(0);
      if (const auto caller = owner_.find(row->integer(1)); row->has(1) && caller != owner_.end()) {
        owner_[sequence] = caller->second;
        continue;
      }
      const auto work = known_.find({row->integer(2), row->integer(3)});
      if (row->integer(4) != 0 || work == known_.end()) continue;
      owner_[sequence] = sequence;
      calls_[sequence] = {work->second, row->integer(5), end_of(*row, 5, 6)};
    }
  }

  static void add(std::vector<Stretch>& found, std::int64_t start_ns, std::int64_t end_ns, const Work& work,
                  std::int64_t total_ns) {
    if (end_ns <= start_ns) return;
    const double per_second = 1e9 / static_cast<double>(total_ns);
    found.push_back({start_ns, end_ns, {work.flops * per_second, work.bytes * per_second}});
  }

  // The work of a call is spread over the time of its kernels. The kernels of a graph belong to the call that was
  // captured; each launch of the graph does its work again.
  std::vector<Stretch> stretches_of_kernels() const {
    struct Activity {
      std::pair<std::int64_t, std::int64_t> execution;
      std::int64_t start_ns, end_ns;
    };
    std::vector<Activity> activities;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> total_ns;
    Pages pages(database_, target_, "gpu_activity", "op, start_ns, end_ns, graph_node, correlation_id");
    while (const auto row = pages.next()) {
      const auto owner = row->has(0) ? owner_.find(row->integer(0)) : owner_.end();
      if (owner == owner_.end()) continue;
      activities.push_back({{owner->second, row->has(3) ? row->integer(4) : -1}, row->integer(1), row->integer(2)});
      total_ns[activities.back().execution] += std::max<std::int64_t>(0, row->integer(2) - row->integer(1));
    }
    std::vector<Stretch> found;
    for (const Activity& each : activities) {
      add(found, each.start_ns, each.end_ns, calls_.at(each.execution.first).work, total_ns.at(each.execution));
    }
    return found;
  }

  const store::ResultsDatabase& database_;
  const Target& target_;
  std::map<std::pair<std::int64_t, std::int64_t>, Work> known_;  // by name and arguments
  std::unordered_map<std::int64_t, std::int64_t> owner_;         // calls with known work, by the calls that they made
  std::map<std::int64_t, Call> calls_;                           // by sequence
};

}  // namespace

void PerfettoWriter::write_rates() {
  const bool of_kernels = has_rows("gpu_activity");
  struct Change {
    int running = 0;
    Work rate;
  };
  std::map<std::int64_t, Change> changes;
  for (const Stretch& stretch : WorkOfCalls(database_, target_).stretches(of_kernels)) {
    for (const auto& [time_ns, sign] : {std::pair{stretch.start_ns, 1}, std::pair{stretch.end_ns, -1}}) {
      Change& change = changes[time_ns];
      change.running += sign;
      change.rate.flops += sign * stretch.rate.flops;
      change.rate.bytes += sign * stretch.rate.bytes;
    }
  }
  Change sum;
  for (const auto& [time_ns, change] : changes) {
    sum.running += change.running;
    // Differences of large numbers do not cancel out exactly.
    sum.rate = sum.running == 0 ? Work{} : Work{sum.rate.flops + change.rate.flops, sum.rate.bytes + change.rate.bytes};
    for (const auto& [name, rate] : {std::pair{"FLOP/s", sum.rate.flops}, std::pair{"bytes/s", sum.rate.bytes}}) {
      TraceEvent event('C', of_kernels ? Track{0, 0} : host(0), json_string(name), "");
      events_.add(event.at(time_ns).argument("rate", static_cast<std::int64_t>(std::llround(std::max(0.0, rate)))));
    }
  }
}

void PerfettoWriter::write_utilization() {
  struct Series {
    const char* track;
    const char* name;
    const char* value;
  };
  constexpr std::array kSeries{
      Series{"GPU utilization (%)", "SM", "100 * sm_utilization"},
      Series{"GPU utilization (%)", "tensor", "100 * tensor_utilization"},
      Series{"GPU utilization (%)", "DRAM", "100 * dram_utilization"},
      Series{"GPU utilization (%)", "time with kernels", "100 * kernel_time"},
      Series{"PCIe (MB/s)", "sent", "pcie_sent_bytes_per_s / 1e6"},
      Series{"PCIe (MB/s)", "received", "pcie_received_bytes_per_s / 1e6"},
      Series{"NVLink (MB/s)", "sent", "nvlink_sent_bytes_per_s / 1e6"},
      Series{"NVLink (MB/s)", "received", "nvlink_received_bytes_per_s / 1e6"},
  };
  std::string columns = "start_ns";
  for (const Series& series : kSeries) columns += std::string(", CAST(round(") + series.value + ") AS INTEGER)";
  Pages pages(database_, target_, "gpu_utilization", columns, "start_ns");
  while (const auto row = pages.next()) {
    std::map<std::string, TraceEvent> tracks;
    for (std::size_t i = 0; i < kSeries.size(); ++i) {
      if (!row->has(i + 1)) continue;
      const auto [event, is_new] =
          tracks.try_emplace(kSeries[i].track, 'C', Track{0, 0}, json_string(kSeries[i].track), "");
      if (is_new) event->second.at(row->integer(0));
      event->second.argument(kSeries[i].name, row->integer(i + 1));
    }
    for (const auto& [name, event] : tracks) events_.add(event);
  }
}

}  // namespace kymo::exports
