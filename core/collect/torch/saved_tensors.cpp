// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/saved_tensors.hpp"

#include <dlfcn.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/dynamo/compiled_autograd.h>

#include <array>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "collect/torch/operator_arguments.hpp"

// A node names what it keeps in compiled_args(), with which compiled autograd reads graphs: the only interface that all
// kinds of nodes have, those of operators, of functions in C++ and of functions in Python.
namespace kymo::collect {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Node;
/// std::shared_ptr<Node>, or since LibTorch 2.13 c10::intrusive_ptr<Node>.
using NodePointer = decltype(torch::autograd::Edge::function);
using torch::autograd::SavedVariable;
using torch::dynamo::autograd::AutogradCompilerCall;
using torch::dynamo::autograd::CompiledNodeArgs;
using torch::dynamo::autograd::NodeCall;
using torch::dynamo::autograd::SizeInput;

/// Access to the private member in which a function in C++ keeps its tensors.
template <auto member>
struct SavedVariables {
  friend const std::vector<SavedVariable>& saved_variables_of(const AutogradContext& context) {
    return context.*member;
  }
};
const std::vector<SavedVariable>& saved_variables_of(const AutogradContext& context);
template struct SavedVariables<&AutogradContext::saved_variables_>;

/// A function in C++. The node's members do not depend on its type.
struct AnyFunction : torch::autograd::Function<AnyFunction> {};
constexpr std::string_view kFunctionNode = "N5torch8autograd7CppNodeI";
constexpr std::string_view kAccumulation = "torch::autograd::AccumulateGrad";
constexpr std::string_view kSeveralRoots = "torch::autograd::GraphRoot";

/// Holds the interpreter, which owns parts of the graph, in a process that has one.
class Interpreter {
 public:
  Interpreter() {
    static const auto ensure = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Ensure"));
    static const auto is_initialized = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
    if (ensure == nullptr || is_initialized == nullptr || is_initialized() == 0) return;
    state_ = ensure();
    release_ = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "PyGILState_Release"));
  }
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  ~Interpreter() {
    if (release_ != nullptr) release_(state_);
  }

 private:
  int state_ = 0;
  void (*release_)(int) = nullptr;
};

/// The name of a node; of a function in C++, torch::autograd::CppNode<NAME>, the last part of NAME.
std::string short_name(std::string name) {
  constexpr std::string_view kPrefix = "torch::autograd::CppNode<";
  if (!name.starts_with(kPrefix) || !name.ends_with('>')) return name;
  name = name.substr(kPrefix.size(), name.size() - kPrefix.size() - 1);
  const std::size_t qualifier = name.rfind("::", name.find('<'));
  return qualifier == std::string::npos ? name : name.substr(qualifier + 2);
}

struct Kept {
  std::string node, type;
  event::SavedTensor tensor;
};

struct Graph {
  std::vector<Kept> tensors;
  std::int64_t step = -1;
  std::int64_t bytes = -1;  // of the storages
  std::int64_t unread = 0;  // nodes
  std::int64_t hooked = 0;  // tensors
};

/// Reads a graph from its first node.
class Reader {
 public:
  Reader(const event::Position& position, std::int64_t time_ns, bool nested) {
    tensor_.position = position;
    tensor_.time_ns = time_ns;
    tensor_.nested = nested;
    graph_.step = position.step;
    graph_.bytes = 0;
  }

  Graph read(const NodePointer& first) {
    std::vector<NodePointer> open{first};
    std::unordered_set<const Node*> seen{first.get()};
    while (!open.empty()) {
      const NodePointer node = std::move(open.back());
      open.pop_back();
      read_node(node);
      for (const torch::autograd::Edge& edge : node->next_edges())
        if (edge.function && seen.insert(edge.function.get()).second) open.push_back(edge.function);
    }
    return std::move(graph_);
  }

 private:
  void read_node(const NodePointer& node) {
    name_ = short_name(node->name());
    // The one refers to a parameter, which it does not keep for itself, and the other to the gradients of results.
    if (name_ == kAccumulation || name_ == kSeveralRoots) return;
    const std::uint64_t sequence = node->sequence_nr();
    const bool has_none = sequence == std::numeric_limits<std::uint64_t>::max();
    tensor_.node = {has_none ? -1 : static_cast<std::int64_t>(sequence), node->thread_id()};
    try {
      const Node& any = *node;
      if (std::string_view(typeid(any).name()).starts_with(kFunctionNode))
        read_function(node);
      else
        read_arguments(node);
    } catch (const std::exception&) {
      ++graph_.unread;
    }
  }

  void read_arguments(const NodePointer& node) {
    AutogradCompilerCall call(SizeInput::STATIC);
    NodeCall node_call(0, node);
    {
      CompiledNodeArgs arguments(call, node_call);
      node->compiled_args(arguments);
    }
    graph_.hooked += static_cast<std::int64_t>(call.sv_to_hooks.size());
    for (const at::Tensor& tensor : call.tensor_args.inputs) add(tensor);
  }

  /// Its compiled_args() fails for some functions.
  void read_function(const NodePointer& node) {
    const AutogradContext& context = reinterpret_cast<const torch::autograd::CppNode<AnyFunction>&>(*node).ctx_;
    for (const SavedVariable& saved : saved_variables_of(context)) {
      if (saved.has_hooks())
        ++graph_.hooked;
      else
        add(saved.unpack(node));
    }
    for (const auto& [name, value] : context.saved_data)
      if (value.isTensor()) add(value.toTensor());
  }

  void add(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.has_storage()) return;
    const c10::Storage& storage = tensor.storage();
    Kept kept{name_, {}, tensor_};
    const c10::IValue described(tensor);
    describe_arguments(c10::ArrayRef<const c10::IValue>(&described, 1), kept.type);
    kept.tensor.address = reinterpret_cast<std::uint64_t>(storage.data());
    kept.tensor.bytes = static_cast<std::int64_t>(tensor.nbytes());
    kept.tensor.storage_bytes = kept.tensor.address == 0 ? 0 : static_cast<std::int64_t>(storage.nbytes());
    if (storages_.insert(storage.data()).second) graph_.bytes += kept.tensor.storage_bytes;
    graph_.tensors.push_back(std::move(kept));
  }

  Graph graph_;
  event::SavedTensor tensor_;  // what all tensors of the node have in common
  std::string name_;
  std::unordered_set<const void*> storages_;
};

struct SavedTensorWatch {
  const ExecutionContext* context = nullptr;  // none without a recording
  std::int64_t run_start_ns = 0;
  std::array<Graph, 2> largest;  // of the newest step: not nested, nested
  std::int64_t unreadable = 0;   // graphs
};

/// Never destroyed, because threads may outlive main().
struct SavedWatch {
  std::mutex mutex;
  SavedTensorWatch watch;
};
SavedWatch& saved_watch() {
  static auto* const made = new SavedWatch;
  return *made;
}
std::atomic<bool> g_watches{false};
std::atomic<int> g_last_pass{-1};  // of the engine, which numbers its backward passes

void read_graph(const NodePointer& first, bool nested) {
  const Interpreter held;
  const std::lock_guard lock(saved_watch().mutex);
  SavedTensorWatch& watch = saved_watch().watch;
  if (watch.context == nullptr) return;
  try {
    const event::Position position = watch.context->position();
    Graph graph = Reader(position, now_ns() - watch.run_start_ns, nested).read(first);
    Graph& largest = watch.largest[nested ? 1 : 0];
    if (graph.step != largest.step || graph.bytes > largest.bytes) largest = std::move(graph);
  } catch (const std::exception&) {
    ++watch.unreadable;
  }
}

}  // namespace

void watch_saved_tensors(const PassSetting& setting) {
  const std::lock_guard lock(saved_watch().mutex);
  saved_watch().watch = SavedTensorWatch{setting.execution_context, setting.run_start_ns, {}, 0};
  g_watches = true;
}

void evaluate_node(bool nested) noexcept {
  if (!g_watches.load(std::memory_order_relaxed)) return;
  const int pass = torch::autograd::get_current_graph_task_id();
  int last = g_last_pass.load();
  while (pass > last && !g_last_pass.compare_exchange_weak(last, pass)) continue;
  if (pass <= last) return;
  if (const auto first = torch::autograd::get_current_node()) read_graph(first, nested);
}

void end_saved_tensors(event::PassRecord& record, const char* source) {
  g_watches = false;
  const std::lock_guard lock(saved_watch().mutex);
  SavedTensorWatch watch = std::exchange(saved_watch().watch, SavedTensorWatch{});
  if (watch.context == nullptr) return;
  std::int64_t unread = 0, hooked = 0;
  for (const Graph& graph : watch.largest) {
    unread += graph.unread;
    hooked += graph.hooked;
    for (const Kept& kept : graph.tensors) {
      event::SavedTensor& saved = record.memory_trace.saved_tensors.emplace_back(kept.tensor);
      saved.name = record.trace.texts.intern(kept.node);
      saved.type = record.trace.texts.intern(kept.type);
    }
  }
  add_dropped(record.dropped_records, source, watch.unreadable, "graphs of autograd that could not be read");
  add_dropped(record.dropped_records, source, unread,
              "nodes of autograd whose saved tensors could not be read, in the largest graph of the last step");
  add_dropped(record.dropped_records, source, hooked,
              "saved tensors that the program's hooks replace, in the largest graph of the last step");
}

}  // namespace kymo::collect
