// SPDX-License-Identifier: Apache-2.0
#include "measure/settings.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "base/error.hpp"
#include "base/option_number.hpp"
#include "base/process.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

namespace kymo::measure {
namespace {

using Text = const std::string&;

// Verification runs first: a case that computes a wrong result is not timed.
constexpr std::array kExecutionOrder{Pass::kPredict, Pass::kVerify, Pass::kTime,    Pass::kMemory,
                                     Pass::kTrace,   Pass::kOps,    Pass::kCounters};

constexpr std::pair<const char*, bool Observation::*> kTraceDetails[] = {
    {"memsets", &Observation::memsets},
    {"synchronization", &Observation::synchronization},
    {"overhead", &Observation::overhead_records},
    {"api", &Observation::api_calls},
    {"shapes", &Observation::shapes}};

std::vector<std::string> names_of_passes(const auto& passes) {
  std::vector<std::string> names;
  for (const Pass pass : passes) names.emplace_back(to_string(pass));
  return names;
}

std::optional<Value> stored_value(const std::vector<Pass>& passes) { return join(names_of_passes(passes), ","); }
std::optional<Value> stored_value(std::uint64_t number) { return static_cast<std::int64_t>(number); }
template <NamedEnum Enum>
std::optional<Value> stored_value(Enum value) {
  return to_string(value);
}
template <typename T>
  requires(!NamedEnum<T>)
std::optional<Value> stored_value(const T& value) {
  return value;
}

/// A setting whose value `get` returns by reference. `then` is called after it was set.
template <typename Get, typename Parse>
SettingType typed(std::string syntax, Get get, Parse parse, void (*then)(Method&) = nullptr) {
  using T = std::remove_cvref_t<std::invoke_result_t<Get, Method&>>;
  SettingType type{.syntax = std::move(syntax)};
  type.stored = [get](Method method) { return stored_value(std::invoke(get, method)); };
  if (const auto value = type.stored({}); value && !type.syntax.empty()) type.default_text = to_text(*value);
  type.parse = [get, parse, then](Text origin, Text text) -> MethodChange {
    return [get, then, value = static_cast<T>(parse(origin, text))](Method& method) {
      std::invoke(get, method) = value;
      if (then) then(method);
    };
  };
  if constexpr (std::is_member_object_pointer_v<Get>) {
    type.to_json = [get](const Method& method) { return Json(method.*get); };
    type.from_json = [get](Method& method, const Json& json, const std::string& field) {
      method.*get = required_field<T>(json, field.c_str());
    };
  }
  return type;
}

/// A member of the method's stopping rule, which the method then has.
template <typename T>
auto of_rule(T StoppingRule::* member) {
  return [member](Method& method) -> T& {
    if (!method.until) method.until.emplace();
    return (*method.until).*member;
  };
}

template <typename T>
auto of_observation(T Observation::* member) {
  return [member](Method& method) -> T& { return method.observation.*member; };
}

SettingType whole(auto get, std::int64_t low, std::int64_t high, void (*then)(Method&) = nullptr) {
  return typed("N", get, [low, high](Text origin, Text text) { return whole_number(origin, text, low, high); }, then);
}

SettingType seconds(auto get, double low, double high, void (*then)(Method&) = nullptr) {
  SettingType type =
      typed("SECONDS", get, [low, high](Text origin, Text text) { return real_number(origin, text, low, high); }, then);
  type.unit = "_s";
  return type;
}

SettingType time_limit(auto get) {
  SettingType type = seconds(get, 0.001, 1e9);
  if (type.default_text == "0") type.default_text = "no limit";
  return type;
}

SettingType size(auto get) {
  SettingType type = typed("SIZE", get, size_bytes);
  const auto default_bytes = std::get<std::int64_t>(type.stored({}).value());
  type.default_text = default_bytes == 0 ? "no limit" : std::to_string(default_bytes >> 20) + "Mi";
  type.unit = "_bytes";
  return type;
}

/// One of the words of `syntax`.
template <NamedEnum Enum>
SettingType word(std::string syntax, Enum Method::* get) {
  return typed(std::move(syntax), get, [](Text origin, Text text) {
    try {
      return enum_from<Enum>(text);
    } catch (const UsageError& error) {
      throw UsageError(origin + ": " + error.what());
    }
  });
}

SettingType flag(auto get) {
  return typed("", get, [](Text origin, Text text) {
    if (text != "true" && text != "false") throw UsageError(origin + " must be true or false, not " + quote(text));
    return text == "true";
  });
}

SettingType steps() {
  SettingType type = whole(&Method::steps, 1, kMaxSteps, [](Method& method) { method.until.reset(); });
  type.default_text.clear();  // a stopping rule decides
  type.stored = [](const Method& method) { return Value(method.until ? 0 : method.steps); };
  return type;
}

SettingType passes() {
  SettingType type = typed("LIST", &Method::passes, passes_from);
  type.words = names_of_passes(kExecutionOrder);
  type.is_list = true;
  return type;
}

SettingType no_verify() {
  return {.syntax = "", .parse = [](Text, Text) -> MethodChange {
            return [](Method& method) { std::erase(method.passes, Pass::kVerify); };
          }};
}

SettingType trace_detail() {
  SettingType type{.syntax = "LIST", .default_text = "none"};
  for (const auto& [name, member] : kTraceDetails) type.words.emplace_back(name);
  type.words.emplace_back("none");
  type.parse = [](Text origin, Text text) -> MethodChange {
    std::vector<bool Observation::*> members;
    for (const std::string& item : split(text, ',')) {
      const std::string name = trim(item);
      if (name == "none") continue;
      const auto* const found = std::ranges::find(kTraceDetails, name, [](const auto& each) { return each.first; });
      if (found == std::end(kTraceDetails))
        throw UsageError(origin + " takes a list of " + join(setting("trace-detail").type.words, ", ") + ", not " +
                         quote(text));
      members.push_back(found->second);
    }
    return [members](Method& method) {
      for (const auto member : members) method.observation.*member = true;
    };
  };
  return type;
}

SettingType existing_file(auto get) {
  return typed("FILE", get, [](Text origin, Text text) {
    if (!std::filesystem::exists(text)) throw UsageError(origin + ": no such file: " + quote(text));
    return std::filesystem::absolute(text).string();
  });
}

SettingType command(auto get) {
  return typed("COMMAND", get, [](Text origin, Text text) {
    const std::string program = split(trim(text), ' ').front();
    if (!text.empty() && !find_program(program))
      throw UsageError(origin + ": no program " + quote(program) + " found on PATH");
    return text;
  });
}

void allow_time_for_minimum(Method& method) {
  method.until->max_seconds = std::max(StoppingRule{}.max_seconds, 2 * method.until->min_seconds);
}

std::vector<Setting> settings_of_steps() {
  using enum SettingGroup;
  return {
      {.name = "warmup",
       .group = kSteps,
       .type = whole(&Method::warmup, 0, kMaxSteps),
       .documentation = "warm-up steps before the measured steps",
       .column = "warmup",
       .is_axis = true},
      {.name = "steps",
       .group = kSteps,
       .type = steps(),
       .documentation = "number of measured steps, instead of --min-time, --max-steps and --until",
       .column = "steps"},
      {.name = "min-time",
       .group = kSteps,
       .type = seconds(of_rule(&StoppingRule::min_seconds), 0, 1e6, allow_time_for_minimum),
       .documentation = "measure at least 10 steps that take at least this long together",
       .excludes = "steps"},
      {.name = "max-steps",
       .group = kSteps,
       .type = whole(of_rule(&StoppingRule::max_samples), 1, kMaxSteps),
       .documentation = "measure at most this many steps",
       .excludes = "steps"},
      {.name = "until",
       .group = kSteps,
       .type = typed("REL", of_rule(&StoppingRule::relative_standard_error), relative_error),
       .documentation = "also measure until the mean step time has this relative standard error, such as 1%, for up to "
                        "60 seconds or twice --min-time",
       .column = "until_relative_error",
       .excludes = "steps"},
      {.name = "sync",
       .group = kSteps,
       .type = word("step|phase", &Method::sync),
       .documentation = "synchronize with the device after each step or phase",
       .column = "sync"},
      {.name = "timing",
       .group = kSteps,
       .type = word("sync|hot|cold", &Method::timing),
       .documentation =
           "how to time steps: sync waits for the device after each step, hot after a batch of steps, cold flushes the "
           "caches before each step; hot and cold enqueue all work before execution starts and require a single-phase "
           "step that does not synchronize",
       .column = "timing"},
      {.name = "passes",
       .group = kRun,
       .type = passes(),
       .documentation = "passes to run: any of verify, time, memory, trace, ops, counters, predict",
       .column = "passes"},
  };
}

std::vector<Setting> settings_of_processes() {
  using enum SettingGroup;
  return {
      {.name = "no-verify",
       .group = kSteps,
       .type = no_verify(),
       .documentation = "skip the comparison with a reference",
       .in_suites = false},
      {.name = "seed",
       .group = kWorker,
       .type = whole(&Method::seed, 0, std::numeric_limits<std::int64_t>::max()),
       .documentation = "random seed for parameters and batches",
       .column = "seed",
       .is_axis = true},
      {.name = "timeout",
       .group = kWorker,
       .type = time_limit(&Method::timeout_s),
       .documentation = "kill a worker that makes no progress for this long",
       .in_suites = false,
       .is_limit = true},
      {.name = "max-pass-time",
       .group = kRun,
       .type = time_limit(&Method::max_pass_time_s),
       .documentation =
           "skip a run if the steps of one of its passes would take longer, judged by the first steps, or if one of "
           "these takes longer itself; the run is recorded as skipped with the time of a step",
       .default_note = "suites set it",
       .is_limit = true},
      {.name = "host-memory",
       .group = kWorker,
       .type = size(&Method::host_memory_bytes),
       .documentation = "kill a worker that, with the processes it started, uses more host memory, such as 8Gi",
       .in_suites = false,
       .is_limit = true},
      {.name = "fresh",
       .group = kRun,
       .type = flag(&Method::fresh),
       .documentation = "start a new process for every run"},
      {.name = "wrap",
       .group = kWorker,
       .type = command(&Method::wrap),
       .documentation = "command to prefix to each worker, such as \"gdb --args\"",
       .in_suites = false},
  };
}

std::vector<Setting> settings_of_observation() {
  using enum SettingGroup;
  return {
      {.name = "observed-steps",
       .group = kObserved,
       .type = whole(of_observation(&Observation::steps), 1, kMaxSteps),
       .documentation = "measured steps of the memory, trace, ops and counters passes, at most --steps"},
      {.name = "trace-detail",
       .group = kRecords,
       .type = trace_detail(),
       .documentation = "additional records: memsets, synchronization, overhead (of CUPTI), api (all CUDA API calls: "
                        "slow), shapes (of operators), or none",
       .default_note = "of programs: shapes"},
      {.name = "trace-memory",
       .group = kRecords,
       .type = size(of_observation(&Observation::memory_bytes)),
       .documentation = "memory for buffered events; events that do not fit are counted as dropped records",
       .in_suites = false},
      {.name = "counter-ranges",
       .group = kRecords,
       .type = word("phase|scope|kernel", &Method::counter_ranges),
       .documentation = "count hardware events by phase, or also by scope (about 2 ms each) or by kernel (about 1 ms "
                        "each; one rank, no CUDA graphs)",
       .omits_default = true},
      {.name = "stacks",
       .group = kRecords,
       .type = word("none|python", &Method::stacks),
       .documentation = "python: record the Python stack of each operator (ops pass) and launch (trace pass)",
       .omits_default = true},
      {.name = "kernel-classes",
       .group = kRecords,
       .type = existing_file(of_observation(&Observation::kernel_classes)),
       .documentation = "TOML file with additional kernel class patterns: [[pattern]] with contains and class",
       .in_suites = false},
  };
}

}  // namespace

std::string Setting::key() const {
  std::string key = name;
  std::ranges::replace(key, '-', '_');
  return key;
}

std::string Setting::field() const { return key() + type.unit; }

std::string Setting::help() const {
  if (type.default_text.empty()) return documentation;
  return documentation + " [" + type.default_text + (default_note.empty() ? "" : "; " + default_note) + "]";
}

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = [] {
    std::vector<Setting> list = settings_of_steps();
    for (const auto& more : {settings_of_processes(), settings_of_observation()})
      list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}

const Setting& setting(std::string_view name) {
  const auto found = std::ranges::find(settings(), name, &Setting::name);
  if (found == settings().end()) throw std::logic_error("there is no setting " + quote(name));
  return *found;
}

std::vector<Pass> passes_from(const std::string& option, const std::string& text) {
  std::vector<std::string> given;
  const std::vector<std::string> known = names_of_passes(kExecutionOrder);
  for (const std::string& item : split(text, ',')) {
    given.push_back(trim(item));
    if (!contains(known, given.back()))
      throw UsageError(option + " takes a list of the passes " + join(known, ", ") + ", not " + quote(text));
  }
  std::vector<Pass> passes;
  std::ranges::copy_if(kExecutionOrder, std::back_inserter(passes),
                       [&](Pass pass) { return contains(given, to_string(pass)); });
  return passes;
}

}  // namespace kymo::measure
