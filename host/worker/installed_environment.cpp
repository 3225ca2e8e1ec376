// SPDX-License-Identifier: Apache-2.0
#include "worker/installed_environment.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "collect/module.hpp"
#include "store/rank_file.hpp"
#include "worker/devices.hpp"
#include "worker/failure.hpp"

namespace kymo::worker {
namespace {

constexpr const char* kCudaModule = "kymo_cuda";
constexpr const char* kTorchModule = "kymo_torch";
constexpr const char* kTorchCudaModule = "kymo_torch_cuda";

}  // namespace

const kymo_plugin& InstalledEnvironment::plugin(const std::string& file) {
  if (plugin_ && file != plugin_file_) {
    throw Error("this worker has loaded the plugin " + quote(plugin_file_) + " and cannot load " + quote(file) +
                "; start another worker");
  }
  if (!plugin_) {
    plugin_ = static_cast<const kymo_plugin*>(catalog::load_plugin(file));
    plugin_file_ = file;
  }
  return *plugin_;
}

InstalledEnvironment::Loaded& InstalledEnvironment::load(const std::string& module) {
  Loaded& loaded = loaded_[module];
  if (!loaded.collector) {
    loaded.module = &collect::load_installed_module(module);
    loaded.collector = loaded.module->make();
  }
  return loaded;
}

void InstalledEnvironment::add(const std::string& module, Observers& observers) {
  try {
    Loaded& loaded = load(module);
    collect::DeviceTimer* timer = loaded.module->timer ? loaded.module->timer(*loaded.collector) : nullptr;
    observers.all.push_back({loaded.collector.get(), timer});
  } catch (const collect::Unavailable& reason) {
    observers.dropped_records.push_back({module, -1, first_line(reason.what())});
  }
}

Observers InstalledEnvironment::observers(measure::Pass pass, measure::DeviceKind device, bool uses_torch) {
  Observers observers;
  const bool cuda = device == measure::DeviceKind::kCuda;
  // CUPTI must be initialized before the first CUDA call, and the operator module must track autograd before the
  // allocator queries it.
  if (cuda) add(kCudaModule, observers);
  if (uses_torch && measure::observes(pass)) add(kTorchModule, observers);
  if (cuda && uses_torch) add(kTorchCudaModule, observers);
  return observers;
}

event::Device InstalledEnvironment::device(measure::DeviceKind kind, int index) {
  if (kind == measure::DeviceKind::kCpu) return cpu_device();
  for (const event::Device& device : load(kCudaModule).module->devices()) {
    if (device.index == index) return device;
  }
  throw collect::Unavailable("no GPU with index " + std::to_string(index));
}

void InstalledEnvironment::store(const measure::protocol::Assignment& assignment, const event::PassRecord& record) {
  store::write_rank_file(assignment.rank_file, assignment.run_id, assignment.rank, assignment.pass, record);
}

}  // namespace kymo::worker
