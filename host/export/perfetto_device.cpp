// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <utility>

#include "base/text.hpp"
#include "event/derived.hpp"
#include "export/perfetto_writer.hpp"

namespace kymo::exports {

namespace {

constexpr std::int64_t kDeviceProcess = 0;
// Drivers number streams from small ids; additional lanes of a stream are placed far after them.
constexpr std::int64_t kLaneDistance = 1'000'000;

/// Converts "memcpy host to device" to the names used by other tools: "Memcpy HtoD".
std::string copy_name(const std::string& stored) {
  const std::vector<std::string> words = split(stored, ' ');
  std::string known = stored;
  if (!known.empty() && known[0] == 'm') known[0] = 'M';
  if (words.size() != 4 || words[0] != "memcpy" || words[2] != "to" || words[1].empty() || words[3].empty())
    return known;
  const auto letter = [](const std::string& word) { return static_cast<char>(word[0] - 'a' + 'A'); };
  const auto is_memory_kind = [](const std::string& word) {
    return word == "host" || word == "device" || word == "peer" || word == "array";
  };
  if (!is_memory_kind(words[1]) || !is_memory_kind(words[3])) return known;
  return std::string("Memcpy ") + letter(words[1]) + "to" + letter(words[3]);
}

// Columns of gpu_activity, in query order.
enum Column : std::size_t {
  kName,
  kStart,
  kEnd,
  kStream,
  kCorrelation,
  kStep,
  kPhase,
  kScope,
  kAttribution,
  kGraphNode,
  kOp,
  kLaunchConfig,
  kBytes,
  kStack
};
constexpr const char* kColumns =
    "name_id, start_ns, end_ns, stream, correlation_id, step, phase_id, scope_id, attribution, graph_node, op, "
    "launch_config, bytes, stack";

/// The allocated bytes of the live blocks of each device by category, after a memory event.
class LiveMemory {
 public:
  LiveMemory(const store::ResultsDatabase& database, const Target& target)
      : blocks_(database, target, "allocation", "sequence, free_sequence, allocated_bytes, device, category"),
        next_(blocks_.next()) {}

  /// Moves on to a later event.
  void advance(std::int64_t sequence) {
    for (; next_ && next_->integer(0) <= sequence; next_ = blocks_.next()) {
      std::uint64_t& bytes = bytes_[{next_->text(3), next_->text(4)}];
      const auto size = static_cast<std::uint64_t>(next_->integer(2));
      bytes += size;
      if (next_->has(1)) frees_.push({next_->integer(1), size, &bytes});
    }
    for (; !frees_.empty() && frees_.top().sequence <= sequence; frees_.pop()) *frees_.top().from -= frees_.top().bytes;
  }
  std::int64_t bytes(const std::string& device, const std::string& category) const {
    const auto found = bytes_.find({device, category});
    return found == bytes_.end() ? 0 : static_cast<std::int64_t>(found->second);
  }

 private:
  struct Free {
    std::int64_t sequence;
    std::uint64_t bytes;
    std::uint64_t* from;  // elements of a map do not move
    bool operator>(const Free& other) const { return sequence > other.sequence; }
  };
  Pages blocks_;
  std::optional<Row> next_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> bytes_;  // unsigned, because damaged sizes may overflow
  std::priority_queue<Free, std::vector<Free>, std::greater<>> frees_;
};

}  // namespace

void PerfettoWriter::read_kernel_classes() {
  for (const auto& row : database_.query("SELECT name_id, short_name, class FROM main.kernel_class").rows) {
    kernel_kinds_[row[0].integer] = {json_string(row[1].text), json_string(row[2].text)};
  }
}

void PerfettoWriter::read_stacks() {
  const auto rows = database_.query(
      "SELECT stack, frames FROM python_stack WHERE run_id = CAST(:run AS INTEGER) "
      "AND rank = CAST(:rank AS INTEGER) AND pass = :pass",
      target_.parameters());
  for (const auto& row : rows.rows) stacks_[row[0].integer] = json_string(row[1].text);
}

void PerfettoWriter::add_stack(TraceEvent& event, const Row& row, std::size_t column) const {
  const auto stack = row.has(column) ? stacks_.find(row.integer(column)) : stacks_.end();
  if (stack != stacks_.end()) event.argument("Python stack", stack->second);
}

void PerfettoWriter::read_shapes() {
  Pages pages(database_, target_, "launch_config",
              "launch_config, grid_x, grid_y, grid_z, block_x, block_y, block_z, static_shared_bytes + "
              "dynamic_shared_bytes, registers",
              "launch_config");
  const auto triple = [](const Row& row, std::size_t first) {
    return "[" + std::to_string(row.integer(first)) + ", " + std::to_string(row.integer(first + 1)) + ", " +
           std::to_string(row.integer(first + 2)) + "]";
  };
  while (const auto row = pages.next()) {
    shapes_[row->integer(0)] = "\"grid\": " + triple(*row, 1) + ", \"block\": " + triple(*row, 4) +
                               ", \"shared memory\": " + std::to_string(row->integer(7)) +
                               ", \"registers per thread\": " + std::to_string(row->integer(8));
  }
}

void PerfettoWriter::add_kernel_arguments(TraceEvent& event, const Row& row) {
  const auto kind = kernel_kinds_.find(row.integer(kName));
  if (kind != kernel_kinds_.end()) {
    event.argument("class", kind->second.kernel_class).argument("short name", kind->second.short_name);
  }
  const auto shape = shapes_.find(row.integer(kLaunchConfig));
  if (shape != shapes_.end()) event.argument("launch_config", "{" + shape->second + "}");
}

void PerfettoWriter::write_activity(const Row& row) {
  const std::int64_t start_ns = row.integer(kStart);
  const std::int64_t end_ns = row.integer(kEnd);
  const std::int64_t stream = row.integer(kStream);
  const std::int64_t correlation = row.integer(kCorrelation);
  const auto lane = static_cast<std::int64_t>(streams_.lane_for(stream, start_ns, end_ns));
  const Track track{kDeviceProcess, stream + lane * kLaneDistance};
  const bool is_kernel = row.has(kLaunchConfig);
  const std::string& stored = texts_.text(row.integer(kName));
  const std::string copy = is_kernel ? "" : json_string(copy_name(stored));
  TraceEvent event('X', track, is_kernel ? name(row.integer(kName)) : copy,
                   is_kernel            ? "kernel"
                   : stored == "memset" ? "gpu_memset"
                                        : "gpu_memcpy");
  event.between(start_ns, end_ns).argument("device", 0).argument("stream", stream).argument("correlation", correlation);
  if (row.has(kOp)) event.argument("External id", row.integer(kOp) + 1);
  add_position(event, row, kStep, kPhase, kScope);
  event.argument("attribution", json_string(row.text(kAttribution)));
  add_stack(event, row, kStack);
  if (row.has(kGraphNode)) event.argument("graph node id", row.integer(kGraphNode));
  if (is_kernel) {
    add_kernel_arguments(event, row);
  } else {
    event.argument("bytes", row.integer(kBytes));
  }
  events_.add(event);
  last_ns_ = std::max(last_ns_, end_ns);
  if (!std::ranges::binary_search(launches_, correlation)) return;
  events_.add(TraceEvent('f', track, "\"ac2g\"", "ac2g")
                  .at(start_ns)
                  .member("id", std::to_string(correlation))
                  .member("bp", "\"e\""));
}

void PerfettoWriter::write_activities() {
  read_kernel_classes();
  read_shapes();
  Pages pages(database_, target_, "gpu_activity", kColumns);
  while (const auto row = pages.next()) write_activity(*row);
}

void PerfettoWriter::write_counters() {
  const std::vector<std::string> categories = names_of(event::MemoryCategory{}).names();
  LiveMemory live(database_, target_);
  Pages pages(database_, target_, "memory_point",
              "device, time_ns, allocated_bytes, active_bytes, reserved_bytes, sequence");
  while (const auto row = pages.next()) {
    live.advance(row->integer(5));
    const std::string device = row->text(0) == "cuda" ? "CUDA" : "CPU";
    TraceEvent sizes('C', host(0), json_string(device + " memory"), "");
    sizes.at(row->integer(1))
        .argument("allocated", row->integer(2))
        .argument("active", row->integer(3))
        .argument("reserved", row->integer(4));
    events_.add(sizes);
    TraceEvent parts('C', host(0), json_string(device + " memory by category"), "");
    parts.at(row->integer(1));
    for (const std::string& category : categories) parts.argument(category.c_str(), live.bytes(row->text(0), category));
    events_.add(parts);
  }
}

void PerfettoWriter::name_tracks() {
  name_process(host_process_, "host of rank " + std::to_string(target_.rank), 0);
  for (const auto& [track, name] : host_tracks_) name_track(host(track), name, track);
  const auto streams = streams_.counts();
  if (!streams.empty()) name_process(kDeviceProcess, "GPU of rank " + std::to_string(target_.rank), 1);
  for (const auto& [stream, lanes] : streams) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::string name = "stream " + std::to_string(stream) + (lane > 0 ? " (overlapping)" : "");
      name_track({kDeviceProcess, stream + static_cast<std::int64_t>(lane) * kLaneDistance}, name,
                 stream * 100 + static_cast<std::int64_t>(std::min<std::size_t>(lane, 99)));
    }
  }
}

}  // namespace kymo::exports
