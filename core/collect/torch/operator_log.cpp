// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/operator_log.hpp"

#include <ATen/record_function.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "collect/event_log/call_clock.hpp"
#include "collect/event_log/operator_rows.hpp"
#include "collect/torch/autograd_position.hpp"
#include "collect/torch/lasting_names.hpp"
#include "collect/torch/registered_names.hpp"
#include "collect/torch/shapes.hpp"

namespace kymo::collect {
namespace {

/// One watch. Kept for the life of the process, with the address space of its rows: a callback that began before the
/// watch ended may still look at it and write to it.
struct Watch {
  explicit Watch(const PassSetting& setting) : standpoint(setting.standpoint), run_start_ns(setting.run_start_ns) {}

  const Standpoint* standpoint;
  std::int64_t run_start_ns;
  std::int64_t most_bytes = 0;
  bool shapes = false;
  std::optional<OperatorRows> rows;
  CallClock clock;
  at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> lost{0};
  std::atomic<std::int64_t> failed{0};
};

struct OpenCall {
  const at::RecordFunction* call = nullptr;  // the same object when it ends
  std::int64_t number = -1;
  OperatorRow* row = nullptr;
  const char* name = "";
};

/// What one thread knows of its calls; no other thread ever looks at it.
struct ThreadLog {
  Watch* watch = nullptr;  // that the rest belongs to
  const ThreadStanding* standing = nullptr;
  std::vector<OpenCall> open;
  RowWriter writer;
  LastingNames names;  // of registered operators
  std::uint32_t deregistered = 0;

  void begin(Watch& what) {
    watch = nullptr;
    open.clear();
    names.clear();
    standing = &what.standpoint->standing();
    if (what.rows) writer.begin(*what.rows, standing->number);
    watch = &what;
  }
  const RowText* find_name(const char* name) {
    const std::uint32_t now = g_deregistered_operators.load(std::memory_order_acquire);
    if (deregistered != now) names.clear();
    deregistered = now;
    return names.find(name);
  }
  /// False once the bound is reached.
  bool intern_name(const at::RecordFunction& call, const char* name, bool backward, const RowText*& text) {
    if (!writer.intern(name, text)) return false;
    if (!backward && text && is_registered_name(call, name)) names.add(name, *text);
    return true;
  }
};

std::atomic<Watch*> g_watch{nullptr};
thread_local ThreadLog* t_log = nullptr;

struct LogOwner {
  std::unique_ptr<ThreadLog> log;
  ~LogOwner() { t_log = nullptr; }
};
thread_local LogOwner t_owner;

// Never destroyed: threads may outlive main(). Used by the thread that begins and ends watches.
std::vector<std::unique_ptr<Watch>>& watches() {
  static auto* const all = new std::vector<std::unique_ptr<Watch>>;
  return *all;
}

ThreadLog& thread_log() {
  if (t_log == nullptr) {
    t_owner.log = std::make_unique<ThreadLog>();
    t_log = t_owner.log.get();
  }
  return *t_log;
}

// What the autograd engine puts before a node's name for all its work on the node.
constexpr std::string_view kNodePrefix = "autograd::engine::evaluate_function: ";

bool is_node(const char* name) {
  // Most names are told by their second letter: aten::
  return name[0] == kNodePrefix[0] && name[1] == kNodePrefix[1] &&
         std::strncmp(name, kNodePrefix.data(), kNodePrefix.size()) == 0;
}

void note_node(OperatorRow& row) {
  const event::AutogradPosition node = current_autograd_node();
  row.backward = 1;
  row.sequence = node.sequence;
  row.node_thread = static_cast<std::uint32_t>(node.thread);
}

/// The call's row, but for its start; nullptr once the bound is reached. `name` is the name's text if it is known.
OperatorRow* describe(Watch& watch, ThreadLog& log, const at::RecordFunction& call, const OpenCall& open,
                      const RowText* name, bool backward) {
  const RowText* shapes = nullptr;
  if (!name && !log.intern_name(call, open.name, backward, name)) return nullptr;
  if (watch.shapes && !log.writer.intern(shapes_of(call.inputs()), shapes)) return nullptr;
  if (!log.writer.has_room()) return nullptr;
  // Before the row is touched: counting waits for what was stored before it, and the row's memory is still far away.
  const std::int64_t number = watch.next.fetch_add(1, std::memory_order_relaxed);
  OperatorRow& row = log.writer.add();
  const Standpoint& here = *watch.standpoint;
  row.number = static_cast<std::int32_t>(number);
  row.name = name;
  row.shapes = shapes;
  row.sequence = call.seqNr();
  row.parent = log.open.empty() ? -1 : static_cast<std::int32_t>(log.open.back().number);
  row.step = here.step.load(std::memory_order_relaxed);
  row.phase = here.phase.load(std::memory_order_relaxed);
  row.range = log.standing->range;
  if (backward) note_node(row);
  return &row;
}

void begin_call(Watch& watch, const at::RecordFunction& call) {
  ThreadLog& log = thread_log();
  if (log.watch != &watch) log.begin(watch);
  if (log.open.size() == log.open.capacity()) log.open.reserve(2 * log.open.size() + 16);
  const char* const name = call.name();
  const RowText* const text = watch.rows ? log.find_name(name) : nullptr;
  const bool backward = !text && is_node(name);
  OpenCall open{&call, -1, nullptr, backward ? name + kNodePrefix.size() : name};
  if (!watch.rows) {
    // A block that an operator's own parts made and used up is that operator's workspace: they all count as one call.
    open.number = log.open.empty() ? watch.next++ : log.open.front().number;
  } else if ((open.row = describe(watch, log, call, open, text, backward))) {
    open.number = open.row->number;
  } else {
    ++watch.lost;
  }
  log.open.push_back(open);
  if (open.row == nullptr) return;
  open.row->start = watch.clock.read();
  log.writer.publish();
}

// LibTorch swallows what callbacks throw, with a warning on stderr for each.
std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& call) {
  if (Watch* const watch = g_watch.load(std::memory_order_acquire)) {
    try {
      begin_call(*watch, call);
    } catch (const std::exception&) {
      ++watch->failed;
    }
  }
  return nullptr;
}

void on_end(const at::RecordFunction& call, at::ObserverContext*) {
  Watch* const watch = g_watch.load(std::memory_order_acquire);
  if (watch == nullptr) return;
  const std::int64_t time = watch->rows ? watch->clock.read() : -1;
  ThreadLog* const log = t_log;
  if (log == nullptr || log->watch != watch) return;
  // Calls above it never ended on this thread: asynchronous ones may end elsewhere.
  for (std::size_t i = log->open.size(); i-- > 0;) {
    if (log->open[i].call != &call) continue;
    if (log->open[i].row) log->open[i].row->end.store(time, std::memory_order_relaxed);
    log->open.resize(i);
    return;
  }
}

const OpenCall* innermost() noexcept {
  const ThreadLog* const log = t_log;
  if (log == nullptr || log->open.empty() || log->watch == nullptr) return nullptr;
  return log->watch == g_watch.load(std::memory_order_relaxed) ? &log->open.back() : nullptr;
}

/// Texts of rows by their numbers in the trace: each thread has kept its own.
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

event::Operator finished(const OperatorRow& row, std::uint32_t thread, const Watch& watch, TextNumbers& texts) {
  event::Operator call;
  const std::int64_t end = row.end.load(std::memory_order_relaxed);
  call.start_ns = watch.clock.host_ns(row.start) - watch.run_start_ns;
  if (end != -1) call.end_ns = watch.clock.host_ns(end) - watch.run_start_ns;
  call.parent = row.parent;
  call.name = texts.of(row.name);
  call.shapes = texts.of(row.shapes);
  call.backward = row.backward != 0;
  call.place = {row.step, row.phase, row.range, thread, {}, -1};
  if (call.backward) call.place.node = {row.sequence, row.node_thread};
  call.sequence = row.sequence;
  return call;
}

/// Calls within the engine's work on a node work on that node.
void pass_nodes_down(std::vector<event::Operator>& calls) {
  for (event::Operator& call : calls)  // parents come first
    if (!call.backward && call.parent >= 0) call.place.node = calls[static_cast<std::size_t>(call.parent)].place.node;
}

/// How many calls have a number. A call that has one is published within its callback, which may be under way on
/// another thread: a moment's wait, after which each of them has a row. As many rows as numbers, asked in this order: a
/// row of a call that begins meanwhile cannot stand in for one that is still to come.
std::int64_t await_rows(const Watch& watch) {
  constexpr auto kLongest = std::chrono::seconds(1);
  const auto deadline = std::chrono::steady_clock::now() + kLongest;
  for (;;) {
    const std::int64_t published = watch.rows->published();
    const std::int64_t count = watch.next.load();
    if (published == count || std::chrono::steady_clock::now() >= deadline) return count;
    std::this_thread::yield();
  }
}

/// Returns how many calls have no row, because their thread has been kept from writing it.
std::int64_t move_rows(Watch& watch, event::Trace& trace) {
  const std::int64_t count = await_rows(watch);
  watch.clock.finish();
  trace.operators.resize(static_cast<std::size_t>(count));
  TextNumbers texts(trace.texts);
  std::int64_t missing = count;
  watch.rows->each([&](const OperatorRow& row, std::uint32_t thread) {
    // It may have begun while the watch ended.
    if (row.number >= count) return;
    trace.operators[static_cast<std::size_t>(row.number)] = finished(row, thread, watch, texts);
    --missing;
  });
  pass_nodes_down(trace.operators);
  watch.rows->release();
  return missing;
}

}  // namespace

void watch_operators(const PassSetting& setting, OperatorDetail detail) {
  if (g_watch.load() != nullptr) throw std::logic_error("operators are watched already");
  auto watch = std::make_unique<Watch>(setting);
  watch->most_bytes = setting.how.memory_bytes;
  if (detail == OperatorDetail::kRows) {
    watch_registered_names();
    watch->rows.emplace(setting.how.memory_bytes);
  }
  watch->shapes = watch->rows && setting.how.shapes;
  watches().push_back(std::move(watch));
  Watch& begun = *watches().back();
  g_watch = &begun;
  auto callback = at::RecordFunctionCallback(&on_begin, &on_end);
  // Not BACKWARD_FUNCTION: it lies within the engine's own record of the same node, and LibTorch spells the node's name
  // for both.
  callback.scopes({at::RecordScope::FUNCTION}).needsInputs(begun.shapes);
  begun.callback = at::addGlobalCallback(callback);
}

void warm_operators() noexcept {
  if (Watch* const watch = g_watch.load(); watch && watch->rows) watch->rows->warm();
}

void end_operators(event::PassRecord& record, const char* source) {
  Watch* const watch = g_watch.load();
  if (watch == nullptr) return;
  at::removeCallback(watch->callback);
  g_watch = nullptr;
  const std::int64_t missing = watch->rows ? move_rows(*watch, record.trace) : 0;
  if (missing > 0)
    record.losses.push_back({source, missing, "operator calls that their threads had not noted when the pass ended"});
  if (watch->lost > 0)
    record.losses.push_back(
        {source, watch->lost, "operator calls beyond the bound of " + format_bytes(watch->most_bytes)});
  if (watch->failed > 0)
    record.losses.push_back(
        {source, watch->failed, "operator calls that could not be described, or for want of memory"});
}

std::int64_t open_operator() noexcept {
  const OpenCall* const call = innermost();
  return call ? call->number : -1;
}

std::string_view open_operator_name() noexcept {
  const OpenCall* const call = innermost();
  return call ? std::string_view(call->name) : std::string_view();
}

}  // namespace kymo::collect
