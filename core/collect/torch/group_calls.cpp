// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/group_calls.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <kymo_plugin.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "base/clock.hpp"
#include "collect/torch/collective_calls.hpp"

// The methods of c10d::ProcessGroup are operators, which receive the group as an argument and call its backend. The
// dispatch key BackendSelect comes right before the backends and is active on every thread in every mode; none of these
// operators has a kernel for it. So one that only notes the call does not change what is computed.
namespace kymo::collect {
namespace {

constexpr auto kKey = c10::DispatchKey::BackendSelect;
// LibTorch itself uses this kind nowhere, and passes it on like the others. An enumerator before LibTorch 2.13, since
// then an object of libc10.
const auto kKind = c10::DebugInfoKind::PRODUCER_INFO;
constexpr std::string_view kGroupType = "__torch__.torch.classes.c10d.ProcessGroup";

struct GroupWatch {
  const ExecutionContext* context = nullptr;
  std::int64_t run_start_ns = 0;
  bool with_memory = false;
  std::vector<event::BlockTag> tags;
  std::size_t added = 0;  // of the tags
  std::vector<c10::RegistrationHandleRAII> kernels;
};

/// Calls a function with each tensor in an argument, which may be a list of lists.
template <class Function>
void for_tensors(const c10::IValue& argument, const Function& use) {
  if (argument.isTensor()) {
    use(argument.toTensor());
  } else if (argument.isTensorList()) {
    for (const at::Tensor& tensor : argument.toTensorVector()) use(tensor);
  } else if (argument.isList()) {
    for (const c10::IValue& part : argument.toListRef()) for_tensors(part, use);
  }
}

/// Tags the buffers in the first two arguments, which all collectives read or write. Data parallelism exchanges flat
/// tensors; other tensors are activations of a model that is itself distributed.
void tag_buffers(at::ArrayRef<c10::IValue> arguments, GroupWatch& watch) {
  for (const c10::IValue& argument : arguments.slice(0, std::min<std::size_t>(2, arguments.size())))
    for_tensors(argument, [&](const at::Tensor& tensor) {
      if (!tensor.defined() || tensor.dim() != 1 || !tensor.has_storage()) return;
      const c10::Storage& storage = tensor.storage();
      watch.tags.push_back({now_ns() - watch.run_start_ns, reinterpret_cast<std::uint64_t>(storage.data()),
                            static_cast<std::int64_t>(storage.nbytes()), KYMO_COMMUNICATION});
    });
}

/// Never destroyed, because threads may outlive main().
struct CurrentGroupWatch {
  std::mutex mutex;
  std::uint64_t number = 0;
  std::unique_ptr<GroupWatch> watch;
};
CurrentGroupWatch& current() {
  static auto* const made = new CurrentGroupWatch;
  return *made;
}

/// The position of the group among the arguments of an operator.
std::optional<std::size_t> group_argument(const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const auto type = arguments[i].type()->cast<c10::ClassType>(); type && type->name())
      if (type->name()->qualifiedName() == kGroupType) return i;
  return std::nullopt;
}

std::int64_t integer_argument(const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments,
                              const char* name) {
  const auto index = schema.argumentIndexWithName(name);
  return index && arguments[*index].isInt() ? arguments[*index].toInt() : -1;
}

void describe_message(const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments, int own_rank,
                      GroupCall& call) {
  using enum event::CollectiveOperation;
  if (call.operation != kSend && call.operation != kReceive) return;
  const bool sends = call.operation == kSend;
  call.sender = sends ? own_rank : integer_argument(schema, arguments, "src");
  call.receiver = sends ? integer_argument(schema, arguments, "dst") : own_rank;
  call.tag = integer_argument(schema, arguments, "tag");
}

std::shared_ptr<GroupCall> describe(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto operation = collective_operation(op.operator_name().name);
  const auto index = group_argument(op.schema());
  if (!operation || !index) return nullptr;
  const std::size_t count = op.schema().arguments().size();
  const at::ArrayRef<c10::IValue> arguments(stack.data() + stack.size() - count, count);
  const auto group = arguments[*index].toCustomClass<c10d::ProcessGroup>();
  auto call = std::make_shared<GroupCall>();
  call->group = group->getGroupName();
  call->ranks = group->getSize();
  call->operation = *operation;
  describe_message(op.schema(), arguments, group->getRank(), *call);
  const std::lock_guard lock(current().mutex);
  GroupWatch* const watch = current().watch.get();
  if (!watch) return nullptr;
  if (watch->with_memory) tag_buffers(arguments, *watch);
  call->watch = current().number;
  call->position = watch->context->position();
  call->enqueue_ns = now_ns() - watch->run_start_ns;
  return call;
}

std::shared_ptr<GroupCall> describe_or_ignore(const c10::OperatorHandle& op, const torch::jit::Stack& stack) noexcept {
  try {
    return describe(op, stack);
  } catch (const std::exception&) {  // it is no concern of the program
    return nullptr;
  }
}

void note_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  std::optional<c10::DebugInfoGuard> guard;
  if (auto call = describe_or_ignore(op, *stack)) guard.emplace(kKind, std::move(call));
  op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey), stack);
}

}  // namespace

void watch_group_calls(const PassSetting& setting) {
  auto& dispatcher = c10::Dispatcher::singleton();
  auto watch = std::make_unique<GroupWatch>();
  watch->context = setting.execution_context;
  watch->run_start_ns = setting.run_start_ns;
  watch->with_memory = setting.pass == measure::Pass::kMemory;
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (!collective_operation(name.name)) continue;
    const auto op = dispatcher.findSchema(name);
    if (!op || !group_argument(op->schema()) || op->hasKernelForDispatchKey(kKey)) continue;
    watch->kernels.push_back(dispatcher.registerImpl(
        name, kKey, c10::KernelFunction::makeFromBoxedFunction<&note_call>(), std::nullopt, nullptr, "kymo"));
  }
  const std::lock_guard lock(current().mutex);
  ++current().number;
  current().watch = std::move(watch);
}

std::vector<event::BlockTag> end_group_calls() {
  std::unique_ptr<GroupWatch> ended;
  const std::lock_guard lock(current().mutex);
  ended = std::move(current().watch);
  return ended ? std::move(ended->tags) : std::vector<event::BlockTag>();
}

void add_new_group_tags(std::vector<event::BlockTag>& tags) {
  const std::lock_guard lock(current().mutex);
  GroupWatch* const watch = current().watch.get();
  if (!watch) return;
  tags.insert(tags.end(), watch->tags.begin() + static_cast<std::ptrdiff_t>(watch->added), watch->tags.end());
  watch->added = watch->tags.size();
}

const GroupCall* current_group_call() {
  const auto* const call = dynamic_cast<const GroupCall*>(c10::ThreadLocalDebugInfo::get(kKind));
  if (!call) return nullptr;
  const std::lock_guard lock(current().mutex);
  return call->watch == current().number ? call : nullptr;
}

}  // namespace kymo::collect
