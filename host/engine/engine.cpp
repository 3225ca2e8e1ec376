// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "engine/kymo_engine.h"
#include "worker/installed_environment.hpp"
#include "worker/observed_steps.hpp"
#include "worker/worker.hpp"

namespace kymo::engine {
namespace {

/// Plugins that the process provides, instead of shared libraries.
class ProvidedEnvironment final : public worker::InstalledEnvironment {
 public:
  ProvidedEnvironment(const std::filesystem::path& modules, const kymo_engine_options& options)
      : InstalledEnvironment(modules), plugins_(*options.plugins) {
    if (options.torch_version) use_torch(options.torch_version);
  }

  void flush_output() override {
    plugins_.flush(plugins_.user);
    InstalledEnvironment::flush_output();
  }

 protected:
  const kymo_plugin* load(const measure::protocol::Assignment& assignment) override {
    std::array<char, 2048> error{};
    const kymo_plugin* plugin = plugins_.load(plugins_.user, assignment.what.plugin_file.c_str(),
                                              assignment.plugin_description.c_str(), error.data(), error.size());
    error.back() = '\0';
    if (!plugin)
      throw Error(error[0] ? error.data() : "the plugin " + quote(assignment.what.plugin_file) + " failed to load");
    return plugin;
  }

 private:
  const kymo_engine_plugins& plugins_;
};

/// The first reason why the options cannot be used; empty if they can.
std::string validation_error(const kymo_engine_options* options) {
  if (!options || options->size < sizeof(kymo_engine_options)) return "its options are of another version";
  if (!options->address || !options->token || !options->root || options->rank < 0)
    return "an address, a token, a root and a rank of at least 0 are required";
  const kymo_engine_plugins* plugins = options->plugins;
  if (!plugins || plugins->size < sizeof(kymo_engine_plugins) || !plugins->load || !plugins->flush)
    return "functions to load plugins and to flush output are required";
  if (options->step_records && options->step_records->size < sizeof(kymo_step_records))
    return "its step records are of another version";
  return "";
}

static_assert(worker::kProgramEnded == KYMO_ENGINE_PROGRAM_ENDED);

std::int32_t serve(const kymo_engine_options* options) {
  try {
    if (const std::string problem = validation_error(options); !problem.empty())
      throw Error("the worker engine cannot start: " + problem);
    ProvidedEnvironment environment(installation_at(options->root).modules, *options);
    return worker::run_worker({.address = options->address,
                               .rank = options->rank,
                               .token = options->token,
                               .process_start_ns = options->process_start_ns,
                               .ranks = options->ranks,
                               .step_records = options->step_records},
                              environment);
  } catch (const std::exception& error) {
    log::error(error.what());
    return static_cast<std::int32_t>(ExitCode::kToolError);
  }
}

}  // namespace
}  // namespace kymo::engine

extern "C" __attribute__((visibility("default"))) const kymo_engine* kymo_engine_v1(void) {
  static const std::string version = kymo::version();
  static const kymo_engine engine{sizeof(kymo_engine), KYMO_ABI_MAJOR, KYMO_ABI_MINOR, version.c_str(),
                                  kymo::engine::serve};
  return &engine;
}
