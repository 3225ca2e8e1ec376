// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/plan.hpp"

/// What is known of a plugin and its workloads without loading it.
namespace kymo::catalog {

inline constexpr const char* kNameRule =
    "a name is a lowercase letter followed by up to 63 lowercase letters, digits and '_'";

/// Names are used in SQL, file names, C++ and the command line, so they are restricted to simple characters.
constexpr bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 64 || text[0] < 'a' || text[0] > 'z') return false;
  for (const char c : text) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

enum class ParameterType { kInt, kReal, kBool, kText, kChoice };
constexpr auto names_of(ParameterType) {
  using enum ParameterType;
  return enum_names<ParameterType>(
      "parameter type", {{kInt, "int"}, {kReal, "real"}, {kBool, "bool"}, {kText, "text"}, {kChoice, "choice"}});
}

struct Parameter {
  std::string name;
  ParameterType type = ParameterType::kText;
  std::string unit;
  std::string documentation;
  measure::Value default_value;
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::vector<std::string> choices;
  std::vector<std::string> axis;  ///< default values of an axis
  std::string title{};            ///< how titles of runs show the value, with {} for the value; empty: they do not
  bool titled_at_default = false;
  bool is_setting = false;  ///< runs are compared only if they agree on it
};

struct Workload {
  std::string name;
  std::string documentation;
  std::vector<Parameter> parameters;
  std::vector<std::string> phases;
  bool runs_on_cpu = true;
  bool runs_on_cuda = false;
  int min_ranks = 1;
  int max_ranks = 0;  ///< 0 = no limit
  bool asynchronous_step = false;
  std::string title;   ///< begins the titles of runs
  std::string family;  ///< workloads that reports compare, or empty
  int family_order = 0;
};

/// Content of the ELF note, or of the description of a Python file, and identity of the file.
struct PluginFile {
  std::filesystem::path file;  ///< absolute, with symbolic links resolved
  std::string sha256;
  std::map<std::string, std::string> libraries;  ///< libraries loaded from the plugin's folder: SHA-256 by file name
  int abi_major = 0;
  int abi_minor = 0;
  std::string framework;
  std::string framework_version;
  std::string cuda_version;
  std::string compiler;  ///< of a Python file: implementation and version of the interpreter
  std::string cxx_abi;
  std::filesystem::path interpreter{};  ///< runs a Python file; empty for a shared library
  std::filesystem::path torch{};        ///< of a Python file that uses it: directory of the torch package
};

struct Plugin {
  PluginFile file;
  std::string name;
  std::string version;
  std::vector<Workload> workloads;
};

}  // namespace kymo::catalog
