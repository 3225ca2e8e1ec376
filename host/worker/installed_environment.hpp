// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "collect/collector.hpp"
#include "worker/worker_environment.hpp"

namespace kymo::worker {

/// The plugin loader, the installed collector modules, and rank files.
class InstalledEnvironment final : public WorkerEnvironment {
 public:
  const kymo_plugin& plugin(const std::string& file) override;
  Observers observers(measure::Pass pass, measure::DeviceKind device, bool uses_torch) override;
  event::Device device(measure::DeviceKind kind, int index) override;
  void store(const measure::protocol::Assignment& assignment, const event::PassRecord& record) override;

 private:
  struct Loaded {
    const collect::Module* module = nullptr;
    std::unique_ptr<collect::Collector> collector;
  };
  Loaded& load(const std::string& module);
  void add(const std::string& module, Observers& observers);

  std::string plugin_file_;
  const kymo_plugin* plugin_ = nullptr;
  std::map<std::string, Loaded> loaded_;
};

}  // namespace kymo::worker
