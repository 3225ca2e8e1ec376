// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "analysis/derive.hpp"
#include "analysis/grouping.hpp"
#include "event/texts.hpp"
#include "measure/statistics.hpp"

namespace kymo::analysis {
namespace {

using event::Activity;
using event::KernelOutlier;
using event::Trace;

constexpr std::size_t kMinSiblings = 8;
constexpr double kMinDeviation = 8;
constexpr double kMinRatio = 1.5;
constexpr std::int64_t kMinExcessNs = 5000;

std::int64_t duration_ns(const Activity& activity) {
  return std::max<std::int64_t>(0, activity.end_ns - activity.start_ns);
}

/// Numbers scope paths by module, so that the same module of different layers counts as one.
class Modules {
 public:
  explicit Modules(const Trace& trace) : of_path_(trace.texts.size() + 1, 0) {
    std::map<std::string, std::uint32_t> numbers;
    for (const auto& path : scope_paths(trace)) {
      const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
      of_path_[path.path] = numbers.try_emplace(path.module, next).first->second;
    }
  }
  std::uint32_t number_of(event::TextId path) const { return path < of_path_.size() ? of_path_[path] : 0; }

 private:
  std::vector<std::uint32_t> of_path_;
};

/// A kernel call within its group.
struct Member {
  std::uint32_t position = 0;  ///< index into the activities
  std::int64_t duration_ns = 0;
};

/// Kernel calls with the same name, launch shape, phase and module in measured steps.
struct Group {
  std::size_t count = 0;
  std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t longest_ns = 0;
  std::vector<Member> members = {};  // filled only if the group can contain outliers

  /// Most groups need no median: it lies between the shortest and the longest call.
  bool can_hold_outliers() const { return count >= kMinSiblings && longest_ns - shortest_ns >= kMinExcessNs; }
};

std::vector<Group> groups_of(const Trace& trace, const std::vector<bool>& is_communication, std::int64_t warmup) {
  constexpr std::uint32_t kNoGroup = UINT32_MAX;
  const Modules modules(trace);
  Grouping numbers;
  std::vector<Group> groups;
  std::vector<std::uint32_t> group_of(trace.activities.size(), kNoGroup);
  for (std::size_t i = 0; i < trace.activities.size(); ++i) {
    const Activity& activity = trace.activities[i];
    if (activity.kind != event::ActivityKind::kKernel || activity.step < 0 || activity.step < warmup) continue;
    if (event::is_marked(is_communication, activity.name)) continue;
    const GroupKey key = {packed(activity.name, activity.shape),
                          packed(static_cast<std::uint32_t>(activity.phase), modules.number_of(activity.scope))};
    group_of[i] = numbers.number_of(key);
    if (groups.size() < numbers.size()) groups.resize(numbers.size());
    Group& group = groups[group_of[i]];
    const std::int64_t duration = duration_ns(activity);
    ++group.count;
    group.shortest_ns = std::min(group.shortest_ns, duration);
    group.longest_ns = std::max(group.longest_ns, duration);
  }
  for (Group& group : groups)
    if (group.can_hold_outliers()) group.members.reserve(group.count);
  for (std::size_t i = 0; i < group_of.size(); ++i) {
    if (group_of[i] == kNoGroup || !groups[group_of[i]].can_hold_outliers()) continue;
    groups[group_of[i]].members.push_back({static_cast<std::uint32_t>(i), duration_ns(trace.activities[i])});
  }
  return groups;
}

struct Candidate {
  std::int64_t excess_ns = 0;
  KernelOutlier outlier;
};

/// Adds the outliers of one group.
void classify(const Group& group, std::vector<Candidate>& candidates) {
  if (group.members.empty()) return;
  std::vector<std::int64_t> values(group.count);
  std::ranges::transform(group.members, values.begin(), &Member::duration_ns);
  const std::int64_t middle = measure::median(values);
  const auto is_long = [middle](std::int64_t duration) {
    return duration - middle >= kMinExcessNs &&
           static_cast<double>(duration) >= kMinRatio * static_cast<double>(middle);
  };
  if (!is_long(group.longest_ns)) return;
  for (std::int64_t& value : values) value = std::abs(value - middle);
  const double unit = std::max({static_cast<double>(measure::median(values)), 0.01 * static_cast<double>(middle), 1.0});
  for (const Member& member : group.members) {
    const std::int64_t excess = member.duration_ns - middle;
    const double deviation = static_cast<double>(excess) / unit;
    if (!is_long(member.duration_ns) || deviation < kMinDeviation) continue;
    candidates.push_back(
        {excess,
         {member.position, static_cast<std::int64_t>(group.count), middle, deviation, false, 0, 0, std::nullopt}});
  }
}

/// Returns the worst outliers, ordered by start time.
std::vector<KernelOutlier> worst_of(std::vector<Candidate> candidates) {
  const auto kept = candidates.begin() + static_cast<std::ptrdiff_t>(std::min(kMaxOutliers, candidates.size()));
  std::partial_sort(candidates.begin(), kept, candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.excess_ns != b.excess_ns ? a.excess_ns > b.excess_ns : a.outlier.sequence < b.outlier.sequence;
  });
  std::vector<KernelOutlier> outliers;
  std::ranges::transform(candidates.begin(), kept, std::back_inserter(outliers), &Candidate::outlier);
  std::ranges::sort(outliers, {}, &KernelOutlier::sequence);
  return outliers;
}

/// Sets first use, concurrent kernels and preceding gap of each outlier. One pass over the activities, plus a backward
/// scan from each outlier over the activities that overlap it.
void describe_surroundings(const std::vector<Activity>& activities, std::vector<KernelOutlier>& outliers) {
  std::vector<std::int64_t> latest_ends(activities.size());  // latest end of all activities up to each index
  std::map<event::TextId, std::int64_t> first_uses;
  for (const KernelOutlier& outlier : outliers)
    first_uses.emplace(activities[static_cast<std::size_t>(outlier.sequence)].name, -1);
  std::size_t unseen = first_uses.size();
  for (std::size_t i = 0; i < activities.size(); ++i) {
    latest_ends[i] = i == 0 ? activities[i].end_ns : std::max(latest_ends[i - 1], activities[i].end_ns);
    if (unseen == 0 || activities[i].kind != event::ActivityKind::kKernel) continue;
    if (const auto found = first_uses.find(activities[i].name); found != first_uses.end() && found->second < 0) {
      found->second = static_cast<std::int64_t>(i);
      --unseen;
    }
  }
  for (KernelOutlier& outlier : outliers) {
    const auto at = static_cast<std::size_t>(outlier.sequence);
    const Activity& call = activities[at];
    outlier.first_use = first_uses[call.name] == outlier.sequence;
    if (at > 0) outlier.gap_before_ns = std::max<std::int64_t>(0, call.start_ns - latest_ends[at - 1]);
    for (std::size_t i = at; i > 0 && latest_ends[i - 1] > call.start_ns; --i)
      outlier.concurrent += activities[i - 1].end_ns > call.start_ns;
    for (std::size_t i = at + 1; i < activities.size() && activities[i].start_ns < call.end_ns; ++i)
      outlier.concurrent += activities[i].end_ns > activities[i].start_ns;
  }
}

/// The GPU samples that contain a clock, ordered by time.
class ClockReadings {
 public:
  explicit ClockReadings(const std::vector<event::GpuSample>& samples) {
    for (const auto& sample : samples)
      if (sample.sm_clock_mhz) readings_.emplace_back(sample.time_ns, *sample.sm_clock_mhz);
    std::ranges::sort(readings_);
  }
  std::optional<std::int64_t> nearest(std::int64_t time_ns) const {
    if (readings_.empty()) return std::nullopt;
    const auto after = std::ranges::lower_bound(readings_, time_ns, {}, &std::pair<std::int64_t, std::int64_t>::first);
    if (after == readings_.begin()) return after->second;
    const auto before = std::prev(after);
    return after == readings_.end() || time_ns - before->first <= after->first - time_ns ? before->second
                                                                                         : after->second;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> readings_;
};

}  // namespace

std::vector<KernelOutlier> kernel_outliers(const Trace& trace, const std::vector<bool>& is_communication,
                                           const std::vector<event::GpuSample>& samples, std::int64_t warmup) {
  std::vector<Candidate> candidates;
  for (const Group& group : groups_of(trace, is_communication, warmup)) classify(group, candidates);
  std::vector<KernelOutlier> outliers = worst_of(std::move(candidates));
  if (outliers.empty()) return outliers;
  describe_surroundings(trace.activities, outliers);
  const ClockReadings clocks(samples);
  for (KernelOutlier& outlier : outliers)
    outlier.sm_clock_mhz = clocks.nearest(trace.activities[static_cast<std::size_t>(outlier.sequence)].start_ns);
  return outliers;
}

}  // namespace kymo::analysis
