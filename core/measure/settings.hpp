// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/plan.hpp"

/// The settings of a method that users choose, as one list. The options of the command line and their help, the keys of
/// suites, the JSON of a method and columns of the table `run` follow from it.
namespace kymo::measure {

/// Sets a value that was parsed before.
using MethodChange = std::function<void(Method&)>;

/// How the value of a setting is written, read and stored.
struct SettingType {
  std::string syntax;                   ///< of the option's value, for help; empty for a flag
  std::string unit = {};                ///< end of the name of its JSON field
  std::string default_text = {};        ///< empty if there is no default to show
  std::vector<std::string> words = {};  ///< of which a list consists
  bool is_list = false;                 ///< in suites; in a text, separated by commas
  /// Converts a text. `origin` names the option or key in messages. Throws UsageError.
  std::function<MethodChange(const std::string& origin, const std::string& text)> parse = {};
  /// Empty if the value has no field of its own: it belongs to an object within the method.
  std::function<Json(const Method&)> to_json = {};
  std::function<void(Method&, const Json&, const std::string& field)> from_json = {};
  /// As in a database; nothing for NULL.
  std::function<std::optional<Value>(Method)> stored = {};
};

/// The options that commands have in common.
enum class SettingGroup {
  kWorker,    ///< limits of the worker processes
  kSteps,     ///< the steps of a run
  kRun,       ///< the passes of a run and their processes
  kObserved,  ///< the steps of the memory, trace, ops and counters passes
  kRecords,   ///< what these passes record
};

struct Setting {
  std::string name;  ///< of the option, without "--"
  SettingGroup group;
  SettingType type;
  std::string documentation;
  std::string default_note = {};  ///< added to the default in help
  std::string column = {};        ///< of the table `run`; empty: not stored
  std::string excludes = {};      ///< name of a setting that it cannot be combined with
  bool in_suites = true;
  bool is_axis = false;        ///< suites may list several values, each of which makes a case
  bool is_limit = false;       ///< of a run, and does not change what it measures
  bool omits_default = false;  ///< in JSON: keys of runs that were stored before the setting existed stay the same

  std::string option() const { return "--" + name; }
  std::string key() const;    ///< in suites
  std::string field() const;  ///< in the JSON of a method
  std::string help() const;   ///< the documentation and, in brackets, the default
};

/// The order is that of the fields in JSON, of which keys of stored runs are hashes.
const std::vector<Setting>& settings();
const Setting& setting(std::string_view name);

/// Parses a list of passes; returns them in execution order.
std::vector<Pass> passes_from(const std::string& option, const std::string& text);

}  // namespace kymo::measure
