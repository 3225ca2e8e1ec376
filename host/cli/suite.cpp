// SPDX-License-Identifier: Apache-2.0
#include "cli/suite.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/json.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "cli/run_options.hpp"
#include "measure/plan.hpp"

namespace kymo::cli {
namespace {

const std::vector<std::string> kMethodKeys{
    "ranks", "device", "warmup", "steps",  "min_time",       "max_steps",    "until", "repeat",
    "fresh", "timing", "sync",   "passes", "observed_steps", "trace_detail", "seed",  "max_pass_time"};

std::vector<std::string> with_method_keys(std::vector<std::string> keys) {
  append_range(keys, kMethodKeys);
  return keys;
}

/// A table of the file and its location, for messages.
struct Location {
  const Json& table;
  std::string where;

  [[noreturn]] void fail(const std::string& reason) const { throw UsageError(where + ": " + reason); }
  const Json* find(const char* key) const {
    const auto entry = table.find(key);
    return entry == table.end() ? nullptr : &*entry;
  }
  void check_keys(const std::vector<std::string>& known) const {
    if (!table.is_object()) fail("must be a table");
    for (const auto& [key, value] : table.items()) {
      if (!contains(known, key)) fail("unknown key " + quote(key) + suggestion(key, known));
    }
  }
};

/// A scalar in the form used on the command line.
std::string scalar_text(const Location& location, const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number()) return value.dump();
  location.fail(quote(key) + " must be a string, a number or a boolean");
}

std::int64_t whole(const Location& location, const std::string& key, const Json& value, std::int64_t low,
                   std::int64_t high) {
  if (!value.is_number_integer() && !value.is_string())
    location.fail(quote(key) + " must be a whole number of at least " + std::to_string(low));
  return whole_number(location.where + ": " + quote(key), scalar_text(location, key, value), low, high);
}

double seconds(const Location& location, const std::string& key, const Json& value) {
  return real_number(location.where + ": " + quote(key), scalar_text(location, key, value), 0.001, 1e9);
}

/// One number or a list of numbers.
std::vector<std::int64_t> whole_list(const Location& location, const std::string& key, const Json& value,
                                     std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> numbers;
  if (value.is_array()) {
    for (const Json& item : value) numbers.push_back(whole(location, key, item, low, high));
  } else {
    numbers.push_back(whole(location, key, value, low, high));
  }
  if (numbers.empty()) location.fail(quote(key) + " must not be empty");
  return numbers;
}

std::string string_value(const Location& location, const std::string& key, const Json& value) {
  if (!value.is_string()) location.fail(quote(key) + " must be a string");
  return value.get<std::string>();
}

bool boolean(const Location& location, const std::string& key, const Json& value) {
  if (!value.is_boolean()) location.fail(quote(key) + " must be true or false");
  return value.get<bool>();
}

std::vector<measure::Pass> passes(const Location& location, const Json& value) {
  std::vector<std::string> words;
  if (!value.is_array()) location.fail("'passes' must be a list such as [\"verify\", \"time\"]");
  for (const Json& item : value) words.push_back(string_value(location, "passes", item));
  return passes_from(location.where + ": 'passes'", join(words, ","));
}

Axis axis(const Location& location, const std::string& name, const Json& value) {
  if (value.is_string()) return axis_from(name + "=" + value.get<std::string>());
  if (!value.is_array() || value.empty())
    location.fail("axis " + quote(name) + " must be a list of values or a range such as \"1..8*2\"");
  Axis result{name, {}};
  for (const Json& item : value) result.items.push_back(scalar_text(location, name, item));
  return result;
}

/// A parameter is either fixed or an axis: a later definition replaces an earlier one of either kind.
void forget(CaseSpec& spec, const std::string& parameter) {
  std::erase_if(spec.set, [&](const auto& entry) { return entry.first == parameter; });
  std::erase_if(spec.axes, [&](const Axis& entry) { return entry.parameter == parameter; });
}

void apply_parameters(const Location& location, CaseSpec& spec) {
  if (const Json* set = location.find("set")) {
    if (!set->is_object()) location.fail("'set' must be a table");
    for (const auto& [name, value] : set->items()) {
      forget(spec, name);
      spec.set.emplace_back(name, scalar_text(location, name, value));
    }
  }
  if (const Json* axes = location.find("axes")) {
    if (!axes->is_object()) location.fail("'axes' must be a table");
    for (const auto& [name, value] : axes->items()) {
      if (location.find("set") != nullptr && location.find("set")->contains(name))
        location.fail("parameter " + quote(name) + " is in both 'set' and 'axes'");
      forget(spec, name);
      spec.axes.push_back(axis(location, name, value));
    }
  }
}

void apply_method(const Location& location, CaseSpec& spec) {
  measure::Method& method = spec.method;
  for (const char* key : {"min_time", "max_steps", "until"}) {
    if (location.find("steps") != nullptr && location.find(key) != nullptr)
      location.fail("'steps' and " + quote(key) + " are mutually exclusive");
  }
  if (const Json* value = location.find("ranks")) spec.ranks = whole_list(location, "ranks", *value, 1, kMaxRanks);
  if (const Json* value = location.find("device"))
    spec.device = device_choice_from(location.where + ": 'device'", string_value(location, "device", *value));
  if (const Json* value = location.find("warmup")) spec.warmups = whole_list(location, "warmup", *value, 0, kMaxSteps);
  if (const Json* value = location.find("seed")) {
    const auto seeds = whole_list(location, "seed", *value, 0, std::numeric_limits<std::int64_t>::max());
    spec.seeds.assign(seeds.begin(), seeds.end());
  }
  if (const Json* value = location.find("repeat"))
    spec.repeat = whole(location, "repeat", *value, 1, std::numeric_limits<std::int64_t>::max());
  if (const Json* value = location.find("fresh")) method.fresh = boolean(location, "fresh", *value);
  if (const Json* value = location.find("passes")) method.passes = passes(location, *value);
  if (const Json* value = location.find("steps")) {
    method.steps = whole(location, "steps", *value, 1, kMaxSteps);
    method.until.reset();
  }
  if (const Json* value = location.find("observed_steps"))
    method.observation.steps = whole(location, "observed_steps", *value, 1, kMaxSteps);
  if (const Json* value = location.find("trace_detail"))
    add_trace_detail(location.where + ": 'trace_detail'", string_value(location, "trace_detail", *value),
                     method.observation);
  if (const Json* value = location.find("max_pass_time"))
    method.max_pass_time_s = seconds(location, "max_pass_time", *value);
  std::optional<double> min_time_s, until;
  std::optional<std::int64_t> max_steps;
  if (const Json* value = location.find("min_time"))
    min_time_s = min_time(location.where + ": 'min_time'", scalar_text(location, "min_time", *value));
  if (const Json* value = location.find("max_steps")) max_steps = whole(location, "max_steps", *value, 1, kMaxSteps);
  if (const Json* value = location.find("until"))
    until = relative_error(location.where + ": 'until'", scalar_text(location, "until", *value));
  change_rule(method, min_time_s, max_steps, until);
  try {
    if (const Json* value = location.find("timing"))
      method.timing = enum_from<measure::Timing>(string_value(location, "timing", *value));
    if (const Json* value = location.find("sync"))
      method.sync = enum_from<measure::Sync>(string_value(location, "sync", *value));
  } catch (const UsageError& error) {
    location.fail(error.what());
  }
}

/// Validates every profile of a case, so that errors in any of them are reported, and applies the selected one.
void apply_profile(const Location& location, CaseSpec& spec, const std::string& profile,
                   std::set<std::string>& profiles) {
  const Json* table = location.find("profile");
  if (table == nullptr) return;
  if (!table->is_object()) location.fail("'profile' must be a table of tables");
  const CaseSpec plain = spec;
  for (const auto& [name, value] : table->items()) {
    const Location inner{value, location.where + ", profile " + quote(name)};
    inner.check_keys(with_method_keys({"set", "axes"}));
    profiles.insert(name);
    CaseSpec changed = plain;
    apply_method(inner, changed);
    apply_parameters(inner, changed);
    if (name == profile) spec = std::move(changed);
  }
}

bool is_pattern(const std::string& workload) { return workload.find('*') != std::string::npos; }

/// The text that '*' stands for, or nothing if the workload does not match.
std::optional<std::string> match(std::string_view pattern, std::string_view workload) {
  const std::string_view prefix = pattern.substr(0, pattern.find('*'));
  const std::string_view suffix = pattern.substr(prefix.size() + 1);
  if (workload.size() < prefix.size() + suffix.size() || !workload.starts_with(prefix) || !workload.ends_with(suffix))
    return std::nullopt;
  return std::string(workload.substr(prefix.size(), workload.size() - prefix.size() - suffix.size()));
}

void apply_pattern(const Location& location, CaseSpec& spec) {
  const Json* except = location.find("except");
  if (!is_pattern(spec.workload)) {
    if (except != nullptr) location.fail("'except' requires a '*' in 'workload'");
    return;
  }
  for (const std::string* text : {&spec.workload, &spec.name}) {
    if (std::ranges::count(*text, '*') != 1)
      location.fail("if 'workload' contains '*', 'name' and 'workload' must contain it once");
  }
  if (except == nullptr) return;
  if (!except->is_array()) location.fail("'except' must be a list of workloads");
  for (const Json& item : *except) {
    spec.except.push_back(string_value(location, "except", item));
    if (!match(spec.workload, spec.except.back()))
      location.fail("'except': " + quote(spec.except.back()) + " does not match " + quote(spec.workload));
  }
}

CaseSpec parse_case(const Location& location, const CaseSpec& defaults, const std::string& profile,
                    std::set<std::string>& profiles) {
  location.check_keys(with_method_keys({"name", "workload", "except", "set", "axes", "profile"}));
  CaseSpec spec = defaults;
  for (const char* key : {"name", "workload"}) {
    const Json* value = location.find(key);
    if (value == nullptr || !value->is_string() || value->get<std::string>().empty())
      location.fail(quote(key) + " is missing or not a string");
  }
  spec.name = location.find("name")->get<std::string>();
  spec.workload = location.find("workload")->get<std::string>();
  const Location named{location.table, location.where + " " + quote(spec.name)};
  apply_pattern(named, spec);
  apply_method(named, spec);
  apply_parameters(named, spec);
  apply_profile(named, spec, profile, profiles);
  return spec;
}

/// Reads the limits that the suite and its profiles set for all cases: `max_time`, and `max_pass_time` of a profile,
/// which replaces that of the defaults.
void apply_limits(const Location& top, const std::string& profile, Suite& suite, CaseSpec& defaults,
                  std::set<std::string>& profiles) {
  if (const Json* value = top.find("max_time")) suite.max_time_s = seconds(top, "max_time", *value);
  const Json* tables = top.find("profile");
  if (tables == nullptr) return;
  if (!tables->is_object()) top.fail("'profile' must be a table of tables");
  for (const auto& [name, table] : tables->items()) {
    const Location location{table, top.where + ": [profile." + name + "]"};
    location.check_keys({"max_time", "max_pass_time"});
    profiles.insert(name);
    const Json* all = location.find("max_time");
    if (all != nullptr) suite.max_time_of_profiles_s[name] = seconds(location, "max_time", *all);
    const Json* pass = location.find("max_pass_time");
    const double pass_s = pass == nullptr ? 0 : seconds(location, "max_pass_time", *pass);
    if (name != profile) continue;
    if (all != nullptr) suite.max_time_s = suite.max_time_of_profiles_s[name];
    if (pass != nullptr) defaults.method.max_pass_time_s = pass_s;
  }
}

std::filesystem::path suites_folder() { return installation().share / "reports"; }

}  // namespace

Suite parse_suite(std::string_view toml, const std::string& name, const std::string& origin,
                  const std::string& profile) {
  const Json json = parse_toml(toml, origin);
  const Location top{json, origin};
  top.check_keys({"title", "max_time", "profile", "defaults", "case"});
  Suite suite{.name = name,
              .title = top.find("title") == nullptr ? "" : string_value(top, "title", *top.find("title")),
              .cases = {},
              .profiles = {},
              .max_time_of_profiles_s = {}};
  CaseSpec defaults;
  defaults.suite = name;
  if (const Json* table = top.find("defaults")) {
    const Location location{*table, origin + ": [defaults]"};
    location.check_keys(kMethodKeys);
    apply_method(location, defaults);
  }
  std::set<std::string> profiles;
  apply_limits(top, profile, suite, defaults, profiles);
  const Json* cases = top.find("case");
  if (cases == nullptr || !cases->is_array() || cases->empty()) top.fail("contains no [[case]]");
  std::set<std::string> names;
  for (const Json& table : *cases) {
    const Location location{table, origin + ": case " + std::to_string(suite.cases.size() + 1)};
    suite.cases.push_back(parse_case(location, defaults, profile, profiles));
    if (!names.insert(suite.cases.back().name).second)
      location.fail("case " + quote(suite.cases.back().name) + " is defined twice");
  }
  suite.profiles.assign(profiles.begin(), profiles.end());
  if (!profile.empty() && !profiles.contains(profile)) {
    throw UsageError("suite " + quote(name) + " has no profile " + quote(profile) +
                     suggestion(profile, suite.profiles));
  }
  return suite;
}

std::vector<CaseSpec> expand_patterns(const std::vector<CaseSpec>& cases,
                                      const std::function<std::vector<std::string>()>& workloads) {
  std::vector<CaseSpec> expanded;
  for (const CaseSpec& spec : cases) {
    if (!is_pattern(spec.workload)) {
      expanded.push_back(spec);
      continue;
    }
    const std::size_t before = expanded.size();
    for (const std::string& workload : workloads()) {
      const std::optional<std::string> matched = match(spec.workload, workload);
      if (!matched || contains(spec.except, workload)) continue;
      expanded.push_back(spec);
      expanded.back().workload = workload;
      expanded.back().name.replace(spec.name.find('*'), 1, *matched);
    }
    if (expanded.size() == before) {
      throw UsageError("suite " + quote(spec.suite) + ", case " + quote(spec.name) + ": no workload matches " +
                       quote(spec.workload) + "; see `kymo list`");
    }
  }
  std::set<std::string> names;
  for (const CaseSpec& spec : expanded) {
    if (!names.insert(spec.name).second)
      throw UsageError("suite " + quote(spec.suite) + ": case " + quote(spec.name) + " is defined twice");
  }
  return expanded;
}

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  std::error_code ignored;  // a missing folder contains no suites
  for (const auto& entry : std::filesystem::directory_iterator(suites_folder(), ignored)) {
    if (std::filesystem::exists(entry.path() / "suite.toml", ignored))
      names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

Suite find_suite(const std::string& name_or_file, const std::string& profile) {
  if (name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".toml")) {
    const std::filesystem::path file(name_or_file);
    if (!std::filesystem::is_regular_file(file)) throw UsageError("no such suite file: " + quote(name_or_file));
    const std::string stem = file.stem() == "suite" ? std::filesystem::absolute(file).parent_path().filename().string()
                                                    : file.stem().string();
    return parse_suite(read_file(file), stem, name_or_file, profile);
  }
  const std::vector<std::string> names = suite_names();
  if (!contains(names, name_or_file)) {
    throw UsageError("unknown suite " + quote(name_or_file) + suggestion(name_or_file, names));
  }
  const std::filesystem::path file = suites_folder() / name_or_file / "suite.toml";
  return parse_suite(read_file(file), name_or_file, "suite " + quote(name_or_file), profile);
}

}  // namespace kymo::cli
