// SPDX-License-Identifier: Apache-2.0
// The loop that a user would write by hand around a workload's step: no worker, no collector, no phases.
//   bare_loop PLUGIN WORKLOAD cpu|cuda WARMUP STEPS [name=value ...]
// Prints JSON: {"load_ns": time to load the plugin with its libraries, "first_step_ns": from program start, "steps_ns":
// [...]}.
#include <dlfcn.h>
#include <kymo_plugin.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

struct kymo_context {
  std::map<std::string, kymo_value> parameters;
  std::map<std::string, std::string> texts;
  kymo_placement placement{};
};

namespace {

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bare_loop: %s\n", why.c_str());
  std::exit(1);
}

void check(kymo_status status, const char* what) {
  if (status != KYMO_OK) give_up(std::string(what) + " returned " + std::to_string(status));
}

kymo_status parameter(kymo_context* context, const char* name, kymo_value* out) {
  const auto found = context->parameters.find(name);
  if (found == context->parameters.end()) return KYMO_FAILED;
  *out = found->second;
  return KYMO_OK;
}

/// Services that a bare loop does not need are NULL if the ABI permits it.
kymo_host make_host() {
  kymo_host host{};
  host.size = sizeof host;
  host.abi_major = KYMO_ABI_MAJOR;
  host.abi_minor = KYMO_ABI_MINOR;
  host.parameter = parameter;
  host.placement = [](kymo_context* c) -> const kymo_placement* { return &c->placement; };
  host.seed = [](kymo_context*) -> std::uint64_t { return 0; };
  host.phase_begin = [](kymo_context*, const char*, void*) -> kymo_status { return KYMO_OK; };
  host.phase_end = [](kymo_context*) -> kymo_status { return KYMO_OK; };
  host.work = [](kymo_context*, const char*, double, double) {};
  host.metric_number = [](kymo_context*, std::uint32_t, const char*, double, const char*) {};
  host.metric_text = [](kymo_context*, std::uint32_t, const char*, const char*) {};
  host.mark = [](kymo_context*, const char*) {};
  host.tag = [](kymo_context*, const void*, std::uint64_t, std::uint32_t) {};
  host.log = [](kymo_context*, std::uint32_t, const char*) {};
  host.skip = [](kymo_context*, const char* reason) { give_up(std::string("skipped: ") + reason); };
  host.fail = [](kymo_context*, kymo_status, const char* message) { give_up(message); };
  host.cancelled = [](kymo_context*) -> std::int32_t { return 0; };
  return host;
}

kymo_value parse(const kymo_parameter& declared, const std::string& text, std::string& storage) {
  kymo_value value = declared.default_value;
  storage = text;
  if (declared.type == KYMO_INT) value.integer = std::atoll(text.c_str());
  if (declared.type == KYMO_REAL) value.real = std::atof(text.c_str());
  if (declared.type == KYMO_BOOL) value.boolean = text == "true";
  if (declared.type == KYMO_TEXT || declared.type == KYMO_CHOICE) value.text = storage.c_str();
  return value;
}

const kymo_workload* find_workload(const kymo_plugin& plugin, const char* name) {
  for (std::uint32_t i = 0; i < plugin.workload_count(); ++i)
    if (std::strcmp(plugin.workload(i)->name, name) == 0) return plugin.workload(i);
  give_up(std::string("no workload ") + name);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t start = now_ns();
  if (argc < 6) give_up("usage: bare_loop PLUGIN WORKLOAD cpu|cuda WARMUP STEPS [name=value ...]");
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) give_up(dlerror());
  const std::int64_t loaded = now_ns();
  const auto entry = reinterpret_cast<kymo_plugin_entry>(dlsym(library, KYMO_ENTRY_SYMBOL));
  if (!entry) give_up(dlerror());
  const kymo_workload& workload = *find_workload(*entry(), argv[2]);
  const bool cuda = std::strcmp(argv[3], "cuda") == 0;

  kymo_context context;
  context.placement = {sizeof(kymo_placement), 0, 1, 0, cuda ? KYMO_CUDA : KYMO_CPU, 0, "127.0.0.1", 0, 0};
  for (std::uint32_t i = 0; i < workload.parameter_count; ++i) {
    const kymo_parameter& declared = workload.parameters[i];
    context.parameters[declared.name] = declared.default_value;
    for (int a = 6; a < argc; ++a) {
      const std::string text = argv[a];
      const auto equals = text.find('=');
      if (text.substr(0, equals) == declared.name)
        context.parameters[declared.name] = parse(declared, text.substr(equals + 1), context.texts[declared.name]);
    }
  }
  int (*synchronize)() = nullptr;
  if (cuda) {
    void* runtime = dlopen("libcudart.so.13", RTLD_NOW);
    if (!runtime) give_up(dlerror());
    synchronize = reinterpret_cast<int (*)()>(dlsym(runtime, "cudaDeviceSynchronize"));
  }

  const kymo_host host = make_host();
  void* instance = nullptr;
  check(workload.create(&workload, &host, &context, &instance), "create");
  check(workload.prepare(instance, &context), "prepare");
  std::vector<std::int64_t> steps;
  std::int64_t first_step = 0;
  const int warmup = std::atoi(argv[4]), wanted = std::atoi(argv[5]);
  for (int i = 0; i < warmup + wanted; ++i) {
    if (workload.before_step) check(workload.before_step(instance, &context), "before_step");
    if (synchronize) synchronize();
    const std::int64_t begin = now_ns();
    if (i == 0) first_step = begin;
    check(workload.step(instance, &context), "step");
    if (synchronize) synchronize();
    if (i >= warmup) steps.push_back(now_ns() - begin);
  }
  std::printf("{\"load_ns\": %lld, \"first_step_ns\": %lld, \"steps_ns\": [", static_cast<long long>(loaded - start),
              static_cast<long long>(first_step - start));
  for (std::size_t i = 0; i < steps.size(); ++i) std::printf("%s%lld", i ? ", " : "", static_cast<long long>(steps[i]));
  std::printf("]}\n");
  std::fflush(stdout);
  _Exit(0);  // skip LibTorch's shutdown, which is not measured
}
