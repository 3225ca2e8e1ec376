// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/operator_pass.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <unordered_map>

#include "base/text.hpp"

namespace kymo::collect {
namespace {

/// Maps the strings of rows, which are interned per thread, to ids of the trace.
class TextNumbers {
 public:
  explicit TextNumbers(event::Texts& texts) : texts_(texts) {}
  event::TextId of(const RowText* text) {
    if (text == nullptr) return event::kNoText;
    const auto [found, is_new] = numbers_.try_emplace(text, event::kNoText);
    if (is_new) found->second = texts_.intern(text->view());
    return found->second;
  }

 private:
  event::Texts& texts_;
  std::unordered_map<const RowText*, event::TextId> numbers_;
};

/// The same for texts that are asked for repeatedly while the pass runs: their ids are kept with them.
class KeptTextNumbers {
 public:
  explicit KeptTextNumbers(event::Texts& texts) : texts_(texts) {}
  event::TextId of(const RowText* text) {
    if (text == nullptr) return event::kNoText;
    if (text->id == event::kNoText) text->id = texts_.intern(text->view());
    return text->id;
  }

 private:
  event::Texts& texts_;
};

/// Sets everything except the times.
template <class Numbers>
event::Operator operator_of(const OperatorRow& row, std::uint32_t thread, Numbers& texts) {
  event::Operator call;
  call.parent = row.parent;
  call.name = texts.of(row.name);
  call.shapes = texts.of(row.shapes);
  call.backward = row.backward != 0;
  call.position = {row.step, row.phase, row.range, thread, {}, -1};
  if (call.backward)
    call.position.node = {row.sequence, row.node_thread_or_stack};
  else
    call.position.stack = static_cast<std::int32_t>(row.node_thread_or_stack) - 1;
  call.sequence = row.sequence;
  return call;
}

}  // namespace

void OperatorPass::keep_rows(std::int64_t bytes, bool with_shapes) {
  max_bytes_ = bytes;
  keeps_shapes_ = with_shapes;
  rows_.emplace(bytes);
}

void OperatorPass::warm() noexcept {
  if (rows_) rows_->warm();
}

/// Returns the number of calls. A call is published in the same callback that numbers it, which may still run on
/// another thread, so this function waits briefly until every number has a row. Rows are counted before numbers, so
/// that the row of a new call cannot stand in for a pending one.
std::int64_t OperatorPass::await_rows() const {
  constexpr auto kLongest = std::chrono::seconds(1);
  const auto deadline = std::chrono::steady_clock::now() + kLongest;
  for (;;) {
    const std::int64_t published = rows_->published();
    const std::int64_t count = next_.load();
    if (published == count || std::chrono::steady_clock::now() >= deadline) return count;
    std::this_thread::yield();
  }
}

/// Returns the number of calls without a row, whose threads were delayed.
std::int64_t OperatorPass::move_rows(event::Trace& trace) {
  const std::int64_t count = await_rows();
  clock_.finish();
  trace.operators.resize(static_cast<std::size_t>(count));
  TextNumbers texts(trace.texts);
  std::int64_t missing = count;
  rows_->each([&](const OperatorRow& row, std::uint32_t thread) {
    // The call began while the pass was ending.
    if (row.number >= count) return;
    event::Operator& call = trace.operators[static_cast<std::size_t>(row.number)];
    call = operator_of(row, thread, texts);
    set_times(call, row);
    --missing;
  });
  event::pass_nodes_down(trace.operators);
  rows_->release();
  return missing;
}

void OperatorPass::set_times(event::Operator& call, const OperatorRow& row) const {
  const std::int64_t end = row.end.load(std::memory_order_relaxed);
  call.start_ns = clock_.host_ns(row.start) - run_start_ns_;
  if (end != -1) call.end_ns = clock_.host_ns(end) - run_start_ns_;
}

void OperatorPass::add_new(event::NewEvents& events) {
  if (!rows_) return;
  clock_.finish();
  KeptTextNumbers texts(events.texts);
  rows_->each_new([&](const OperatorRow& row, std::uint32_t thread) {
    auto& made = events.operators.emplace_back(row.number, operator_of(row, thread, texts));
    set_times(made.event, row);
  });
}

void OperatorPass::finish(event::PassRecord& record, const char* source) {
  const std::int64_t missing = rows_ ? move_rows(record.trace) : 0;
  add_dropped(record.dropped_records, source, missing, "operator calls that were not yet recorded when the pass ended");
  add_dropped(record.dropped_records, source, dropped_,
              "operator calls beyond the memory limit of " + format_bytes(max_bytes_));
  add_dropped(record.dropped_records, source, failed_, "operator calls that could not be described or allocated");
}

void OperatorPasses::begin(std::unique_ptr<OperatorPass> pass) {
  static_assert(std::is_trivially_destructible_v<OperatorPasses>);
  if (current_.load() != nullptr) throw std::logic_error("operators are already being recorded");
  pass->before_ = last_;
  last_ = pass.release();
  current_ = last_;
}

void ThreadCalls::begin(OperatorPass& pass) {
  pass_ = nullptr;
  open_.clear();
  thread_position_ = &pass.execution_context_.thread_position();
  if (pass.rows_) writer_.begin(*pass.rows_, thread_position_->number);
  pass_ = &pass;
}

}  // namespace kymo::collect
