// SPDX-License-Identifier: Apache-2.0
#include "base/process_activity.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/machine.hpp"

namespace kymo {
namespace {

/// Time between two samples that counts at most: this process may have been stopped, with the others.
constexpr std::int64_t kMaxIntervalNs = 1'000'000'000;

void add_state(char state, ProcessActivity& activity) {
  activity.uses_processor = activity.uses_processor || state == 'R';
  activity.waits_for_disk = activity.waits_for_disk || state == 'D';
}

void add_states_of_threads(pid_t pid, ProcessActivity& activity) {
  std::error_code gone;
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator at(folder, gone), end; !gone && at != end; at.increment(gone)) {
    std::string text;
    std::getline(std::ifstream(at->path() / "stat"), text, '\0');
    const std::size_t name_end = text.rfind(") ");
    if (name_end != std::string::npos && name_end + 2 < text.size()) add_state(text[name_end + 2], activity);
    if (activity.uses_processor) return;  // nothing else matters then
  }
}

}  // namespace

ProcessActivity activity_of_tree(pid_t root, const std::vector<ProcessEntry>& all) {
  std::set<pid_t> members{root};
  add_descendants(all, members);
  ProcessActivity activity;
  for (const ProcessEntry& each : all) {
    if (!members.contains(each.pid)) continue;
    activity.processor_ns += each.processor_ns;
    const std::string counters = "/proc/" + std::to_string(each.pid) + "/io";
    activity.reads += each.page_reads + std::atoll(value_of_line(counters.c_str(), "read_bytes", ':').c_str());
    if (!activity.uses_processor) add_states_of_threads(each.pid, activity);
  }
  return activity;
}

void IdleTime::add(const ProcessActivity& activity, std::int64_t now_ns) {
  const std::int64_t interval_ns = std::min(now_ns - last_ns_, kMaxIntervalNs);
  const std::int64_t used_ns = std::clamp(activity.processor_ns - last_.processor_ns, std::int64_t{0}, interval_ns);
  const bool has_read = activity.reads != last_.reads;
  if (!activity.uses_processor && !activity.waits_for_disk && !has_read) asleep_ns_ += interval_ns - used_ns;
  without_progress_ns_ = activity.uses_processor || used_ns > 0 || has_read ? 0 : without_progress_ns_ + interval_ns;
  last_ = activity;
  last_ns_ = now_ns;
}

double IdleTime::seconds() const { return static_cast<double>(std::max(asleep_ns_, without_progress_ns_)) / 1e9; }

}  // namespace kymo
