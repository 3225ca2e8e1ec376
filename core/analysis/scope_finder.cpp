// SPDX-License-Identifier: Apache-2.0
#include "analysis/scope_finder.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace kymo::analysis {
namespace {

using event::Range;

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

/// Returns the end of each range's interval of sequence numbers. Enclosing ranges precede nested ones.
std::vector<std::int64_t> ends_of(const std::vector<Range>& ranges) {
  std::vector<std::int64_t> ends(ranges.size(), kForever);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    if (range.end_sequence >= 0) {
      ends[i] = range.end_sequence;
    } else if (range.parent >= 0 && static_cast<std::size_t>(range.parent) < i) {
      const auto parent = static_cast<std::size_t>(range.parent);
      if (ranges[parent].first_node.thread == range.first_node.thread) ends[i] = ends[parent];
    }
  }
  return ends;
}

struct Edge {
  std::int64_t number = 0;
  bool begins = false;
  std::int64_t end = 0;  ///< end of the range that begins
  std::int32_t range = -1;

  /// Ends precede begins, since intervals are half-open. Among ranges with the same begin, the longest is the
  /// outermost.
  auto order() const { return std::tuple(number, begins, begins ? -end : 0, range); }
};

}  // namespace

ForwardScopes::ForwardScopes(const std::vector<Range>& ranges) {
  const std::vector<std::int64_t> ends = ends_of(ranges);
  std::map<std::uint64_t, std::vector<Edge>> edges;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    const std::int64_t first = range.first_node.sequence;
    if (range.is_phase || range.path == event::kNoText || first < 0 || ends[i] <= first) continue;
    const auto number = static_cast<std::int32_t>(i);
    auto& thread = edges[range.first_node.thread];
    thread.push_back({first, true, ends[i], number});
    if (ends[i] != kForever) thread.push_back({ends[i], false, 0, number});
  }
  for (auto& [number, list] : edges) {
    std::ranges::sort(list, {}, &Edge::order);
    Thread thread{number, {}, 0};
    std::vector<std::int32_t> open;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].begins) {
        open.push_back(list[i].range);
      } else {
        open.erase(std::find(open.rbegin(), open.rend(), list[i].range).base() - 1);
      }
      const bool last_of_number = i + 1 == list.size() || list[i + 1].number != list[i].number;
      if (last_of_number) thread.spans.push_back({list[i].number, open.empty() ? -1 : open.back()});
    }
    threads_.push_back(std::move(thread));
  }
}

std::int32_t ForwardScopes::scope_of(const event::AutogradPosition& node) {
  if (node.sequence < 0) return -1;
  const auto found = std::ranges::lower_bound(threads_, node.thread, {}, &Thread::number);
  if (found == threads_.end() || found->number != node.thread) return -1;
  const std::vector<Span>& spans = found->spans;
  const auto holds = [&](std::size_t i) {
    return spans[i].first <= node.sequence && (i + 1 == spans.size() || node.sequence < spans[i + 1].first);
  };
  std::size_t& last = found->last;
  if (holds(last)) return spans[last].range;
  if (last > 0 && holds(last - 1)) return spans[--last].range;  // the backward pass visits intervals in reverse order
  const auto after = std::ranges::upper_bound(spans, node.sequence, {}, &Span::first);
  if (after == spans.begin()) return -1;
  last = static_cast<std::size_t>(after - spans.begin()) - 1;
  return spans[last].range;
}

std::optional<GeneratedCall> GeneratedCall::parse(std::string_view name) {
  if (!name.ends_with('}')) return std::nullopt;
  const std::size_t set = name.find('{');
  if (set == std::string_view::npos) return std::nullopt;
  const std::size_t kernel = name.substr(0, set).find(' ');
  const std::size_t begin = kernel == std::string_view::npos ? 0 : kernel + 1;
  if (begin != set && name[set - 1] != '/') return std::nullopt;
  return GeneratedCall{kernel == std::string_view::npos ? std::string_view() : name.substr(0, kernel),
                       name.substr(begin)};
}

std::string_view GeneratedCall::path() const {
  if (is_fused()) return modules;
  const std::string_view module = modules.substr(1, modules.size() - 2);
  return module == "." ? std::string_view() : module;
}

std::optional<GeneratedCall> ScopeFinder::generated_call(std::int32_t range) const {
  if (range < 0 || static_cast<std::size_t>(range) >= trace_.ranges.size()) return std::nullopt;
  return GeneratedCall::parse(trace_.texts.text(trace_.ranges[static_cast<std::size_t>(range)].name));
}

ScopeAttribution ScopeFinder::compiled(std::int32_t forward, std::int32_t range, const GeneratedCall& call) {
  using event::Attribution;
  const auto number = static_cast<std::uint32_t>(range);
  const auto [found, is_new] =
      compiled_.try_emplace(std::uint64_t{static_cast<std::uint32_t>(forward)} << 32 | number, ScopeAttribution{});
  if (!is_new) return found->second;
  const event::Range& own = trace_.ranges[number];
  std::string path;
  if (forward >= 0) {
    path = trace_.texts.text(trace_.ranges[static_cast<std::size_t>(forward)].path);
  } else {  // the path of the range ends with its name
    const std::string& whole = trace_.texts.text(own.path);
    const std::size_t end = trace_.texts.text(own.name).size();
    if (whole.size() > end) path = whole.substr(0, whole.size() - end - 1);
  }
  if (!path.empty() && !call.path().empty()) path += '/';
  path += call.path();
  found->second = {call.is_fused() ? Attribution::kFused
                   : forward >= 0  ? Attribution::kAutograd
                                   : Attribution::kLaunch,
                   trace_.texts.intern(path)};
  trace_.compiled_paths.push_back(found->second.scope);
  return found->second;
}

ScopeFinder::ScopeFinder(event::Trace& trace)
    : trace_(trace), recompute_(trace.phase_named(event::kRecomputePhase)), forward_(trace.ranges) {}

ScopeAttribution ScopeFinder::locate(const event::Position& position) {
  using event::Attribution;
  const bool recomputes = position.phase >= 0 && position.phase == recompute_;
  const std::int32_t forward = recomputes ? -1 : forward_.scope_of(position.node);
  if (const auto call = generated_call(position.range)) return compiled(forward, position.range, *call);
  if (forward >= 0) return {Attribution::kAutograd, path(forward)};
  if (const event::TextId scope = path(position.range)) return {Attribution::kLaunch, scope};
  return {phase(position) >= 0 ? Attribution::kPhase : Attribution::kNone, event::kNoText};
}

}  // namespace kymo::analysis
