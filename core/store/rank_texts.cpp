// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "base/utf8.hpp"
#include "store/rank_rows.hpp"
#include "store/row_inserter.hpp"

namespace kymo::store {

// Cleaning can make two strings equal, so each id of the pass is mapped to its row individually.
RankTexts::RankTexts(const event::Texts& texts, const std::vector<std::string>& phases) {
  rows_.push_back(event::kNoText);
  for (std::size_t id = 1; id <= texts.size(); ++id) rows_.push_back(add(texts.text(static_cast<event::TextId>(id))));
  for (const std::string& phase : phases) phases_.push_back(add(phase));
  no_text_ = add("(unknown)");
}

event::TextId RankTexts::add(const std::string& text) {
  const event::TextId row = texts_.intern(valid_utf8(text));
  used_.resize(texts_.size() + 1);
  return row;
}

std::int64_t RankTexts::intern(const std::string& text) { return used(add(text)); }

void RankTexts::write(const Connection& connection) const {
  RowInserter rows(connection, "string", {"string_id", "text"});
  for (std::size_t row = 1; row < used_.size(); ++row) {
    if (used_[row] != 0) rows.add(static_cast<std::int64_t>(row), texts_.text(static_cast<event::TextId>(row)));
  }
  rows.finish();
}

void write_text_facts(RankTarget& to, const event::Derived& derived) {
  RowInserter classes(to.connection, "kernel_class", {"name_id", "short_name", "class"});
  for (const event::KernelClass& each : derived.kernel_classes) {
    if (const auto name = to.texts.text(each.name)) classes.add(*name, each.short_name, each.kernel_class);
  }
  classes.finish();
  RowInserter paths(to.connection, "scope_path", {"scope_id", "module", "depth"});
  for (const event::ScopePath& each : derived.scope_paths) {
    if (const auto path = to.texts.text(each.path)) paths.add(*path, each.module, each.depth);
  }
  paths.finish();
}

std::map<std::string, std::int64_t> count_events(const event::PassRecord& record) {
  using event::ActivityKind;
  std::map<std::string, std::int64_t> counts;
  const auto count = [&](const char* table, const auto& rows) {
    if (!rows.empty()) counts[table] += static_cast<std::int64_t>(rows.size());
  };
  const event::Trace& trace = record.trace;
  count("range", trace.ranges);
  count("launch_config", trace.shapes);
  std::array<std::int64_t, 3> kinds{};
  for (const event::Activity& activity : trace.activities) ++kinds[static_cast<std::size_t>(activity.kind)];
  for (const ActivityKind kind : {ActivityKind::kKernel, ActivityKind::kMemcpy, ActivityKind::kMemset}) {
    if (const std::int64_t activities = kinds[static_cast<std::size_t>(kind)]; activities > 0)
      counts[to_string(kind)] = activities;
  }
  count("api_call", trace.api_calls);
  count("synchronization", trace.synchronizations);
  count("cupti_overhead", trace.overhead_records);
  count("op", trace.operators);
  count("collective", trace.collectives);
  count("allocation", record.derived.allocations);
  count("segment", record.derived.segments);
  count("memory_point", record.derived.memory_points);
  count("device_memory", record.memory_trace.device);
  for (const auto& stack : record.memory_trace.stacks) count("stack", stack);
  count("stack_frame", record.memory_trace.frames);
  return counts;
}

}  // namespace kymo::store
