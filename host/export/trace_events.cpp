// SPDX-License-Identifier: Apache-2.0
#include "export/trace_events.hpp"

#include <algorithm>

namespace kymo::exports {

std::string json_string(std::string_view text) { return dump_json(text); }

std::string microseconds(std::int64_t ns) {
  const bool negative = ns < 0;
  const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  const std::string fraction = std::to_string(1000 + size % 1000);
  return (negative ? "-" : "") + std::to_string(size / 1000) + "." + fraction.substr(1);
}

TraceEvent::TraceEvent(char phase, const Track& track, std::string_view json_name, std::string_view category) {
  text_.reserve(256);
  text_ += "{\"ph\": \"";
  text_ += phase;
  text_ += '"';
  if (!category.empty()) member("cat", "\"" + std::string(category) + "\"");
  member("name", json_name);
  member("pid", std::to_string(track.process));
  member("tid", std::to_string(track.thread));
}

TraceEvent& TraceEvent::at(std::int64_t start_ns) { return member("ts", microseconds(start_ns)); }

TraceEvent& TraceEvent::between(std::int64_t start_ns, std::int64_t end_ns) {
  return at(start_ns).member("dur", microseconds(std::max<std::int64_t>(end_ns - start_ns, 0)));
}

TraceEvent& TraceEvent::member(std::string_view name, std::string_view json) {
  text_ += ", \"";
  text_ += name;
  text_ += "\": ";
  text_ += json;
  return *this;
}

TraceEvent& TraceEvent::argument(std::string_view name, std::string_view json) {
  arguments_ += arguments_.empty() ? "\"" : ", \"";
  arguments_ += name;
  arguments_ += "\": ";
  arguments_ += json;
  return *this;
}

std::string TraceEvent::line() const {
  return arguments_.empty() ? text_ + "}" : text_ + ", \"args\": {" + arguments_ + "}}";
}

void TraceEvents::begin(const std::string& first, const Json& others) {
  output_.write("{\n" + first + ",\n");
  for (const auto& [name, value] : others.items()) output_.write(json_string(name) + ": " + dump_json(value) + ",\n");
  output_.write("\"traceEvents\": [\n");
}

void TraceEvents::add(const TraceEvent& event) {
  output_.write(is_first_ ? "" : ",\n");
  is_first_ = false;
  output_.write(event.line());
}

void TraceEvents::end() { output_.write("\n]\n}\n"); }

std::size_t Lanes::lane_for(std::int64_t key, std::int64_t start_ns, std::int64_t end_ns) {
  std::vector<std::int64_t>& ends = ends_[key];
  auto lane = std::ranges::find_if(ends, [&](std::int64_t end) { return end <= start_ns; });
  if (lane == ends.end()) lane = ends.insert(ends.end(), end_ns);
  *lane = std::max(start_ns, end_ns);
  return static_cast<std::size_t>(lane - ends.begin());
}

std::map<std::int64_t, std::size_t> Lanes::counts() const {
  std::map<std::int64_t, std::size_t> counts;
  for (const auto& [key, ends] : ends_) counts[key] = ends.size();
  return counts;
}

}  // namespace kymo::exports
