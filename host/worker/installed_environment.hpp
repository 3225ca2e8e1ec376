// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/installation.hpp"
#include "collect/module.hpp"
#include "worker/worker_environment.hpp"

namespace kymo::worker {

/// The minor versions of torch, such as "2.15", for which an installation has the collector modules that need LibTorch.
struct TorchSupport {
  std::vector<std::string> minors;  ///< in ascending order
  bool has_version = false;         ///< the version that was asked for is a release of one of them
};
TorchSupport torch_support(const std::filesystem::path& modules, const std::string& torch_version);

/// The plugin loader, the installed collector modules, and rank files.
class InstalledEnvironment : public WorkerEnvironment {
 public:
  /// `modules` is the directory of the collector modules.
  explicit InstalledEnvironment(const std::filesystem::path& modules = installation().modules);
  const kymo_plugin& plugin(const measure::protocol::Assignment& assignment) override;
  Observers observers(measure::Pass pass, measure::DeviceKind device, bool uses_torch) override;
  event::Device device(measure::DeviceKind kind, int index) override;
  void store(const measure::protocol::Assignment& assignment, const event::PassRecord& record) override;
  void flush_output() override;

 protected:
  /// Uses the collector modules for this version of torch instead of those for the build's version.
  void use_torch(const std::string& version);
  /// Loads the table of a plugin. Throws Error.
  virtual const kymo_plugin* load(const measure::protocol::Assignment& assignment);

 private:
  /// Throws collect::Unavailable.
  Observer observer(const collect::ModuleDeclaration& declaration);

  /// Empty unless a pass lacks the modules that need LibTorch because there are none for the process's torch.
  std::vector<event::Warning> warnings(measure::Pass pass, measure::DeviceKind device) const;

  std::filesystem::path modules_;
  std::optional<std::string> torch_version_;  // as the process says
  std::string plugin_file_;
  const kymo_plugin* plugin_ = nullptr;
  std::vector<collect::ModuleDeclaration> declarations_;
  std::map<const collect::Module*, std::unique_ptr<collect::Collector>> collectors_;
};

}  // namespace kymo::worker
