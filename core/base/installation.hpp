// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kymo {

/// Version of this build, for example "0.1.0".
std::string version();

/// Version of LibTorch that this build is for, for example "2.11.0"; empty without LibTorch.
std::string build_torch_version();

/// Directories of the running tool: the install tree, or the build tree with the same layout.
struct Installation {
  std::filesystem::path root;     ///< contains bin/, lib/, share/ and include/
  std::filesystem::path plugins;  ///< lib/kymo/plugins
  std::filesystem::path modules;  ///< lib/kymo/modules: collector modules and their declarations
  std::filesystem::path python;   ///< lib/kymo/python: the Python package and the program of Python workers
  std::filesystem::path share;    ///< share/kymo: reports/, template/
};

/// The directories of an installation.
Installation installation_at(const std::filesystem::path& root);

/// The installation of the program, <root>/bin/kymo.
const Installation& installation();

/// Returns the absolute path of the interpreter for Python files: `chosen`, else that of VIRTUAL_ENV, of the
/// environment that this program is installed in, of the environment whose torch kymo was built with, or python3 on
/// PATH. Throws UsageError for an unusable choice, and Error if there is none.
std::filesystem::path find_interpreter(const std::string& chosen);

/// Program and first argument of a process that describes or runs Python files.
std::vector<std::string> python_worker_command(const std::filesystem::path& interpreter);

/// A LibTorch installation that workers can use.
struct TorchLocation {
  std::filesystem::path torch;                         ///< directory of the torch package; contains lib/ and version.py
  std::string version;                                 ///< "2.11.0"
  std::string full_version;                            ///< as torch.__version__, "2.11.0+cu130"
  std::string cuda;                                    ///< "13.0", or empty for a CPU build
  std::vector<std::filesystem::path> library_folders;  ///< torch/lib and the lib directories of the CUDA wheels
};

/// Finds LibTorch in $KYMO_TORCH, the Python environment that this program is installed in, the torch of this build, or
/// the `python3` on PATH, in this order. Throws Error that
/// gives the reason for each of them.
TorchLocation find_torch();

/// The torch that an interpreter imports. Starts the interpreter, but does not import torch. Throws Error.
TorchLocation torch_of_interpreter(const std::filesystem::path& interpreter);

}  // namespace kymo
