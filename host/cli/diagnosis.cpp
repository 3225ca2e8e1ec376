// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <optional>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "cli/peaks.hpp"
#include "worker/devices.hpp"

namespace kymo::cli {
namespace {

using Path = std::filesystem::path;
using Findings = std::vector<Finding>;

std::optional<worker::Devices> examine_devices(Findings& findings) {
  try {
    const worker::Devices devices = worker::probe_devices(true);
    findings.push_back({"cpu", Health::kOk, devices.cpu.name + ", " + format_bytes(devices.cpu.memory_bytes), ""});
    if (devices.driver_version.empty()) {
      findings.push_back(
          {"gpu driver", Health::kWarning, "no NVIDIA driver found", "install the driver, or use --device cpu"});
    } else {
      findings.push_back({"gpu driver", Health::kOk, devices.driver_version, ""});
    }
    if (devices.gpus.empty()) {
      findings.push_back({"gpu", Health::kWarning, devices.no_gpu_reason,
                          "cases that need a GPU will be skipped; --device cpu works"});
    }
    for (const event::Device& gpu : devices.gpus) {
      findings.push_back(
          {"gpu " + std::to_string(gpu.index), Health::kOk, gpu.name + ", " + format_bytes(gpu.memory_bytes), ""});
    }
    for (std::size_t gpu = 0; gpu < devices.counter_problems.size(); ++gpu)
      findings.push_back(counter_finding(static_cast<int>(gpu), devices.counter_problems[gpu]));
    return devices;
  } catch (const Error& error) {
    findings.push_back({"devices", Health::kError, error.what(), "no worker can be started; reinstall kymo"});
    return std::nullopt;
  }
}

/// The peaks of this machine's devices that the database contains.
void examine_peaks(Findings& findings, const Path& file, const worker::Devices& devices) {
  std::error_code ignored;  // without a database there are no peaks
  if (!std::filesystem::exists(file, ignored)) return;
  try {
    const store::ResultsDatabase database(file, store::ResultsDatabase::Mode::kReadOnly);
    findings.push_back({"peaks cpu", Health::kOk, peaks_line(database, devices.cpu.uuid), ""});
    for (const event::Device& gpu : devices.gpus)
      findings.push_back({"peaks gpu " + std::to_string(gpu.index), Health::kOk, peaks_line(database, gpu.uuid), ""});
  } catch (const Error& error) {
    findings.push_back({"database", Health::kWarning, error.what(), "choose another file with --db"});
  }
}

std::optional<TorchLocation> examine_torch(Findings& findings) {
  try {
    const TorchLocation torch = find_torch();
    findings.push_back(
        {"libtorch", Health::kOk,
         torch.version + (torch.cuda.empty() ? " for CPU" : " with CUDA " + torch.cuda) + " in " + torch.torch.string(),
         ""});
    return torch;
  } catch (const Error& error) {
    findings.push_back({"libtorch", Health::kWarning, error.what(),
                        "install the torch wheel or set KYMO_TORCH; workloads without LibTorch work"});
    return std::nullopt;
  }
}

/// Tries to load a library that workers need, from LibTorch's folders or from the system. Calls nothing in it, because
/// CUPTI 13.2 needs a driver.
void examine_library(Findings& findings, const std::string& subject, const char* soname,
                     const std::optional<TorchLocation>& torch, const std::string& remedy,
                     const std::string& library_version = "") {
  std::vector<std::string> candidates;
  for (const Path& folder : torch ? torch->library_folders : std::vector<Path>{}) {
    if (std::filesystem::exists(folder / soname)) candidates.push_back((folder / soname).string());
  }
  candidates.emplace_back(soname);
  std::string reason;
  for (const std::string& candidate : candidates) {
    if (dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr) {  // never closed; this process exits soon
      findings.push_back(
          {subject, Health::kOk, library_version.empty() ? candidate : library_version + " in " + candidate, ""});
      return;
    }
    const char* message = dlerror();
    reason = message == nullptr ? std::string(soname) + " cannot be loaded" : message;
  }
  findings.push_back({subject, Health::kWarning, reason, remedy});
}

void examine_tracing_permission(Findings& findings) {
  const Path file = "/proc/driver/nvidia/params";
  std::error_code ignored;  // without a driver there is nothing to check
  if (!std::filesystem::exists(file, ignored)) return;
  if (profiling_is_restricted(read_file(file))) {
    findings.push_back(
        {"gpu tracing", Health::kWarning,
         "the driver restricts GPU performance counters to administrators (RmProfilingAdminOnly: 1)",
         "load the driver with NVreg_RestrictProfilingToAdminUsers=0, or run as root; timing needs no permission"});
  } else {
    findings.push_back({"gpu tracing", Health::kOk, "allowed for all users", ""});
  }
}

void examine_plugins(Findings& findings, const std::optional<TorchLocation>& torch, const catalog::Options& options) {
  const catalog::Catalog found = catalog::discover(options);
  for (const catalog::Plugin& plugin : found.plugins) {
    const std::string& wanted = plugin.file.framework_version;
    const bool uses_torch = plugin.file.framework == "libtorch" && plugin.file.interpreter.empty();
    const std::string shown =
        std::to_string(plugin.workloads.size()) + (plugin.workloads.size() == 1 ? " workload" : " workloads");
    if (uses_torch && torch && torch->version != wanted) {
      findings.push_back({"plugin " + plugin.name, Health::kWarning,
                          "built for LibTorch " + wanted + ", found " + torch->version,
                          "set KYMO_TORCH to LibTorch " + wanted + ", or rebuild the plugin"});
    } else if (uses_torch && !torch) {
      findings.push_back({"plugin " + plugin.name, Health::kWarning, "needs LibTorch " + wanted,
                          "install the torch wheel or set KYMO_TORCH"});
    } else {
      findings.push_back({"plugin " + plugin.name, Health::kOk, shown, ""});
    }
  }
  for (const catalog::Rejected& rejected : found.rejected) {
    findings.push_back(
        {"plugin " + rejected.file.filename().string(), Health::kWarning, rejected.reason,
         (rejected.may_be_usable ? "try again with: kymo describe " : "fix or remove ") + rejected.file.string()});
  }
  if (found.plugins.empty()) {
    findings.push_back({"plugins", Health::kError, "no usable plugin found",
                        "check " + installation().plugins.string() + " or set KYMO_PLUGIN_PATH"});
  }
}

/// Returns the torch that programs and workloads in Python use by default.
std::optional<TorchLocation> examine_python(Findings& findings) {
  constexpr const char* kRemedy = "only needed for workloads in Python: activate an environment or pass --python";
  Path interpreter;
  try {
    interpreter = find_interpreter("");
    findings.push_back({"python", Health::kOk, interpreter.string(), ""});
  } catch (const Error& error) {
    findings.push_back({"python", Health::kWarning, error.what(), kRemedy});
    return std::nullopt;
  }
  try {
    const TorchLocation torch = torch_of_interpreter(interpreter);
    findings.push_back(examine_python_torch(torch, installation().modules));
    return torch;
  } catch (const Error& error) {
    findings.push_back({"torch of python", Health::kWarning, error.what(),
                        "only needed for programs and workloads with torch: pip install torch"});
    return std::nullopt;
  }
}

void examine_database_folder(Findings& findings, const Path& database) {
  const Path folder = std::filesystem::absolute(database).parent_path();
  if (access(folder.c_str(), W_OK | X_OK) == 0) {
    findings.push_back({"database folder", Health::kOk, folder.string(), ""});
  } else {
    findings.push_back(
        {"database folder", Health::kError, folder.string() + " is not writable", "choose another file with --db"});
  }
}

void examine_program(Findings& findings, const std::string& subject, const std::string& name,
                     const std::string& remedy) {
  const auto program = find_program(name);
  findings.push_back(program ? Finding{subject, Health::kOk, program->string(), ""}
                             : Finding{subject, Health::kWarning, name + " is not on PATH", remedy});
}

void examine_latex(Findings& findings) {
  examine_program(
      findings, "pdflatex", "pdflatex",
      "only needed to convert LaTeX reports to PDF: apt install texlive-latex-extra texlive-science texlive-pictures");
  const auto kpsewhich = find_program("kpsewhich");
  if (!kpsewhich) return;
  for (const std::string package : {"booktabs", "siunitx", "pgfplots"}) {
    const CommandResult result =
        run_command({.command = {kpsewhich->string(), package + ".sty"}, .environment = {}}, 20);
    if (result.end.exit_code == 0 && !trim(result.stdout_text).empty()) {
      findings.push_back({"latex package " + package, Health::kOk, trim(result.stdout_text), ""});
    } else {
      const char* source = package == "siunitx"    ? "texlive-science"
                           : package == "pgfplots" ? "texlive-pictures"
                                                   : "texlive-latex-recommended";
      findings.push_back(
          {"latex package " + package, Health::kWarning, "not installed", std::string("apt install ") + source});
    }
  }
}

}  // namespace

Finding counter_finding(int gpu, const std::string& problem) {
  const std::string subject = "counters gpu " + std::to_string(gpu);
  if (problem.empty()) return {subject, Health::kOk, "the pass counters counts on it", ""};
  const std::size_t remedy = problem.find("; ");
  if (remedy == std::string::npos) return {subject, Health::kWarning, problem, "other passes work"};
  return {subject, Health::kWarning, problem.substr(0, remedy), problem.substr(remedy + 2) + "; other passes work"};
}

bool profiling_is_restricted(const std::string& driver_parameters) {
  for (const std::string& line : split(driver_parameters, '\n')) {
    const std::size_t colon = line.find(':');
    if (line.starts_with("RmProfilingAdminOnly") && colon != std::string::npos)
      return trim(line.substr(colon + 1)) != "0";
  }
  return false;
}

Findings examine(const Path& database, const catalog::Options& options) {
  Findings findings{{"kymo", Health::kOk, version() + " in " + installation().root.string(), ""}};
  const auto devices = examine_devices(findings);
  const auto torch = examine_torch(findings);
  const auto python_torch = examine_python(findings);
  const auto& libraries = python_torch ? python_torch : torch;
  examine_library(findings, "cupti", "libcupti.so.13", libraries,
                  "install the wheel nvidia-cuda-cupti; GPU tracing requires it",
                  libraries ? cupti_version(*libraries) : "");
  for (const std::string name : {"nvperf_host", "nvperf_target"})
    examine_library(findings, name, ("lib" + name + ".so").c_str(), libraries,
                    "install the wheel nvidia-cuda-cupti; the pass counters requires it");
  examine_library(findings, "nccl", "libnccl.so.2", libraries,
                  "install the wheel nvidia-nccl-cu13; collectives on GPUs require it");
  examine_tracing_permission(findings);
  examine_plugins(findings, torch, options);
  examine_database_folder(findings, database);
  if (devices) examine_peaks(findings, database, *devices);
  examine_program(findings, "cmake", "cmake", "only needed for 'kymo build': apt install cmake");
  examine_program(findings, "compiler", "c++", "only needed for 'kymo build': apt install g++");
  examine_latex(findings);
  examine_program(findings, "typst", "typst",
                  "only needed to convert Typst reports to PDF: cargo install typst-cli, or the Python package typst");
  return findings;
}

}  // namespace kymo::cli
