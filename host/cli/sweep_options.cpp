// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_options.hpp"

#include <CLI/CLI.hpp>

#include "base/text.hpp"
#include "cli/typed_option.hpp"
#include "plan/case_spec.hpp"

namespace kymo::cli {
using namespace plan;

void add_sweep_options(CLI::App& app, SweepOptions& options) {
  app.add_option("--on", options.cluster, "run shards of the cases as jobs of Slurm, or on this machine, by submitit")
      ->type_name("slurm|local")
      ->check([](const std::string& text) {
        return text == "slurm" || text == "local" ? "" : "takes slurm or local, not " + quote(text);
      });
  number_option(app, "--shards", options.shards, 1, static_cast<std::int64_t>(kMaxCases),
                "with --on: number of jobs that the cases are divided among [1]");
  app.add_option("--on-option", options.settings,
                 "with --on: an option of sbatch without its dashes, such as partition=gpu or time=2:00:00, or "
                 "array_parallelism=N, setup=COMMAND; may be repeated")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
}

}  // namespace kymo::cli
