// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "cli/commands.hpp"
#include "plan/option_text.hpp"
#include "worker/devices.hpp"
#include "worker/installed_environment.hpp"
#include "worker/worker.hpp"

namespace kymo::cli {
namespace {

struct WorkerArguments {
  std::string address;
  std::string rank;
};

int work(const WorkerArguments& arguments) {
  const std::int64_t process_start_ns = now_ns();
  if (arguments.address.find('/') == std::string::npos) {
    const std::size_t colon = arguments.address.rfind(':');
    if (colon == std::string::npos || colon == 0)
      throw UsageError("--connect takes HOST:PORT or the path of a socket, not " + quote(arguments.address));
    whole_number("the port of --connect", arguments.address.substr(colon + 1), 1, 65535);
  }
  const auto rank = static_cast<int>(whole_number("--rank", arguments.rank, 0, 1 << 20));
  const char* token = std::getenv("KYMO_WORKER_TOKEN");
  if (token == nullptr || *token == '\0')
    throw UsageError("'kymo worker' is started only by 'kymo run': KYMO_WORKER_TOKEN is not set");
  worker::InstalledEnvironment environment;
  return worker::run_worker({arguments.address, rank, token, process_start_ns}, environment);
}

}  // namespace

void add_hidden(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<WorkerArguments>();
  CLI::App* work_command = app.add_subcommand("worker", "Run one rank of one run")->group("");
  work_command->add_option("--connect", arguments->address, "control server")
      ->required()
      ->type_name("HOST:PORT|SOCKET");
  work_command->add_option("--rank", arguments->rank, "rank within the run")->required()->type_name("N");
  session.on(*work_command, [arguments] { return work(*arguments); });

  auto file = std::make_shared<std::string>();
  CLI::App* describe_command =
      app.add_subcommand("describe-plugin", "Load a plugin and print its description")->group("");
  describe_command->add_option("file", *file, "plugin")->required()->type_name("FILE");
  session.on(*describe_command, [file] { return catalog::describe_in_this_process(*file); });

  // For CMake projects of plugins, so that they use the same LibTorch as `kymo build`.
  CLI::App* torch_command = app.add_subcommand("torch-folder", "Print the directory of the torch package")->group("");
  torch_command->callback([&session] {
    session.action = [] {
      std::printf("%s\n", find_torch().torch.c_str());
      return 0;
    };
  });

  CLI::App* devices_command = app.add_subcommand("devices", "Print the devices of this machine as JSON")->group("");
  auto counts = std::make_shared<bool>(false);
  devices_command->add_flag("--counters", *counts, "try the hardware counters of each GPU");
  session.on(*devices_command, [counts] { return worker::print_devices(*counts); });
}

}  // namespace kymo::cli
