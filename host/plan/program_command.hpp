// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// What the command of an observed program runs.
namespace kymo::plan {

struct ProgramCommand {
  std::string name;            ///< identifies the program: "train.py", "package.module", or the name of another program
  std::string arguments;       ///< of the program, as one would write them in a shell
  std::filesystem::path file;  ///< absolute path of the script or program; empty for a module
  std::string python;          ///< the interpreter, as written; empty if the command is that of another program
  std::optional<std::int64_t> ranks = {};  ///< that torchrun starts, as far as its options say
};

/// Finds the script or module in a command such as `python -u train.py --lr 1`, `python -m package.module`,
/// `torchrun --nproc-per-node 2 train.py` or `./train.sh`. Options of launchers in front of the script are not part of
/// the arguments. Throws UsageError if there is no such script or program.
ProgramCommand parse_program_command(const std::vector<std::string>& command);

/// Returns true if a command starts a Python script or module, such as `python train.py`, `./train.py`, `python -m
/// package.module` or `torchrun train.py`.
bool starts_python(const std::vector<std::string>& command);

}  // namespace kymo::plan
