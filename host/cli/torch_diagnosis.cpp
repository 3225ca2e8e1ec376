// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "cli/diagnosis.hpp"
#include "worker/installed_environment.hpp"

namespace kymo::cli {
namespace {

/// The collectors of GPU activity link the libraries of this version of CUDA by their names.
constexpr std::string_view kCuda = "13";

}  // namespace

Finding examine_python_torch(const TorchLocation& torch, const std::filesystem::path& modules) {
  const std::string version = torch.full_version.empty() ? "unknown version" : torch.full_version;
  const std::string cuda = torch.cuda.empty() ? " for CPU" : " with CUDA " + torch.cuda;
  Finding finding{"torch of python", Health::kOk, version + cuda + " in " + torch.torch.string(), ""};
  const worker::TorchSupport support = worker::torch_support(modules, torch.full_version);
  if (!support.has_version) {
    finding.health = Health::kWarning;
    finding.remedy =
        "times, steps, phases and modules are recorded with any torch; operators, collectives and LibTorch's memory "
        "with releases of torch " +
        join(support.minors, ", ");
  } else if (!torch.cuda.empty() && torch.cuda.substr(0, torch.cuda.find('.')) != kCuda) {
    finding.health = Health::kWarning;
    finding.remedy = "GPU activity is recorded with a torch for CUDA " + std::string(kCuda) + "; everything else works";
  } else {
    finding.detail += ": everything can be recorded";
  }
  return finding;
}

std::string cupti_version(const TorchLocation& torch) {
  constexpr std::string_view kPrefix = "nvidia_cuda_cupti-";
  constexpr std::string_view kSuffix = ".dist-info";
  std::error_code no_directory;
  for (const auto& entry : std::filesystem::directory_iterator(torch.torch.parent_path(), no_directory)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix))
      return name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  }
  return "";
}

}  // namespace kymo::cli
