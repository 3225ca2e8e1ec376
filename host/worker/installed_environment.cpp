// SPDX-License-Identifier: Apache-2.0
#include "worker/installed_environment.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "collect/module.hpp"
#include "store/rank_file.hpp"
#include "worker/devices.hpp"
#include "worker/failure.hpp"

namespace kymo::worker {

TorchSupport torch_support(const std::filesystem::path& modules, const std::string& torch_version) {
  const auto needs_torch = [](const collect::ModuleDeclaration& module) { return module.needs_torch; };
  return {.minors = collect::torch_versions(modules),
          .has_version = std::ranges::any_of(collect::read_declarations(modules, torch_version), needs_torch)};
}

InstalledEnvironment::InstalledEnvironment(const std::filesystem::path& modules)
    : modules_(modules), declarations_(collect::read_declarations(modules)) {}

const kymo_plugin& InstalledEnvironment::plugin(const measure::protocol::Assignment& assignment) {
  const std::string& file = assignment.what.plugin_file;
  if (plugin_ && file != plugin_file_) {
    throw Error("this worker has loaded the plugin " + quote(plugin_file_) + " and cannot load " + quote(file) +
                "; start another worker");
  }
  if (!plugin_) {
    plugin_ = load(assignment);
    if (const std::string& text = assignment.plugin_description; !text.empty()) {
      const Json description = parse_json(text, "the description of the plugin");
      use_torch(description.at("framework_version").get<std::string>());
    }
    plugin_file_ = file;
  }
  return *plugin_;
}

const kymo_plugin* InstalledEnvironment::load(const measure::protocol::Assignment& assignment) {
  return static_cast<const kymo_plugin*>(catalog::load_plugin(assignment.what.plugin_file));
}

void InstalledEnvironment::use_torch(const std::string& version) {
  torch_version_ = version;
  declarations_ = collect::read_declarations(modules_, version);
}

std::vector<event::Warning> InstalledEnvironment::warnings(measure::Pass pass, measure::DeviceKind device) const {
  const auto needs_torch = [&](const std::vector<collect::ModuleDeclaration>& declarations) {
    return std::ranges::any_of(select_modules(declarations, pass, device, true),
                               [](const auto& module) { return module.needs_torch; });
  };
  if (!torch_version_ || needs_torch(declarations_) || !needs_torch(collect::read_declarations(modules_))) return {};
  return {{"torch version", "operators, collectives and LibTorch's memory are not recorded under torch " +
                                (torch_version_->empty() ? "of an unknown version" : *torch_version_) +
                                "; this kymo records them under releases of torch " +
                                join(collect::torch_versions(modules_), ", ")}};
}

Observer InstalledEnvironment::observer(const collect::ModuleDeclaration& declaration) {
  const collect::Module& module = collect::load_module(declaration.file);
  std::unique_ptr<collect::Collector>& collector = collectors_[&module];
  if (!collector) collector = module.make();
  return {collector.get(), module.timer ? module.timer(*collector) : nullptr};
}

Observers InstalledEnvironment::observers(measure::Pass pass, measure::DeviceKind device, bool uses_torch) {
  Observers observers;
  if (uses_torch) observers.warnings = warnings(pass, device);
  for (const collect::ModuleDeclaration& module : select_modules(declarations_, pass, device, uses_torch)) {
    try {
      observers.all.push_back(observer(module));
    } catch (const collect::Unavailable& reason) {
      observers.dropped_records.push_back({module.name(), -1, first_line(reason.what())});
    }
  }
  return observers;
}

event::Device InstalledEnvironment::device(measure::DeviceKind kind, int index) {
  if (kind == measure::DeviceKind::kCpu) return cpu_device();
  for (const event::Device& device : load_device_module(declarations_, kind).devices()) {
    if (device.index == index) return device;
  }
  throw collect::Unavailable("no GPU with index " + std::to_string(index));
}

void InstalledEnvironment::flush_output() {
  std::cout.flush();
  std::fflush(nullptr);
}

void InstalledEnvironment::store(const measure::protocol::Assignment& assignment, const event::PassRecord& record) {
  store::write_rank_file(assignment.rank_file, assignment.run_id, assignment.rank, assignment.pass, record);
}

}  // namespace kymo::worker
