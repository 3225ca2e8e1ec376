// SPDX-License-Identifier: Apache-2.0
// kymo_torch: the autograd position, LibTorch's operator calls, and the memory of its CPU allocator. Works without
// CUDA.
#include <memory>
#include <optional>

#include "collect/collector.hpp"
#include "collect/torch/collective_calls.hpp"
#include "collect/torch/cpu_memory.hpp"
#include "collect/torch/operator_log.hpp"
#include "collect/torch/operator_stacks.hpp"
#include "collect/torch/saved_tensors.hpp"

namespace kymo::collect {
namespace {

constexpr const char* kName = "kymo_torch";

class TorchCollector final : public Collector {
 public:
  ~TorchCollector() override { stop_for_good(); }

  std::string name() const override { return kName; }

  void arm(const PassSetting& setting) override {
    stop_for_good();
    if (!setting.uses_torch || !observes(setting.pass) || setting.execution_context == nullptr)
      throw Unavailable("the pass records no events, or the plugin does not use LibTorch");
    missing_.reset();
    const bool with_stacks = setting.stacks != measure::Stacks::kNone && start_stacks(setting);
    // The trace pass must slow down launches as little as possible, so it uses no operator callback, unless the stacks
    // of operators are those of its launches.
    const bool with_operators = setting.pass != measure::Pass::kTrace;
    if (with_operators || with_stacks)
      watch_operators(setting, setting.pass == measure::Pass::kOps ? OperatorDetail::kRows : OperatorDetail::kNames);
    execution_context_ = setting.execution_context;
    execution_context_->current_node = &current_autograd_node;
    execution_context_->next_node = &next_autograd_node;
    if (with_operators) {
      execution_context_->op = &open_operator;
      execution_context_->op_name = &open_operator_name;
    }
    if (with_stacks) execution_context_->stack = &open_operator_stack;
    watch_collectives(setting);
    if (setting.pass == measure::Pass::kMemory || setting.pass == measure::Pass::kPredict) watch_saved_tensors(setting);
    if (setting.pass == measure::Pass::kMemory && setting.device == measure::DeviceKind::kCpu) record_memory(setting);
  }

  void between_steps(std::int64_t) override { warm_operators(); }

  void add_new_events(event::NewEvents& events) override {
    add_new_stacks(events);
    add_new_operators(events);
    add_new_collectives(events);
    add_new_cpu_memory(events);
  }

  void disarm(event::PassRecord& record) override {
    if (execution_context_ == nullptr) return;
    end_cpu_memory(record, kName);
    end_saved_tensors(record, kName);
    end_collectives(record);
    execution_context_->op = nullptr;
    execution_context_->op_name = nullptr;
    execution_context_->stack = nullptr;
    end_operators(record, kName);
    end_stacks(record, kName);
    execution_context_->current_node = nullptr;
    execution_context_->next_node = nullptr;
    execution_context_ = nullptr;
    if (missing_) record.dropped_records.push_back(*missing_);
  }

 private:
  /// Returns false if there are none to record.
  bool start_stacks(const PassSetting& setting) {
    if (setting.pass != measure::Pass::kOps && setting.pass != measure::Pass::kTrace) return false;
    try {
      watch_stacks(setting);
      return true;
    } catch (const Unavailable& reason) {
      missing_ = event::DroppedRecords{kName, -1, std::string("no Python stacks: ") + reason.what()};
      return false;
    }
  }

  void record_memory(const PassSetting& setting) {
    try {
      record_cpu_memory(setting);
    } catch (const Unavailable& reason) {
      missing_ = event::DroppedRecords{kName, -1, std::string("no memory events: ") + reason.what()};
    }
  }

  /// Discards what an armed pass has recorded.
  void stop_for_good() {
    event::PassRecord unwanted;
    disarm(unwanted);
  }

  ExecutionContext* execution_context_ = nullptr;  // set while armed
  std::optional<event::DroppedRecords> missing_;
};

std::unique_ptr<Collector> make_collector() { return std::make_unique<TorchCollector>(); }

const Module kModule{KYMO_BUILD_ID, make_collector, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace kymo::collect

extern "C" __attribute__((visibility("default"))) const kymo::collect::Module* kymo_module() {
  return &kymo::collect::kModule;
}
