// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/private_folder.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"

namespace kymo::catalog {
namespace {
namespace fs = std::filesystem;

using Words = std::vector<std::string>;

constexpr double kDeadlineSeconds = 1800;  // compiling LibTorch's headers takes minutes on a small machine

bool is_cuda(const fs::path& source) { return source.extension() == ".cu"; }

void check_source(const fs::path& source) {
  static const std::set<std::string> kExtensions{".cpp", ".cc", ".cxx", ".cu"};
  if (is_python_file(source))
    throw UsageError("a Python file is not built; run it: kymo run " + quote(source.string()));
  if (!kExtensions.contains(source.extension().string()))
    throw UsageError("'kymo build' takes C++ or CUDA sources (.cpp, .cc, .cxx, .cu), not " + quote(source.string()));
  std::error_code ignored;  // an unreadable path is treated as missing
  if (!fs::is_regular_file(source, ignored)) throw UsageError("no such source file: " + quote(source.string()));
}

std::string plugin_name(const fs::path& source) {
  const std::string name = source.stem().string();
  if (!is_name(name)) throw UsageError("invalid plugin name " + quote(name) + ": rename the file; " + kNameRule);
  if (name.starts_with("lib"))
    throw UsageError("rename " + quote(source.filename().string()) +
                     ": files named lib*.so are treated as shared libraries, not plugins");
  return name;
}

/// The libraries that the sources include.
struct Needs {
  bool torch = false;       ///< LibTorch
  bool torch_cuda = false;  ///< also its CUDA API
  bool comm = false;        ///< kymo::comm
  bool cuda = false;        ///< the CUDA runtime
};

bool begins_with_any(const std::string& text, std::initializer_list<const char*> starts) {
  for (const char* start : starts)
    if (text.starts_with(start)) return true;
  return false;
}

/// Reads the #include lines of a file, and of the files that they name relative to it.
void scan(const fs::path& file, std::set<fs::path>& seen, Needs& needs) {
  if (!seen.insert(fs::weakly_canonical(file)).second) return;
  if (is_cuda(file)) needs.cuda = true;
  for (const std::string& line : split(read_file(file), '\n')) {
    std::istringstream words(line);
    std::string directive, name;
    if (!(words >> directive) || directive[0] != '#') continue;
    if (directive == "#") words >> directive;
    if (!directive.ends_with("include") && !directive.starts_with("#include")) continue;
    const std::size_t open = line.find_first_of("<\"");
    const std::size_t end = line.find_first_of(">\"", open + 1);
    if (open == std::string::npos || end == std::string::npos) continue;
    name = line.substr(open + 1, end - open - 1);
    if (begins_with_any(name, {"torch/", "ATen/", "c10/", "kymo/torch."})) needs.torch = true;
    if (begins_with_any(name, {"torch/cuda", "ATen/cuda/", "c10/cuda/"})) needs.torch_cuda = true;
    if (begins_with_any(name, {"kymo/communicator."})) needs.comm = true;
    if (begins_with_any(name, {"cuda_runtime", "cuda.h", "cuda_fp16", "cuda_bf16"})) needs.cuda = true;
    std::error_code ignored;
    const fs::path near = file.parent_path() / name;
    if (line[open] == '"' && fs::is_regular_file(near, ignored)) scan(near, seen, needs);
  }
}

Needs needs_of(const std::vector<fs::path>& sources) {
  Needs needs;
  std::set<fs::path> seen;
  for (const fs::path& source : sources) scan(source, seen, needs);
  needs.torch_cuda = needs.torch_cuda || needs.comm || (needs.torch && needs.cuda);
  needs.torch = needs.torch || needs.torch_cuda;
  return needs;
}

/// $CXX may contain a launcher and flags, as in "ccache g++".
Words compiler() {
  const char* chosen = std::getenv("CXX");
  Words words;
  for (const std::string& word : split(chosen ? chosen : "", ' '))
    if (!word.empty()) words.push_back(word);
  return words.empty() ? Words{"c++"} : words;
}

std::string defined(const std::string& name, const std::string& text) { return "-D" + name + "=\"" + text + "\""; }

void add(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

/// A CUDA toolkit, or the CUDA wheels, which have the same layout.
struct CudaToolkit {
  fs::path nvcc;
  fs::path root;
  fs::path libraries;
};

/// The folders of the namespace package `nvidia` of the python3 on PATH, which contain the CUDA wheels.
Words wheel_folders() {
  static const std::string kQuery =
      "import importlib.util as u; s = u.find_spec('nvidia'); "
      "print('\\n'.join(s.submodule_search_locations) if s else '', end='')";
  try {
    SpawnOptions options;
    options.command = {"python3", "-c", kQuery};
    const CommandResult result = run_command(options, 20);
    return result.end.exit_code == 0 && !result.timed_out ? split(result.stdout_text, '\n') : Words{};
  } catch (const Error&) {
    return {};  // there is no python3
  }
}

CudaToolkit find_cuda(const std::string& needed_for) {
  std::vector<fs::path> roots;
  if (const char* home = std::getenv("CUDA_HOME"); home && *home) roots.emplace_back(home);
  try {
    roots.push_back(find_torch().torch.parent_path() / "nvidia" / "cu13");
  } catch (const Error&) {
    // Without LibTorch, the wheels may still be in the Python environment.
  }
  std::error_code ignored;
  const auto has_nvcc = [&](const fs::path& root) { return fs::is_regular_file(root / "bin" / "nvcc", ignored); };
  auto root = std::find_if(roots.begin(), roots.end(), has_nvcc);
  if (root == roots.end()) {
    for (const std::string& folder : wheel_folders())
      if (!folder.empty()) roots.push_back(fs::path(folder) / "cu13");
    root = std::find_if(roots.begin(), roots.end(), has_nvcc);
  }
  if (root == roots.end())
    throw Error(quote(needed_for) +
                " needs the CUDA compiler nvcc: set CUDA_HOME to a CUDA toolkit, or run: pip install "
                "'cuda-toolkit[nvcc,crt,nvvm,cudart,cccl]==13.0.2'");
  const fs::path lib = *root / "lib64";
  return {*root / "bin" / "nvcc", *root, fs::is_directory(lib, ignored) ? lib : *root / "lib"};
}

/// Flags of the C++ and the CUDA compiler, and of the linker.
struct Flags {
  Words compile;
  Words link;
};

Flags flags_of(const BuildRequest& request, const std::string& name, const Needs& needs,
               const std::optional<CudaToolkit>& cuda) {
  const fs::path root = installation().root;
  const fs::path script = root / "lib" / "cmake" / "kymo" / "kymo_plugin.version";
  if (!fs::exists(root / "include" / "kymo" / "workload.hpp") || !fs::exists(script)) {
    throw Error("kymo's headers are not installed: missing " +
                quote((root / "include" / "kymo" / "workload.hpp").string()));
  }
  Flags flags;
  flags.compile = {"-std=c++20",
                   "-O2",
                   "-isystem",
                   (root / "include").string(),
                   "-isystem",
                   (root / "include" / "kymo" / "abi").string(),
                   defined("KYMO_PLUGIN_NAME", name)};
  flags.link = {"-Wl,--version-script=" + script.string(), "-Wl,-z,defs", "-Wl,-rpath,$ORIGIN"};
  if (cuda) add(flags.compile, {"-isystem", (cuda->root / "include").string()});
  add(flags.compile, request.compile_flags);
  add(flags.link, request.link_flags);
  if (!needs.torch) {
    // The static runtime, because workers search for CUDA libraries only for plugins that use LibTorch.
    if (cuda) add(flags.link, {(cuda->libraries / "libcudart_static.a").string(), "-ldl", "-lrt", "-lpthread"});
    return flags;
  }
  const TorchLocation torch = find_torch();
  const fs::path lib = torch.torch / "lib", wheels = torch.torch.parent_path() / "nvidia";
  const std::string include = (torch.torch / "include").string();
  for (const std::string& folder : {include, include + "/torch/csrc/api/include"})
    add(flags.compile, {"-isystem", folder});
  add(flags.compile, {defined("KYMO_PLUGIN_FRAMEWORK", "libtorch"),
                      defined("KYMO_PLUGIN_FRAMEWORK_VERSION", torch.version), "-D_GLIBCXX_USE_CXX11_ABI=1"});
  if (needs.comm) {
    add(flags.compile, {defined("KYMO_COMM_TORCH", torch.version.substr(0, torch.version.rfind('.'))), "-isystem",
                        (wheels / "nccl" / "include").string()});
    const fs::path library = root / "lib" / "libkymo_comm.a";
    if (!fs::exists(library))
      throw Error("<kymo/communicator.hpp> needs " + quote(library.string()) + ", which this kymo was built without");
    add(flags.link, {library.string(), (wheels / "nccl" / "lib" / "libnccl.so.2").string()});
  }
  add(flags.link, {"-Wl,--allow-shlib-undefined"});
  if (needs.torch_cuda) {
    add(flags.compile,
        {defined("KYMO_PLUGIN_CUDA_VERSION", torch.cuda), "-isystem", (wheels / "cu13" / "include").string()});
    add(flags.link, {(lib / "libtorch_cuda.so").string(), (lib / "libc10_cuda.so").string(),
                     (wheels / "cu13" / "lib" / "libcudart.so.13").string()});
  }
  // libtorch.so loads the CUDA kernels; it must stay linked although none of its symbols is referenced.
  add(flags.link, {"-Wl,--push-state,--no-as-needed", (lib / "libtorch.so").string(), "-Wl,--pop-state",
                   (lib / "libtorch_cpu.so").string(), (lib / "libc10.so").string()});
  return flags;
}

/// Machine code for the GPUs that kymo supports, and PTX, which the driver compiles for later GPUs. The machine that
/// compiles may have no GPU.
const Words kGpuTargets{"-gencode", "arch=compute_80,code=[sm_80,compute_80]", "-gencode",
                        "arch=compute_90a,code=sm_90a"};

/// nvcc passes definitions through a shell, so that their quotes must be escaped.
Words for_nvcc(const Words& flags) {
  Words escaped;
  for (const std::string& flag : flags) {
    std::string text;
    for (const char c : flag) text += c == '"' && flag.starts_with("-D") ? std::string("\\\"") : std::string(1, c);
    escaped.push_back(text);
  }
  return escaped;
}

/// A source as the user wrote it, as it then appears in the compiler's messages; never an option.
std::string argument(const fs::path& source) {
  const std::string text = source.string();
  return text.starts_with('-') ? "./" + text : text;
}

/// Runs one command and passes its output on as it is.
void compile(const BuildRequest& request, const Words& command, const std::string& what) {
  if (request.on_command) request.on_command(command);
  SpawnOptions options;
  options.command = command;
  const CommandResult outcome = run_command(options, kDeadlineSeconds);
  if (request.on_output) request.on_output(outcome.stderr_text + outcome.stdout_text);
  if (!outcome.timed_out && outcome.end.exit_code == 0) return;
  const std::string how = outcome.timed_out ? "took too long" : "failed (" + outcome.end.describe() + ")";
  throw Error(command.front() + " " + how + " on " + what);
}

}  // namespace

fs::path build_plugin_file(const BuildRequest& request) {
  if (request.sources.empty()) throw UsageError("no source given");
  Words shown;
  for (const fs::path& source : request.sources) {
    check_source(source);
    shown.push_back(quote(source.string()));
  }
  const std::string name = plugin_name(request.sources.front());
  const Needs needs = needs_of(request.sources);
  std::optional<CudaToolkit> cuda;
  for (const fs::path& source : request.sources)
    if (is_cuda(source) && !cuda) cuda = find_cuda(source.string());
  if (needs.cuda && !cuda && !needs.torch) cuda = find_cuda(request.sources.front().string());
  const Flags flags = flags_of(request, name, needs, cuda);

  const fs::path result = fs::absolute(name + ".so");
  const TemporarySibling sibling = make_sibling(result);
  if (sibling.fd < 0) throw Error("cannot write " + quote(result.string()) + ": " + std::strerror(errno));
  close(sibling.fd);
  const PrivateFolder objects("kymo-build");
  Words link = compiler();
  add(link, {"-g1", "-fPIC", "-shared", "-fvisibility=hidden", "-fvisibility-inlines-hidden"});
  add(link, flags.compile);
  try {
    for (std::size_t i = 0; i < request.sources.size(); ++i) {
      const fs::path& source = request.sources[i];
      if (!is_cuda(source)) {
        link.push_back(argument(source));
        continue;
      }
      const std::string object = (objects.path() / (std::to_string(i) + ".o")).string();
      Words command{cuda->nvcc.string(), "-ccbin", compiler().back()};
      add(command, kGpuTargets);
      add(command, {"-Xcompiler=-fPIC,-fvisibility=hidden", "-lineinfo"});
      add(command, for_nvcc(flags.compile));
      add(command, {"-c", argument(source), "-o", object});
      compile(request, command, quote(source.string()));
      link.push_back(object);
    }
    add(link, {"-o", sibling.path.string()});
    add(link, flags.link);
    compile(request, link, join(shown, ", "));
  } catch (...) {
    std::error_code ignored;
    fs::remove(sibling.path, ignored);
    throw;
  }
  fs::rename(sibling.path, result);  // a running process keeps using the old plugin file
  return result;
}

}  // namespace kymo::catalog
