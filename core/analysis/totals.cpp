// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <set>

#include "analysis/derive.hpp"
#include "analysis/grouping.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

namespace kymo::analysis {
namespace {

using event::Activity;
using event::ActivityKind;
using event::Operator;
using event::TextId;
using event::Trace;

std::int64_t duration_ns(std::int64_t start_ns, std::int64_t end_ns) {
  return std::max<std::int64_t>(0, end_ns - start_ns);
}

/// Set of steps; consecutive events mostly have the same step.
class StepSet {
 public:
  void add(std::int32_t step) {
    if (step == last_) return;
    last_ = step;
    steps_.insert(step);
  }
  std::int64_t count_from(std::int64_t warmup) const {
    return std::ranges::count_if(steps_, [&](std::int32_t step) { return step >= 0 && step >= warmup; });
  }

 private:
  std::int32_t last_ = -1;
  std::set<std::int32_t> steps_;
};

/// Returns the steps with host activity.
StepSet steps_of_host(const Trace& trace) {
  StepSet steps;
  for (const auto& range : trace.ranges) steps.add(range.step);
  for (const auto& call : trace.operators) steps.add(call.position.step);
  return steps;
}

bool is_measured(std::int32_t step, std::int64_t warmup) { return step >= 0 && step >= warmup; }

GroupKey key_of(const Operator& call) {
  return {packed(call.scope, call.name),
          packed(static_cast<std::uint32_t>(call.position.phase), call.backward ? 1 : 0)};
}

/// Removes the index at the end of a path component; returns * if nothing is left.
std::string without_number(std::string part) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!part.empty()) {
    std::size_t end = part.size();
    while (end > 0 && is_digit(part[end - 1])) --end;
    if (end == part.size()) return part;
    if (end == 0) return "*";
    if (part[end - 1] != '_') return part;
    part.erase(end - 1);
  }
  return "*";
}

/// The same for each part of a name with dots, such as that of a PyTorch module: layers.0.norm.
std::string without_numbers(const std::string& name) {
  std::string text;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('.', start), name.size());
    if (start > 0) text += '.';
    if (end > start) text += without_number(name.substr(start, end - start));
    start = end + 1;
  }
  return text;
}

/// A set of modules, separated by commas. Those that differ only in their numbers are listed once.
std::string module_set_of(const std::string& list) {
  std::vector<std::string> modules;
  for (const std::string& each : split(list, ','))
    if (std::string module = module_of(trim(each)); !contains(modules, module)) modules.push_back(std::move(module));
  return '{' + join(modules, ", ") + '}';
}

}  // namespace

std::int64_t measured_steps(const Trace& trace, std::int64_t warmup) {
  StepSet steps = steps_of_host(trace);
  for (const auto& activity : trace.activities) steps.add(activity.step);
  return steps.count_from(warmup);
}

std::vector<event::KernelClass> kernel_classes(const Trace& trace, const Classifier& classifier) {
  std::vector<event::KernelClass> classes;
  std::vector<bool> seen(trace.texts.size() + 1, false);
  for (const Activity& activity : trace.activities) {
    if (activity.name == event::kNoText || activity.name >= seen.size() || seen[activity.name]) continue;
    seen[activity.name] = true;
    const std::string& name = trace.texts.text(activity.name);
    std::string kernel_class = classifier.class_of(name);
    if (kernel_class == "other" && activity.kind == ActivityKind::kMemcpy) kernel_class = "copy";
    if (kernel_class == "other" && activity.kind == ActivityKind::kMemset) kernel_class = "memset";
    classes.push_back({activity.name, short_kernel_name(name), std::move(kernel_class)});
  }
  return classes;
}

std::string module_of(const std::string& path) {
  if (const std::size_t begin = path.find('{'); begin != std::string::npos && path.ends_with('}'))
    return module_of(path.substr(0, begin)) + module_set_of(path.substr(begin + 1, path.size() - begin - 2));
  std::string module;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    if (start > 0) module += '/';
    if (end > start) module += without_numbers(path.substr(start, end - start));
    start = end + 1;
  }
  return module;
}

std::vector<event::ScopePath> scope_paths(const Trace& trace) {
  std::vector<event::ScopePath> paths;
  std::vector<bool> seen(trace.texts.size() + 1, false);
  const auto add = [&](event::TextId path) {
    if (path == event::kNoText || path >= seen.size() || seen[path]) return;
    seen[path] = true;
    const std::string& text = trace.texts.text(path);
    paths.push_back({path, module_of(text), 1 + std::ranges::count(text, '/')});
  };
  for (const event::Range& range : trace.ranges) add(range.path);
  for (const event::TextId path : trace.compiled_paths) add(path);
  return paths;
}

std::vector<event::KernelTotal> kernel_totals(const Trace& trace, std::int64_t warmup,
                                              const std::vector<std::int64_t>& op_work_of) {
  StepSet steps = steps_of_host(trace);
  std::vector<event::KernelTotal> totals;
  Grouping launches, groups;
  for (std::size_t i = 0; i < trace.activities.size(); ++i) {
    const Activity& activity = trace.activities[i];
    if (!is_measured(activity.step, warmup)) continue;
    steps.add(activity.step);
    const std::int64_t launch_config = activity.kind == ActivityKind::kKernel ? std::int64_t{activity.shape} : -1;
    const std::int64_t op_work = op_work_of.empty() ? -1 : op_work_of[i];
    const auto how = static_cast<std::uint32_t>(activity.attribution) << 8 | static_cast<std::uint32_t>(activity.kind);
    const std::uint32_t launch = launches.number_of(
        {packed(static_cast<std::uint32_t>(launch_config), static_cast<std::uint32_t>(op_work)), how});
    const std::uint32_t group = groups.number_of(
        {packed(activity.scope, activity.name), packed(static_cast<std::uint32_t>(activity.phase), launch)});
    if (group == totals.size()) {
      totals.push_back({activity.kind, activity.phase, activity.scope, activity.name, activity.attribution, 0, 0, 0, 0,
                        std::numeric_limits<std::int64_t>::max(), 0, launch_config, op_work});
    }
    event::KernelTotal& total = totals[group];
    const std::int64_t duration = duration_ns(activity.start_ns, activity.end_ns);
    ++total.calls;
    if (activity.kind != ActivityKind::kKernel) total.bytes += activity.bytes;
    total.total_ns += duration;
    total.min_ns = std::min(total.min_ns, duration);
    total.max_ns = std::max(total.max_ns, duration);
  }
  const std::int64_t count = steps.count_from(warmup);
  for (event::KernelTotal& total : totals) total.steps = count;
  return totals;
}

std::vector<event::OpTotal> op_totals(const Trace& trace, std::int64_t warmup) {
  constexpr std::uint32_t kNoGroup = UINT32_MAX;
  std::vector<event::OpTotal> totals;
  if (trace.operators.empty()) return totals;
  const std::int64_t steps = measured_steps(trace, warmup);
  std::vector<std::uint32_t> group_of(trace.operators.size(), kNoGroup);
  Grouping groups;
  for (std::size_t i = 0; i < trace.operators.size(); ++i) {
    const Operator& call = trace.operators[i];
    if (!is_measured(call.position.step, warmup)) continue;
    const std::uint32_t group = group_of[i] = groups.number_of(key_of(call));
    if (group == totals.size())
      totals.push_back({call.position.phase, call.scope, call.name, call.backward, steps, 0, 0, 0, 0, 0});
    event::OpTotal& total = totals[group];
    ++total.calls;
    total.host_ns += duration_ns(call.start_ns, call.end_ns);
    total.self_host_ns += call.self_ns;
  }
  for (const Activity& activity : trace.activities) {
    if (activity.op < 0 || static_cast<std::size_t>(activity.op) >= group_of.size()) continue;
    const std::uint32_t group = group_of[static_cast<std::size_t>(activity.op)];
    if (group == kNoGroup) continue;
    ++totals[group].kernels;
    totals[group].device_ns += duration_ns(activity.start_ns, activity.end_ns);
  }
  return totals;
}

}  // namespace kymo::analysis
