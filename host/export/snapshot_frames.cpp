// SPDX-License-Identifier: Apache-2.0
#include "export/snapshot.hpp"

namespace kymo::exports {

using store::ResultsDatabase;

FrameWriter::FrameWriter(const ResultsDatabase& database, const Target& target, Pickle& pickle)
    : database_(database), target_(target), pickle_(pickle), texts_(database) {}

void FrameWriter::write_alloc(const HistoryBlock& block) {
  if (recalls({block.op, block.scope, block.phase, block.stack, 0})) return;
  pickle_.begin_list();
  if (block.op >= 0) write_frame("operator", block.op);
  if (block.scope >= 0) write_frame("scope", block.scope);
  if (block.phase >= 0) write_frame("phase", block.phase);
  if (block.op < 0 && block.scope < 0 && block.phase < 0) frame("kymo", 0, "outside operators, scopes and phases");
  if (block.stack >= 0) write_stack(block.stack);
  close();
}

void FrameWriter::write_free(const HistoryBlock& block) {
  if (recalls({-1, -1, block.free_phase, -1, 1})) return;
  pickle_.begin_list();
  frame("kymo", 0, block.free_phase >= 0 ? "freed in " + texts_.text(block.free_phase) : "freed outside phases");
  close();
}

void FrameWriter::write_none() {
  if (recalls({-1, -1, -1, -1, 2})) return;
  pickle_.begin_list();
  close();
}

bool FrameWriter::recalls(const Key& key) {
  const auto found = lists_.find(key);
  if (found == lists_.end()) {
    open_ = key;
    return false;
  }
  pickle_.recall(found->second);
  return true;
}

void FrameWriter::close() {
  pickle_.end_list();
  lists_[open_] = pickle_.remember();
}

void FrameWriter::frame(const std::string& file, std::int64_t line, const std::string& name) {
  pickle_.item();
  pickle_.begin_dict();
  pickle_.entry("filename", file);
  pickle_.entry("line", line);
  pickle_.entry("name", name);
  pickle_.end_dict();
}

void FrameWriter::write_frame(const char* kind, std::int64_t id) { frame(kind, 0, texts_.text(id)); }

void FrameWriter::write_stack(std::int64_t stack) {
  auto parameters = target_.parameters();
  parameters.emplace_back("stack", std::to_string(stack));
  const auto rows = database_
                        .query(
                            "SELECT f.module, f.offset, f.function_id FROM main.stack s JOIN main.stack_frame f ON "
                            "f.run_id = s.run_id AND f.rank = s.rank AND f.pass = s.pass AND f.frame = s.frame WHERE "
                            "s.run_id = CAST(:run AS INTEGER) AND s.rank = CAST(:rank AS INTEGER) AND s.pass = :pass "
                            "AND s.stack = CAST(:stack AS INTEGER) ORDER BY s.depth",
                            parameters)
                        .rows;
  for (const auto& cells : rows) {
    const Row row(cells);
    frame(row.text(0), row.integer(1), row.has(2) ? texts_.text(row.integer(2)) : "??");
  }
}

}  // namespace kymo::exports
