// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kymo {

/// Version of this build, "0.1.0".
std::string version();

/// Where the running tool's parts lie: the install tree, or the build tree that mirrors it.
struct Installation {
  std::filesystem::path root;     ///< holds bin/, lib/, share/, include/
  std::filesystem::path plugins;  ///< lib/kymo/plugins
  std::filesystem::path modules;  ///< lib/kymo/modules: kymo_cuda.so, kymo_torch_cuda.so
  std::filesystem::path share;    ///< share/kymo: reports/, template/
};

/// Found from the program's own path: <root>/bin/kymo.
const Installation& installation();

/// A LibTorch that workers can use.
struct TorchLocation {
  std::filesystem::path torch;                         ///< folder of the torch package (holds lib/ and version.py)
  std::string version;                                 ///< "2.11.0"
  std::string cuda;                                    ///< "13.0", or empty for a CPU build
  std::vector<std::filesystem::path> library_folders;  ///< torch/lib and the CUDA wheels' lib folders
};

/// $KYMO_TORCH, else the torch this build was made with, else that of the `python3` on PATH. Throws Error naming all
/// three and what each lacked.
TorchLocation find_torch();

}  // namespace kymo
