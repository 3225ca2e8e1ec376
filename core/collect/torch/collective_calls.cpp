// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/collective_calls.hpp"

#include <ATen/record_function.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "collect/torch/group_calls.hpp"
#include "collect/torch/operator_arguments.hpp"

// A process group of torch.distributed (c10d) makes a Work object for each call, whichever interface made the call: the
// functions in Python, the buckets of DistributedDataParallel, FSDP, functional collectives. Its constructor begins a
// RecordFunction of scope USER_SCOPE, named BACKEND:OPERATION, with the input tensors as arguments; it ends when the
// call completes, for NCCL when it is queued. Operators have another scope, so their callbacks are not affected.
namespace kymo::collect {
namespace {

using event::Collective;
using event::CollectiveOperation;

constexpr std::size_t kMaxCalls = 500'000;

/// A call that has not ended.
struct OpenCollective final : at::ObserverContext {
  OpenCollective(std::uint64_t number, std::size_t position) : recording(number), index(position) {}
  std::uint64_t recording;  // that it belongs to
  std::size_t index;
};

/// The communicator of a call, if it is known: its name, and the number of its ranks.
struct Group {
  std::string name;
  std::int64_t ranks = -1;
};

struct Recording {
  const ExecutionContext* execution_context = nullptr;
  std::int64_t run_start_ns = 0;
  at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
  std::deque<Collective> calls;
  std::deque<std::string> communicators;            // by call
  std::map<std::string, std::int64_t> next_number;  // by communicator
  std::int64_t dropped = 0;
  std::size_t open = 0;              // calls that have not returned
  std::size_t added = 0;             // calls that add_new_collectives() has added
  std::vector<std::size_t> pending;  // those of them that had not returned
};

/// Never destroyed, because threads may outlive main().
struct State {
  std::mutex mutex;
  std::uint64_t number = 0;  // of the recordings
  std::unique_ptr<Recording> recording;
};
State& state() {
  static auto* const made = new State;
  return *made;
}

/// NCCL says itself which group makes a call, also for calls that it makes together after those of the group.
Group group_of_call(const GroupCall* caller) {
  const auto* const info = dynamic_cast<const torch::ParamCommsDebugInfo*>(
      c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PARAM_COMMS_INFO));
  if (info) return {info->getProcessGroupName(), info->getWorldSize()};
  return caller ? Group{caller->group, caller->ranks} : Group{};
}

/// Ranks send different numbers of messages to each other, so messages are numbered by sender, receiver and tag.
Group group_of_message(const GroupCall* caller, Group group) {
  if (!group.name.empty()) group.name += ' ';
  if (!caller || caller->sender < 0 || caller->receiver < 0) {
    group.name += "point to point";
    return group;
  }
  group.name += "rank " + std::to_string(caller->sender) + " to " + std::to_string(caller->receiver);
  if (caller->tag > 0) group.name += " tag " + std::to_string(caller->tag);
  return {std::move(group.name), 2};
}

/// The number of ranks that launchers such as torchrun set; 1 without it.
std::int64_t ranks_of_program() {
  const char* const text = std::getenv("WORLD_SIZE");
  const std::int64_t ranks = text ? std::atoll(text) : 1;
  return ranks > 0 ? ranks : 1;
}

/// Sets the size and the type of the message. The size is that of the whole buffer, as in nccl-tests.
void set_message(Collective& call, c10::ArrayRef<const c10::IValue> inputs) {
  for (const c10::IValue& input : inputs) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    const at::Tensor& tensor = input.toTensor();
    call.bytes += static_cast<std::int64_t>(tensor.nbytes());
    if (!call.dtype) call.dtype = std::string(dtype_name(tensor.scalar_type()));
  }
  if (call.operation == CollectiveOperation::kAllGather)  // the input is the part of this rank
    call.bytes *= call.group_ranks > 0 ? call.group_ranks : ranks_of_program();
}

bool is_of_backend(std::string_view name) noexcept {
  return name.starts_with("nccl:") || name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
}

bool is_point_to_point(CollectiveOperation operation) {
  return operation == CollectiveOperation::kSend || operation == CollectiveOperation::kReceive;
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& record) {
  const std::string_view name = record.name();
  const bool on_device = name.starts_with("nccl:");
  if (!is_of_backend(name)) return nullptr;  // a range of the user
  const auto operation = collective_operation(name);
  if (!operation) return nullptr;
  const GroupCall* const caller = current_group_call();
  Group group = group_of_call(caller);
  if (is_point_to_point(*operation)) group = group_of_message(caller, std::move(group));
  const std::lock_guard lock(state().mutex);
  Recording* const recording = state().recording.get();
  if (!recording) return nullptr;
  if (recording->calls.size() >= kMaxCalls) {
    ++recording->dropped;
    return nullptr;
  }
  Collective call;
  call.operation = caller ? caller->operation : *operation;
  call.on_device = on_device;
  call.group_ranks = group.ranks;
  set_message(call, record.inputs());
  call.position = caller ? caller->position : recording->execution_context->position();
  call.enqueue_ns = caller ? caller->enqueue_ns : now_ns() - recording->run_start_ns;
  call.sequence = recording->next_number[group.name]++;
  recording->calls.push_back(call);
  recording->communicators.push_back(std::move(group.name));
  ++recording->open;
  return std::make_unique<OpenCollective>(state().number, recording->calls.size() - 1);
}

// LibTorch catches exceptions of callbacks and prints a warning on stderr for each.
std::unique_ptr<at::ObserverContext> on_collective_begin(const at::RecordFunction& record) {
  try {
    return begin(record);
  } catch (const std::exception&) {
    const std::lock_guard lock(state().mutex);
    if (state().recording) ++state().recording->dropped;
    return nullptr;
  }
}

/// On any thread, also after the recording has ended.
void on_collective_end(const at::RecordFunction&, at::ObserverContext* context) {
  const auto* const open = static_cast<const OpenCollective*>(context);
  if (!open) return;
  const std::lock_guard lock(state().mutex);
  Recording* const recording = state().recording.get();
  if (!recording || state().number != open->recording) return;
  recording->calls[open->index].returned_ns = now_ns() - recording->run_start_ns;
  --recording->open;
}

/// A program that waits for the future of a call of Gloo, such as DDP, goes on shortly before Gloo's thread reports the
/// end of the call.
void await_returned_calls() {
  constexpr auto kLongest = std::chrono::milliseconds(20);
  constexpr auto kPause = std::chrono::microseconds(50);
  const auto deadline = std::chrono::steady_clock::now() + kLongest;
  const auto are_open = [] {
    const std::lock_guard lock(state().mutex);
    return state().recording && state().recording->open > 0;
  };
  while (are_open() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(kPause);
}

}  // namespace

std::optional<CollectiveOperation> collective_operation(std::string_view name) noexcept {
  using enum CollectiveOperation;
  // The first match counts: names contain those of others.
  static constexpr std::array<std::pair<std::string_view, CollectiveOperation>, 15> kNames{{
      {"barrier", kBarrier},
      {"reduce_scatter", kReduceScatter},
      {"all_gather", kAllGather},
      {"allgather", kAllGather},
      {"all_reduce", kAllReduce},
      {"allreduce", kAllReduce},
      {"all_to_all", kAllToAll},
      {"alltoall", kAllToAll},
      {"broadcast", kBroadcast},
      {"gather", kGather},
      {"scatter", kScatter},
      {"reduce", kReduce},
      {"send", kSend},
      {"recv", kReceive},
      {"receive", kReceive},
  }};
  if (!is_of_backend(name) && name.find("c10d::") == std::string_view::npos) return std::nullopt;
  for (const auto& [text, operation] : kNames)
    if (name.find(text) != std::string_view::npos) return operation;
  return std::nullopt;
}

void watch_collectives(const PassSetting& setting) {
  const std::lock_guard lock(state().mutex);
  if (state().recording) return;
  watch_group_calls(setting);
  auto recording = std::make_unique<Recording>();
  recording->execution_context = setting.execution_context;
  recording->run_start_ns = setting.run_start_ns;
  auto callback = at::RecordFunctionCallback(&on_collective_begin, &on_collective_end);
  callback.scopes({at::RecordScope::USER_SCOPE}).needsInputs(true);
  ++state().number;
  recording->callback = at::addGlobalCallback(callback);
  state().recording = std::move(recording);
}

void add_new_collectives(event::NewEvents& events) {
  const std::lock_guard lock(state().mutex);
  Recording* const recording = state().recording.get();
  if (!recording) return;
  add_new_group_tags(events.tags);
  const auto has_returned = [&](std::size_t i) { return recording->calls[i].returned_ns >= 0; };
  const auto add = [&](std::size_t i) {
    event::Numbered<Collective> call{static_cast<std::int32_t>(i), recording->calls[i]};
    call.event.communicator = events.texts.intern(recording->communicators[i]);
    events.collectives.push_back(std::move(call));
  };
  std::erase_if(recording->pending, [&](std::size_t i) {
    if (has_returned(i)) add(i);
    return has_returned(i);
  });
  for (; recording->added < recording->calls.size(); ++recording->added) {
    add(recording->added);
    if (!has_returned(recording->added)) recording->pending.push_back(recording->added);
  }
}

void end_collectives(event::PassRecord& record) {
  await_returned_calls();
  std::unique_ptr<Recording> recording;
  {
    const std::lock_guard lock(state().mutex);
    recording = std::move(state().recording);
  }
  if (!recording) return;
  const std::vector<event::BlockTag> tags = end_group_calls();
  record.memory_trace.tags.insert(record.memory_trace.tags.end(), tags.begin(), tags.end());
  at::removeCallback(recording->callback);
  for (std::size_t i = 0; i < recording->calls.size(); ++i) {
    recording->calls[i].communicator = record.trace.texts.intern(recording->communicators[i]);
    record.trace.collectives.push_back(std::move(recording->calls[i]));
  }
  add_dropped(record.dropped_records, "collective", recording->dropped,
              "collective calls beyond the first " + std::to_string(kMaxCalls) +
                  " of a pass, or calls that could not be described");
}

}  // namespace kymo::collect
