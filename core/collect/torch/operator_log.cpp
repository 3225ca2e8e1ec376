// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/operator_log.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collect/event_log/operator_pass.hpp"
#include "collect/torch/lasting_names.hpp"
#include "collect/torch/operator_arguments.hpp"
#include "collect/torch/operator_stacks.hpp"
#include "collect/torch/saved_tensors.hpp"

namespace kymo::collect {
namespace {

// Number of operators deregistered since watch_registered_names(). While it is unchanged, all registered names are
// valid.
std::atomic<std::uint32_t> g_deregistered_operators{0};

class Deregistrations final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle&) override {}
  void onOperatorDeregistered(const c10::OperatorHandle&) override {
    g_deregistered_operators.fetch_add(1, std::memory_order_release);
  }
};

/// Starts tracking the deregistration of operators. Call it before is_registered_name(); not thread-safe.
void watch_registered_names() {
  // Never destroyed, because operators may be deregistered during process exit.
  [[maybe_unused]] static auto* const watched = new c10::RegistrationHandleRAII(
      c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Deregistrations>()));
}

/// Returns true if `name`, the name of the call, points into its operator's registration. The pointer and its contents
/// are then valid until the operator is deregistered. Slow. Throws c10::Error.
bool is_registered_name(const at::RecordFunction& call, const char* name) {
  const auto operator_name = call.operator_name();
  const auto found = operator_name ? c10::Dispatcher::singleton().findSchema(*operator_name) : std::nullopt;
  return found && found->schema().name().c_str() == name;
}

/// State of one thread. Accessed only by that thread.
struct ThreadLog {
  ThreadCalls calls;
  LastingNames names;     // names of registered operators
  std::string arguments;  // of the call that begins; kept for its memory
  std::uint32_t deregistered = 0;

  void begin(OperatorPass& pass) {
    names.clear();
    calls.begin(pass);
  }
  const RowText* find_name(const char* name) {
    const std::uint32_t now = g_deregistered_operators.load(std::memory_order_acquire);
    if (deregistered != now) names.clear();
    deregistered = now;
    return names.find(name);
  }
  /// Returns false if the memory is exhausted.
  bool intern_name(const at::RecordFunction& call, const char* name, bool backward, const RowText*& text) {
    if (!calls.intern(name, text)) return false;
    if (!backward && text && is_registered_name(call, name)) names.add(name, *text);
    return true;
  }
};

constinit OperatorPasses g_passes;
at::CallbackHandle g_callback = at::INVALID_CALLBACK_HANDLE;  // callback of the current pass
thread_local ThreadLog* t_log = nullptr;

struct LogOwner {
  std::unique_ptr<ThreadLog> log;
  ~LogOwner() { t_log = nullptr; }
};
thread_local LogOwner t_owner;

ThreadLog& thread_log() {
  if (t_log == nullptr) {
    t_owner.log = std::make_unique<ThreadLog>();
    t_log = t_owner.log.get();
  }
  return *t_log;
}

// Prefix that the autograd engine adds to a node's name for its evaluation.
constexpr std::string_view kNodePrefix = "autograd::engine::evaluate_function: ";

bool is_node(const char* name) {
  // The second character already distinguishes most names, which begin with aten::.
  return name[0] == kNodePrefix[0] && name[1] == kNodePrefix[1] &&
         std::strncmp(name, kNodePrefix.data(), kNodePrefix.size()) == 0;
}

void note_node(OperatorRow& row) {
  const event::AutogradPosition node = current_autograd_node();
  row.backward = 1;
  row.sequence = node.sequence;
  row.node_thread_or_stack = static_cast<std::uint32_t>(node.thread);
}

/// Returns the call's row without its start time, or nullptr if the memory is exhausted. `text` is the interned name,
/// if known.
OperatorRow* describe(const OperatorPass& pass, ThreadLog& log, const at::RecordFunction& call, const char* name,
                      const RowText* text, bool backward) {
  const RowText* shapes = nullptr;
  if (!text && !log.intern_name(call, name, backward, text)) return nullptr;
  if (pass.keeps_shapes()) {
    describe_arguments(call.inputs(), log.arguments);
    if (!log.calls.intern(log.arguments, shapes)) return nullptr;
  }
  OperatorRow* const row = log.calls.add(text, shapes, call.seqNr());
  if (row && backward) note_node(*row);
  return row;
}

void begin_call(OperatorPass& pass, const at::RecordFunction& call) {
  ThreadLog& log = thread_log();
  if (!log.calls.belongs_to(&pass)) log.begin(pass);
  log.calls.reserve();
  const char* const whole_name = call.name();
  const RowText* const text = pass.keeps_rows() ? log.find_name(whole_name) : nullptr;
  const bool backward = !text && is_node(whole_name);
  const char* const name = backward ? whole_name + kNodePrefix.size() : whole_name;
  const std::int32_t stack = backward ? -1 : stack_of_call(log.calls.innermost(), call.seqNr());
  if (!pass.keeps_rows()) {
    if (backward) evaluate_node(log.calls.is_in_node());
    log.calls.open_number(&call, name, backward, stack);
  } else if (OperatorRow* const row = describe(pass, log, call, name, text, backward)) {
    log.calls.open_row(&call, name, *row, stack);
  } else {
    log.calls.open_dropped(&call, name);
  }
}

// LibTorch catches exceptions of callbacks and prints a warning on stderr for each.
std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& call) {
  if (OperatorPass* const pass = g_passes.current()) {
    try {
      begin_call(*pass, call);
    } catch (const std::exception&) {
      pass->count_failed();
    }
  }
  return nullptr;
}

void on_end(const at::RecordFunction& call, at::ObserverContext*) {
  const OperatorPass* const pass = g_passes.current();
  if (pass == nullptr) return;
  const std::int64_t time = pass->keeps_rows() ? pass->time() : -1;
  if (t_log != nullptr && t_log->calls.belongs_to(pass)) t_log->calls.close(&call, time);
}

const OpenCall* innermost() noexcept {
  const ThreadLog* const log = t_log;
  return log != nullptr && log->calls.belongs_to(g_passes.current()) ? log->calls.innermost() : nullptr;
}

}  // namespace

void watch_operators(const PassSetting& setting, OperatorDetail detail) {
  auto pass = std::make_unique<OperatorPass>(*setting.execution_context, setting.run_start_ns);
  if (detail == OperatorDetail::kRows) {
    watch_registered_names();
    pass->keep_rows(setting.observation.memory_bytes, setting.observation.shapes);
  }
  const bool with_shapes = pass->keeps_shapes();
  g_passes.begin(std::move(pass));
  auto callback = at::RecordFunctionCallback(&on_begin, &on_end);
  // BACKWARD_FUNCTION is excluded: it is nested in the engine's own record of the same node, and LibTorch would format
  // the node's name for both.
  callback.scopes({at::RecordScope::FUNCTION}).needsInputs(with_shapes);
  g_callback = at::addGlobalCallback(callback);
}

void warm_operators() noexcept {
  if (OperatorPass* const pass = g_passes.current()) pass->warm();
}

void add_new_operators(event::NewEvents& events) {
  if (OperatorPass* const pass = g_passes.current()) pass->add_new(events);
}

void end_operators(event::PassRecord& record, const char* source) {
  if (g_passes.current() == nullptr) return;
  at::removeCallback(g_callback);
  g_passes.end()->finish(record, source);
}

std::int64_t open_operator() noexcept {
  const OpenCall* const call = innermost();
  return call ? call->number : -1;
}

std::int32_t open_operator_stack() noexcept { return stack_of_launch(innermost()); }

std::string_view open_operator_name() noexcept {
  const OpenCall* const call = innermost();
  return call ? std::string_view(call->name) : std::string_view();
}

}  // namespace kymo::collect
