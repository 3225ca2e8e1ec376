// SPDX-License-Identifier: Apache-2.0
#include "training_run.hpp"

namespace kymo::bench {
namespace {

/// Events as a parser would produce them, for builds without CUPTI.
class ReadyKernels final : public KernelSource {
 public:
  explicit ReadyKernels(const TrainingRun& run) : run_(run) {}

  const char* what() const override { return "synthetic events (no CUPTI)"; }

  void add_to(event::Trace& trace) override {
    std::vector<event::TextId> names;
    for (const std::string& name : run_.names()) names.push_back(trace.texts.intern(name));
    trace.shapes = run_.shapes();
    trace.activities.reserve(run_.kernels().size());
    for (const TrainingRun::Kernel& kernel : run_.kernels()) {
      event::Activity activity;
      activity.start_ns = kernel.start_ns;
      activity.end_ns = kernel.end_ns;
      activity.name = names[kernel.name];
      activity.correlation_id = kernel.correlation_id;
      activity.stream = 7;
      activity.shape = kernel.shape;
      trace.activities.push_back(activity);
    }
  }

 private:
  const TrainingRun& run_;
};

}  // namespace

std::unique_ptr<KernelSource> make_kernel_source(const TrainingRun& run) { return std::make_unique<ReadyKernels>(run); }

}  // namespace kymo::bench
