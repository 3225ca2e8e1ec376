// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/operator_log.hpp"

#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "collect/stacks/chunks.hpp"
#include "collect/torch/shapes.hpp"

namespace kymo::collect {
namespace {

// What a text takes beside its characters: its place and a node of the index.
constexpr std::int64_t kBytesBesideText = 96;

struct Row {
  std::int64_t number = 0;
  event::Operator call;
};

/// One watch. Kept for the life of the process: a callback that began before the watch ended may still look at it.
struct Watch {
  const Standpoint* standpoint = nullptr;
  std::int64_t run_start_ns = 0;
  std::int64_t most_bytes = 0;
  bool rows = false;
  bool shapes = false;
  at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> bytes_left{0};
  std::atomic<std::int64_t> lost{0};
  std::atomic<std::int64_t> failed{0};
};

struct OpenCall {
  const at::RecordFunction* call = nullptr;  // the same object when it ends
  std::int64_t number = -1;
  event::Operator* row = nullptr;
  const char* name = "";
};

/// What one thread writes to. The mutex is taken by another thread only when the watch ends.
struct ThreadLog {
  std::mutex mutex;
  std::atomic<Watch*> watch{nullptr};  // that the rest belongs to
  std::vector<OpenCall> open;          // touched by its thread alone
  Chunks<Row> rows;
  event::Texts texts;

  void begin(Watch& what) {
    open.clear();
    rows.drain([](Row&) {});
    texts = event::Texts();
    watch = &what;
  }
};

/// All logs ever made: threads come and go, and a later thread takes over the log of one that ended.
class ThreadLogs {
 public:
  ThreadLog* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return logs_.emplace_back(std::make_unique<ThreadLog>()).get();
    ThreadLog* log = free_.back();
    free_.pop_back();
    return log;
  }
  void give_back(ThreadLog* log) {
    const std::lock_guard lock(mutex_);
    log->open.clear();
    free_.push_back(log);
  }
  template <class Visit>
  void each(Visit visit) {
    const std::lock_guard lock(mutex_);
    for (const auto& log : logs_) visit(*log);
  }

  std::vector<std::unique_ptr<Watch>> watches;  // used by the thread that begins and ends them

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadLog>> logs_;
  std::vector<ThreadLog*> free_;
};

// Never destroyed: threads may outlive main().
ThreadLogs& thread_logs() {
  static auto* const logs = new ThreadLogs;
  return *logs;
}

std::atomic<Watch*> g_watch{nullptr};
thread_local ThreadLog* t_log = nullptr;

struct LogOwner {
  ThreadLog* log = nullptr;
  ~LogOwner() {
    t_log = nullptr;
    if (log) thread_logs().give_back(log);
  }
};
thread_local LogOwner t_owner;

ThreadLog& thread_log() {
  if (t_log == nullptr) {
    t_log = thread_logs().take();
    t_owner.log = t_log;
  }
  return *t_log;
}

/// Charges new texts against the bound; it may be overdrawn by one.
event::TextId intern(Watch& watch, event::Texts& texts, std::string_view text) {
  const std::size_t before = texts.size();
  const event::TextId id = texts.intern(text);
  if (texts.size() > before) watch.bytes_left -= kBytesBesideText + static_cast<std::int64_t>(text.size());
  return id;
}

bool has_room(Watch& watch) {
  constexpr auto kRowBytes = static_cast<std::int64_t>(sizeof(Row));
  if (watch.bytes_left.fetch_sub(kRowBytes, std::memory_order_relaxed) >= kRowBytes) return true;
  watch.bytes_left.fetch_add(kRowBytes, std::memory_order_relaxed);
  return false;
}

event::Operator describe(Watch& watch, ThreadLog& log, const at::RecordFunction& call) {
  event::Operator row;
  row.parent = log.open.empty() ? -1 : log.open.back().number;
  row.name = intern(watch, log.texts, call.name());
  if (watch.shapes) row.shapes = intern(watch, log.texts, shapes_of(call.inputs()));
  row.backward = call.scope() == at::RecordScope::BACKWARD_FUNCTION;
  row.place = watch.standpoint->here();
  row.place.op = -1;
  row.sequence = call.seqNr();
  return row;
}

void begin_call(Watch& watch, const at::RecordFunction& call) {
  ThreadLog& log = thread_log();
  const std::lock_guard lock(log.mutex);
  if (log.watch != &watch) log.begin(watch);
  OpenCall open{&call, -1, nullptr, call.name()};
  if (!watch.rows) {
    // A block that an operator's own parts made and used up is that operator's workspace: they all count as one call.
    open.number = log.open.empty() ? watch.next++ : log.open.front().number;
    log.open.push_back(open);
    return;
  }
  if (!has_room(watch)) {
    ++watch.lost;
    log.open.push_back(open);
    return;
  }
  log.open.reserve(log.open.size() + 1);
  Row& row = log.rows.add({-1, describe(watch, log, call)});
  row.number = open.number = watch.next++;
  open.row = &row.call;
  log.open.push_back(open);
  row.call.start_ns = now_ns() - watch.run_start_ns;
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
  const std::int64_t time_ns = now_ns();
  Watch* const watch = g_watch.load(std::memory_order_acquire);
  ThreadLog* const log = t_log;
  if (watch == nullptr || log == nullptr) return;
  const std::lock_guard lock(log->mutex);
  if (log->watch != watch) return;
  // Calls above it never ended on this thread: asynchronous ones may end elsewhere.
  for (std::size_t i = log->open.size(); i-- > 0;) {
    if (log->open[i].call != &call) continue;
    if (log->open[i].row) log->open[i].row->end_ns = time_ns - watch->run_start_ns;
    log->open.resize(i);
    return;
  }
}

const OpenCall* innermost() noexcept {
  const ThreadLog* const log = t_log;
  if (log == nullptr || log->open.empty()) return nullptr;
  const Watch* const watch = g_watch.load(std::memory_order_relaxed);
  return watch != nullptr && log->watch.load(std::memory_order_relaxed) == watch ? &log->open.back() : nullptr;
}

void move_rows(ThreadLog& log, event::Trace& trace) {
  std::vector<event::TextId> texts(log.texts.size() + 1, event::kNoText);
  for (event::TextId id = 1; id <= log.texts.size(); ++id) texts[id] = trace.texts.intern(log.texts.text(id));
  log.rows.drain([&](Row& row) {
    row.call.name = texts[row.call.name];
    row.call.shapes = texts[row.call.shapes];
    const auto number = static_cast<std::size_t>(row.number);
    if (number < trace.operators.size()) trace.operators[number] = row.call;  // it may have begun while the watch ended
  });
  log.texts = event::Texts();
}

}  // namespace

void watch_operators(const PassSetting& setting, OperatorDetail detail) {
  if (g_watch.load() != nullptr) throw std::logic_error("operators are watched already");
  auto watch = std::make_unique<Watch>();
  watch->standpoint = setting.standpoint;
  watch->run_start_ns = setting.run_start_ns;
  watch->rows = detail == OperatorDetail::kRows;
  watch->shapes = watch->rows && setting.how.shapes;
  watch->most_bytes = setting.how.memory_bytes;
  watch->bytes_left = setting.how.memory_bytes;
  g_watch = watch.get();
  auto callback = at::RecordFunctionCallback(&on_begin, &on_end);
  callback.scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}).needsInputs(watch->shapes);
  watch->callback = at::addGlobalCallback(callback);
  thread_logs().watches.push_back(std::move(watch));
}

void end_operators(event::PassRecord& record, const char* source) {
  Watch* const watch = g_watch.load();
  if (watch == nullptr) return;
  at::removeCallback(watch->callback);
  g_watch = nullptr;
  if (watch->rows) record.trace.operators.resize(static_cast<std::size_t>(watch->next.load()));
  thread_logs().each([&](ThreadLog& log) {
    const std::lock_guard lock(log.mutex);
    if (log.watch != watch) return;
    log.watch = nullptr;
    move_rows(log, record.trace);
  });
  if (watch->lost > 0)
    record.losses.push_back({source, watch->lost, "operator calls beyond the bound of " + format_bytes(watch->most_bytes)});
  if (watch->failed > 0)
    record.losses.push_back({source, watch->failed, "operator calls that could not be described, or for want of memory"});
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
