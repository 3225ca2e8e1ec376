// SPDX-License-Identifier: Apache-2.0
#include "plan/suite.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/json.hpp"
#include "base/keys.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "measure/settings.hpp"

namespace kymo::plan {
namespace {

using measure::Setting;

/// A scalar in the form used on the command line.
std::string text_of(const Keys& keys, const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean() || value.is_number()) return value.dump();
  keys.reject(key, "a string, a number or a boolean");
}

std::int64_t whole(const Keys& keys, const std::string& key, const Json& value, std::int64_t low, std::int64_t high) {
  return whole_number(keys.origin(key), text_of(keys, key, value), low, high);
}

double seconds(const Keys& keys, const std::string& key, const Json& value) {
  return real_number(keys.origin(key), text_of(keys, key, value), 0.001, 1e9);
}

/// One value or a list of values.
std::vector<Json> list_of(const Keys& keys, const std::string& key, const Json& value) {
  if (!value.is_array()) return {value};
  if (value.empty()) keys.fail(quote(key) + " must not be empty");
  return value.get<std::vector<Json>>();
}

Axis axis(const Keys& keys, const std::string& name, const Json& value) {
  if (value.is_string()) return axis_from(name + "=" + value.get<std::string>());
  if (!value.is_array() || value.empty())
    keys.fail("axis " + quote(name) + " must be a list of values or a range such as \"1..8*2\"");
  Axis result{name, {}};
  for (const Json& item : value) result.items.push_back(text_of(keys, name, item));
  return result;
}

/// A parameter is either fixed or an axis: a later definition replaces an earlier one of either kind.
void forget(CaseSpec& spec, const std::string& parameter) {
  std::erase_if(spec.set, [&](const auto& entry) { return entry.first == parameter; });
  std::erase_if(spec.axes, [&](const Axis& entry) { return entry.parameter == parameter; });
}

void apply_parameters(Keys& keys, CaseSpec& spec) {
  const Json* set = keys.find_table("set");
  const Json* axes = keys.find_table("axes");
  if (set != nullptr) {
    for (const auto& [name, value] : set->items()) {
      forget(spec, name);
      spec.set.emplace_back(name, text_of(keys, name, value));
    }
  }
  if (axes == nullptr) return;
  for (const auto& [name, value] : axes->items()) {
    if (set != nullptr && set->contains(name)) keys.fail("parameter " + quote(name) + " is in both 'set' and 'axes'");
    forget(spec, name);
    spec.axes.push_back(axis(keys, name, value));
  }
}

/// Several values make a case each.
void apply_setting(Keys& keys, const Setting& setting, const Json& value, CaseSpec& spec) {
  const std::string key = setting.key();
  if (!setting.excludes.empty() && keys.find(setting.excludes) != nullptr)
    keys.fail(quote(setting.excludes) + " and " + quote(key) + " are mutually exclusive");
  const auto parse = [&](const std::string& text) { return setting.type.parse(keys.origin(key), text); };
  std::vector<measure::MethodChange> changes;
  if (setting.type.is_list) {
    if (!value.is_array()) keys.reject(key, "a list");
    std::vector<std::string> words;
    for (const Json& item : value) words.push_back(text_of(keys, key, item));
    changes.push_back(parse(join(words, ",")));
  } else {
    for (const Json& item : setting.is_axis ? list_of(keys, key, value) : std::vector{value})
      changes.push_back(parse(text_of(keys, key, item)));
  }
  spec.method_axes.erase(setting.name);
  if (changes.size() == 1)
    changes.front()(spec.method);
  else
    spec.method_axes[setting.name] = std::move(changes);
}

void apply_method(Keys& keys, CaseSpec& spec) {
  if (const Json* value = keys.find("ranks")) {
    spec.ranks.clear();
    for (const Json& item : list_of(keys, "ranks", *value))
      spec.ranks.push_back(item == "gpus" ? kOnePerGpu : whole(keys, "ranks", item, 1, kMaxRanks));
  }
  if (const Json* value = keys.find("device"))
    spec.device = device_choice_from(keys.origin("device"), text_of(keys, "device", *value));
  if (const Json* value = keys.find("repeat"))
    spec.repeat = whole(keys, "repeat", *value, 1, std::numeric_limits<std::int64_t>::max());
  for (const Setting& setting : measure::settings()) {
    if (!setting.in_suites) continue;
    if (const Json* value = keys.find(setting.key())) apply_setting(keys, setting, *value, spec);
  }
}

/// Validates every profile of a case, so that errors in any of them are reported, and applies the selected one.
void apply_profile(Keys& keys, CaseSpec& spec, const std::string& profile, std::set<std::string>& profiles) {
  const Json* table = keys.find_table("profile");
  if (table == nullptr) return;
  const CaseSpec plain = spec;
  for (const auto& [name, value] : table->items()) {
    Keys inner(value, keys.location() + ", profile " + quote(name));
    profiles.insert(name);
    CaseSpec changed = plain;
    apply_method(inner, changed);
    apply_parameters(inner, changed);
    inner.finish();
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

void apply_pattern(Keys& keys, CaseSpec& spec) {
  const Json* except = keys.find("except");
  if (!is_pattern(spec.workload)) {
    if (except != nullptr) keys.fail("'except' requires a '*' in 'workload'");
    return;
  }
  for (const std::string* text : {&spec.workload, &spec.name}) {
    if (std::ranges::count(*text, '*') != 1)
      keys.fail("if 'workload' contains '*', 'name' and 'workload' must contain it once");
  }
  if (except == nullptr) return;
  if (!except->is_array()) keys.reject("except", "a list of workloads");
  for (const Json& item : *except) {
    spec.except.push_back(text_of(keys, "except", item));
    if (!match(spec.workload, spec.except.back()))
      keys.fail("'except': " + quote(spec.except.back()) + " does not match " + quote(spec.workload));
  }
}

/// True unless the case states the profiles that have it, and `profile` is none of them.
bool is_in_profile(Keys& keys, const std::string& profile, std::set<std::string>& profiles) {
  const Json* value = keys.find("profiles");
  if (value == nullptr) return true;
  std::vector<std::string> names;
  for (const Json& item : list_of(keys, "profiles", *value)) names.push_back(text_of(keys, "profiles", item));
  profiles.insert(names.begin(), names.end());
  return contains(names, profile);
}

CaseSpec parse_case(Keys& keys, const CaseSpec& defaults, const std::string& profile, std::set<std::string>& profiles) {
  CaseSpec spec = defaults;
  spec.name = keys.non_empty_text("name");
  keys.set_location(keys.location() + " " + quote(spec.name));
  spec.workload = keys.non_empty_text("workload");
  apply_pattern(keys, spec);
  apply_method(keys, spec);
  apply_parameters(keys, spec);
  apply_profile(keys, spec, profile, profiles);
  keys.finish();
  return spec;
}

/// Reads the limits that the suite and its profiles set for all cases: `max_time`, and `max_pass_time` of a profile,
/// which replaces that of the defaults.
void apply_limits(Keys& top, const std::string& profile, Suite& suite, CaseSpec& defaults,
                  std::set<std::string>& profiles) {
  if (const Json* value = top.find("max_time")) suite.max_time_s = seconds(top, "max_time", *value);
  const Json* tables = top.find_table("profile");
  if (tables == nullptr) return;
  for (const auto& [name, table] : tables->items()) {
    Keys keys(table, top.location() + ": [profile." + name + "]");
    profiles.insert(name);
    const Json* all = keys.find("max_time");
    if (all != nullptr) suite.max_time_of_profiles_s[name] = seconds(keys, "max_time", *all);
    CaseSpec changed = defaults;
    const Setting& pass = measure::setting("max-pass-time");
    if (const Json* value = keys.find(pass.key())) apply_setting(keys, pass, *value, changed);
    keys.finish();
    if (name != profile) continue;
    if (all != nullptr) suite.max_time_s = suite.max_time_of_profiles_s[name];
    defaults = std::move(changed);
  }
}

std::filesystem::path suites_folder() { return installation().share / "reports"; }

}  // namespace

Suite parse_suite(std::string_view toml, const std::string& name, const std::string& origin,
                  const std::string& profile) {
  const Json json = parse_toml(toml, origin);
  Keys top(json, origin);
  Suite suite{
      .name = name, .title = top.text_or("title", ""), .cases = {}, .profiles = {}, .max_time_of_profiles_s = {}};
  CaseSpec defaults;
  defaults.suite = name;
  if (const Json* table = top.find("defaults")) {
    Keys keys(*table, origin + ": [defaults]");
    apply_method(keys, defaults);
    keys.finish();
  }
  std::set<std::string> profiles;
  apply_limits(top, profile, suite, defaults, profiles);
  const Json* cases = top.find_array("case");
  top.finish();
  if (cases == nullptr || cases->empty()) top.fail("contains no [[case]]");
  std::set<std::string> names;
  std::size_t position = 0;
  for (const Json& table : *cases) {
    Keys keys(table, origin + ": case " + std::to_string(++position));
    const bool is_in_suite = is_in_profile(keys, profile, profiles);
    CaseSpec spec = parse_case(keys, defaults, profile, profiles);
    if (!names.insert(spec.name).second) keys.fail("case " + quote(spec.name) + " is defined twice");
    if (is_in_suite) suite.cases.push_back(std::move(spec));
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

}  // namespace kymo::plan
