// SPDX-License-Identifier: Apache-2.0
// kymo_prediction: runs the step of a workload on LibTorch's device meta, and records the memory that it would take.
#include <limits>
#include <memory>
#include <optional>

#include "abi/kymo_plugin.h"
#include "collect/collector.hpp"
#include "collect/torch_meta/meta_memory.hpp"
#include "collect/torch_meta/meta_operators.hpp"

namespace kymo::collect {
namespace {

constexpr const char* kName = "kymo_prediction";

class Prediction final : public Collector {
 public:
  std::string name() const override { return kName; }

  void arm(const PassSetting& setting) override {
    record_meta_memory(setting);
    mode_.emplace(setting.device);
  }

  void between_steps(std::int64_t) override { MetaMode::end_step(); }

  void disarm(event::PassRecord& record) override {
    for (const at::Tensor& workspace : MetaMode::workspaces())
      if (workspace.defined())
        record.memory_trace.tags.push_back({std::numeric_limits<std::int64_t>::max() - 1,
                                            reinterpret_cast<std::uint64_t>(workspace.const_data_ptr()),
                                            static_cast<std::int64_t>(workspace.nbytes()), KYMO_WORKSPACE});
    end_meta_memory(record, kName);
    mode_.reset();
    if (record.memory_trace.events.empty())
      record.dropped_records.push_back(
          {kName, -1, "the workload allocates nothing on the device meta: select it with libtorch::select_device()"});
  }

 private:
  std::optional<MetaMode> mode_;
};

std::unique_ptr<Collector> make_collector() { return std::make_unique<Prediction>(); }

const Module kModule{KYMO_BUILD_ID, make_collector, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace kymo::collect

extern "C" __attribute__((visibility("default"))) const kymo::collect::Module* kymo_module() {
  return &kymo::collect::kModule;
}
