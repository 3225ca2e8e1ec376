// SPDX-License-Identifier: Apache-2.0
#include "report/interactive_blocks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "report/area.hpp"
#include "report/used_texts.hpp"

namespace kymo::report {
namespace {

constexpr std::size_t kRestPositions = 4096;

// Indices of the largest blocks and of the remaining ones.
struct BlockChoice {
  std::vector<std::size_t> shown;
  std::vector<std::size_t> rest;
};

BlockChoice choose_blocks(const std::vector<MemoryBlock>& blocks) {
  BlockChoice choice;
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > kMaxInteractiveBlocks) {
    const auto middle = order.begin() + kMaxInteractiveBlocks;
    std::nth_element(order.begin(), middle, order.end(), [&blocks](std::size_t a, std::size_t b) {
      return blocks[a].bytes != blocks[b].bytes ? blocks[a].bytes > blocks[b].bytes : a < b;
    });
    choice.rest.assign(middle, order.end());
    order.erase(middle, order.end());
  }
  std::sort(order.begin(), order.end());
  choice.shown = std::move(order);
  return choice;
}

// The total size of the blocks over time, reduced to as many positions as a screen can show.
AreaLayers curve_of(const std::vector<MemoryBlock>& blocks, const std::vector<std::size_t>& chosen, double origin) {
  std::vector<std::pair<double, double>> changes;
  for (const std::size_t i : chosen) {
    changes.emplace_back(static_cast<double>(blocks[i].start_ns) - origin, static_cast<double>(blocks[i].bytes));
    if (blocks[i].end_ns)
      changes.emplace_back(static_cast<double>(*blocks[i].end_ns) - origin, -static_cast<double>(blocks[i].bytes));
  }
  std::sort(changes.begin(), changes.end());
  AreaLayers curve{{}, {{}}};
  double sum = 0;
  for (const auto& [x, change] : changes) {
    sum += change;
    if (curve.x.empty() || curve.x.back() != x) {
      curve.x.push_back(x);
      curve.values[0].push_back(sum);
    }
    curve.values[0].back() = sum;
  }
  return max_of_intervals(curve, kRestPositions);
}

// A category has the color of the series with the same name, if there is one.
std::vector<std::int64_t> colours_of(const std::vector<std::string>& categories, const Chart& chart) {
  std::vector<std::int64_t> colours;
  std::int64_t next = 0;
  for (std::size_t s = 0; s < chart.series.size(); ++s)
    next = std::max(next, static_cast<std::int64_t>(colour_of(chart, s)) + 1);
  for (const std::string& category : categories) {
    const auto found = std::find_if(chart.series.begin(), chart.series.end(),
                                    [&category](const Series& each) { return each.name == category; });
    const auto series = static_cast<std::size_t>(found - chart.series.begin());
    colours.push_back(found == chart.series.end() ? next++ : static_cast<std::int64_t>(colour_of(chart, series)));
  }
  return colours;
}

// Addresses are written relative to the lowest of a chart, because their differences are exact in JavaScript.
std::uint64_t lowest_address(const MemoryBlocks& memory) {
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  for (const MemorySegment& segment : memory.segments) lowest = std::min(lowest, segment.address);
  for (const MemoryBlock& block : memory.blocks) lowest = std::min(lowest, block.address.value_or(lowest));
  return lowest;
}

void write_segments(JsonText& json, const MemoryBlocks& memory, double origin) {
  std::vector<double> starts, lengths;
  std::vector<std::int64_t> addresses, bytes, streams;
  const std::uint64_t lowest = lowest_address(memory);
  for (const MemorySegment& segment : memory.segments) {
    starts.push_back(static_cast<double>(segment.start_ns) - origin);
    lengths.push_back(segment.end_ns ? span_ns(segment.start_ns, *segment.end_ns) : -1);
    addresses.push_back(static_cast<std::int64_t>(segment.address - lowest));
    bytes.push_back(segment.bytes);
    streams.push_back(segment.stream);
  }
  json.key("segments");
  json.open('{');
  json.field("lowest", std::to_string(lowest));
  json.list("start", starts);
  json.list("length", lengths);
  json.list("address", addresses);
  json.list("bytes", bytes);
  json.list("stream", streams);
  json.close('}');
}

// Where the blocks are, and how long streams still used them after they were freed.
void write_addresses(JsonText& json, const MemoryBlocks& memory, const std::vector<std::size_t>& shown) {
  std::vector<std::int64_t> addresses, pending;
  const std::uint64_t lowest = lowest_address(memory);
  for (const std::size_t i : shown) {
    const MemoryBlock& block = memory.blocks[i];
    addresses.push_back(block.address ? static_cast<std::int64_t>(*block.address - lowest) : -1);
    pending.push_back(block.pending_ns);
  }
  json.list("address", addresses);
  json.list("pending", pending);
}

void write_blocks(JsonText& json, const Chart& chart, double origin) {
  const std::vector<MemoryBlock>& blocks = chart.memory.blocks;
  const BlockChoice choice = choose_blocks(blocks);
  UsedTexts texts(chart.memory.texts);
  UsedTexts categories(chart.memory.texts);
  std::vector<std::int64_t> bytes, labels, kinds, details;
  std::vector<double> starts, lengths;
  double previous = origin;
  for (const std::size_t i : choice.shown) {
    const MemoryBlock& block = blocks[i];
    const auto start = static_cast<double>(block.start_ns);
    starts.push_back(start - previous);
    previous = start;
    lengths.push_back(block.end_ns ? span_ns(block.start_ns, *block.end_ns) : -1);
    bytes.push_back(block.bytes);
    labels.push_back(texts.number(block.label));
    kinds.push_back(categories.number(block.category));
    details.push_back(block.detail == event::kNoText ? -1 : texts.number(block.detail));
  }
  const AreaLayers rest = curve_of(blocks, choice.rest, origin);
  json.key("blocks");
  json.open('{');
  json.list("start", starts);
  json.list("length", lengths);
  json.list("bytes", bytes);
  json.list("label", labels);
  json.list("category", kinds);
  json.list("detail", details);
  json.list("texts", texts.used());
  json.list("categories", categories.used());
  json.list("colours", colours_of(categories.used(), chart));
  if (!chart.memory.segments.empty()) write_addresses(json, chart.memory, choice.shown);
  json.list("restX", rest.x);
  json.list("restBytes", rest.values[0]);
  json.close('}');
}

}  // namespace

void write_memory(JsonText& json, const Chart& chart, double origin) {
  if (!chart.memory.blocks.empty()) write_blocks(json, chart, origin);
  if (!chart.memory.segments.empty()) write_segments(json, chart.memory, origin);
  if (!chart.memory.without_segments.empty()) json.field("withoutSegments", chart.memory.without_segments);
}

}  // namespace kymo::report
