// SPDX-License-Identifier: Apache-2.0
#define BOOST_DLL_USE_STD_FS

#include <kymo_plugin.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <cstddef>
#include <cstring>
#include <list>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "catalog/plugin_file.hpp"

namespace kymo::catalog {
namespace {

using boost::dll::shared_library;
namespace load_mode = boost::dll::load_mode;

/// Loads a library for the lifetime of the process: threads, device code and exit handlers of a plugin's libraries may
/// run until the process ends, so no library is ever unloaded.
const shared_library& load_forever(const std::filesystem::path& file) {
  static std::mutex mutex;
  static auto& libraries = *new std::list<shared_library>;
  shared_library library(file, load_mode::rtld_now | load_mode::rtld_local);
  const std::lock_guard lock(mutex);
  return libraries.emplace_back(std::move(library));
}

// A table that exceeds these limits is treated as damaged. They are far above practical values.
constexpr std::uint32_t kMaxItems = 1024;
constexpr std::size_t kMaxTextBytes = 64 << 10;

std::string text_of(const char* text, const std::string& what) {
  if (!text) throw Error(what + " is missing (NULL)");
  if (strnlen(text, kMaxTextBytes + 1) > kMaxTextBytes)
    throw Error(what + " is longer than " + std::to_string(kMaxTextBytes) + " bytes");
  return text;
}

void check_size(std::uint32_t stated, std::size_t needed, const std::string& what) {
  if (stated < needed) {
    throw Error(what + " declares " + std::to_string(stated) + " bytes, but " + std::to_string(needed) +
                " are required: set its `size` field");
  }
}

std::vector<std::string> texts_of(const char* const* texts, std::uint32_t count, const std::string& what) {
  if (count > kMaxItems)
    throw Error(what + " has " + std::to_string(count) + " entries; only " + std::to_string(kMaxItems) +
                " are allowed");
  if (count > 0 && !texts) throw Error(what + " is missing (NULL)");
  std::vector<std::string> result;
  for (std::uint32_t i = 0; i < count; ++i) result.push_back(text_of(texts[i], what));
  return result;
}

measure::Value default_of(const kymo_parameter& from, const std::string& what) {
  if (from.default_value.type != from.type) throw Error(what + " has a default value of a different type");
  switch (from.type) {
    case KYMO_INT:
      return from.default_value.integer;
    case KYMO_REAL:
      return from.default_value.real;
    case KYMO_BOOL:
      return from.default_value.boolean != 0;
    default:
      return text_of(from.default_value.text, "the default of " + what);
  }
}

ParameterType type_of(std::uint32_t type, const std::string& what) {
  switch (type) {
    case KYMO_INT:
      return ParameterType::kInt;
    case KYMO_REAL:
      return ParameterType::kReal;
    case KYMO_BOOL:
      return ParameterType::kBool;
    case KYMO_TEXT:
      return ParameterType::kText;
    case KYMO_CHOICE:
      return ParameterType::kChoice;
    default:
      throw Error(what + " has the unknown type " + std::to_string(type));
  }
}

Parameter parameter_from(const kymo_parameter& from, const std::string& workload) {
  check_size(from.size, sizeof(kymo_parameter), "a parameter of workload " + quote(workload));
  Parameter to;
  to.name = text_of(from.name, "the name of a parameter of workload " + quote(workload));
  const std::string what = "parameter " + quote(to.name) + " of workload " + quote(workload);
  to.type = type_of(from.type, what);
  to.unit = text_of(from.unit, "the unit of " + what);
  to.documentation = text_of(from.documentation, "the documentation of " + what);
  to.default_value = default_of(from, what);
  if (from.has_minimum) to.minimum = from.minimum;
  if (from.has_maximum) to.maximum = from.maximum;
  to.choices = texts_of(from.choices, from.choice_count, "the choices of " + what);
  to.axis = texts_of(from.axis, from.axis_count, "the axis of " + what);
  if (from.title) to.title = text_of(from.title, "the title of " + what);
  to.titled_at_default = (from.flags & KYMO_TITLE_AT_DEFAULT) != 0;
  to.is_setting = (from.flags & KYMO_SETTING) != 0;
  return to;
}

std::vector<Parameter> parameters_from(const kymo_workload& from, const std::string& workload) {
  if (from.parameter_count > kMaxItems || (from.parameter_count > 0 && !from.parameters)) {
    throw Error("workload " + quote(workload) + " has an invalid parameter list");
  }
  std::vector<Parameter> result;
  const auto* at = reinterpret_cast<const char*>(from.parameters);
  for (std::uint32_t i = 0; i < from.parameter_count; ++i) {
    const auto& parameter = *reinterpret_cast<const kymo_parameter*>(at);
    result.push_back(parameter_from(parameter, workload));
    at += parameter.size;  // a later minor version may have larger entries
  }
  return result;
}

/// Numbers beyond every limit remain so in an int.
int number_from(std::uint32_t number) { return static_cast<int>(std::min<std::uint32_t>(number, 1u << 30)); }

Workload workload_from(const kymo_workload* from, std::uint32_t index) {
  const std::string number = "workload " + std::to_string(index);
  if (!from) throw Error(number + " is missing (NULL)");
  check_size(from->size, sizeof(kymo_workload), number);
  Workload to;
  to.name = text_of(from->name, "the name of " + number);
  const std::string what = "workload " + quote(to.name);
  to.documentation = text_of(from->documentation, "the documentation of " + what);
  to.parameters = parameters_from(*from, to.name);
  to.phases = texts_of(from->phases, from->phase_count, "the phases of " + what);
  to.runs_on_cpu = (from->devices & KYMO_CPU) != 0;
  to.runs_on_cuda = (from->devices & KYMO_CUDA) != 0;
  to.min_ranks = number_from(from->min_ranks);
  to.max_ranks = number_from(from->max_ranks);
  to.asynchronous_step = (from->flags & KYMO_STEP_IS_ASYNCHRONOUS) != 0;
  for (const auto& [name, is_present] :
       {std::pair{"create", from->create != nullptr}, std::pair{"prepare", from->prepare != nullptr},
        std::pair{"before_step", from->before_step != nullptr}, std::pair{"step", from->step != nullptr},
        std::pair{"verify", from->verify != nullptr}, std::pair{"destroy", from->destroy != nullptr}}) {
    if (!is_present) throw Error(what + " is missing the function " + name + " (NULL)");
  }
  to.title = to.name;
  if (from->title) to.title = text_of(from->title, "the title of " + what);
  if (from->family) to.family = text_of(from->family, "the family of " + what);
  to.family_order = number_from(from->family_order);
  return to;
}

/// Checks the table of a loaded plugin against its file's note; throws Error with the reason.
void check_table(const kymo_plugin* table, const kymo_note& note) {
  if (!table) throw Error("it has no table: its describe() threw, or kymo_plugin_v2 returned NULL");
  check_size(table->size, sizeof(kymo_plugin), "its table");
  if (table->abi_major != note.abi_major || table->abi_minor != note.abi_minor) {
    throw Error("its table and its note specify different ABI versions");
  }
  for (const auto& [name, is_present] : {std::pair{"workload_count", table->workload_count != nullptr},
                                         std::pair{"workload", table->workload != nullptr}}) {
    if (!is_present) throw Error(std::string("its table is missing the function ") + name + " (NULL)");
  }
  const std::string framework = text_of(table->framework, "the framework of its table");
  if (framework != note.framework) {
    throw Error("its workloads use " + (framework.empty() ? "no framework" : quote(framework)) +
                ", but it was built with " + (*note.framework ? quote(note.framework) : "none") +
                ": pass TORCH to kymo_add_plugin if it uses LibTorch");
  }
}

}  // namespace

Plugin plugin_from_table(const kymo_plugin& table) {
  Plugin plugin;
  plugin.name = text_of(table.name, "the name of the plugin");
  plugin.version = text_of(table.version, "the version of the plugin");
  const std::uint32_t count = table.workload_count();
  for (std::uint32_t i = 0; i < count; ++i) plugin.workloads.push_back(workload_from(table.workload(i), i));
  check_description(plugin);
  return plugin;
}

const void* load_plugin(const std::filesystem::path& file) {
  const kymo_note note = read_note(file);
  check_abi(file, note);
  try {
    const shared_library& library = load_forever(file);
    if (!library.has(KYMO_ENTRY_SYMBOL)) {
      throw Error("it does not export " KYMO_ENTRY_SYMBOL
                  "; add KYMO_EXPORT_WORKLOADS and build the plugin with kymo_add_plugin");
    }
    const kymo_plugin* table = library.get<const kymo_plugin*()>(KYMO_ENTRY_SYMBOL)();
    check_table(table, note);
    return table;
  } catch (const std::exception& problem) {
    throw PluginRejected(file, problem.what());
  }
}

}  // namespace kymo::catalog
