// SPDX-License-Identifier: Apache-2.0
// kymo_cuda: event timing and GPU readings in every pass on a GPU, which add two event records per phase to the timed
// region, and CUPTI tracing in the passes that request it.
#include "collect/cuda/cuda_collector.hpp"
#include "collect/cuda/cuda_devices.hpp"

namespace kymo::collect {
namespace {

std::unique_ptr<Collector> make_collector() { return std::make_unique<CudaCollector>(); }
DeviceTimer* timer_of(Collector& collector) { return &static_cast<CudaCollector&>(collector).timer(); }

const Module kModule{KYMO_BUILD_ID, make_collector, timer_of, cuda_devices, nvidia_driver_version};

}  // namespace
}  // namespace kymo::collect

extern "C" __attribute__((visibility("default"))) const kymo::collect::Module* kymo_module() {
  return &kymo::collect::kModule;
}
