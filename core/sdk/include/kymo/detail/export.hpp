// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "../workload_class.hpp"
#include "note.hpp"
#include "thunks.hpp"

/// Builds the C function table of a plugin from its descriptors on the host's first call.
namespace kymo::detail {

/// C structs that describe a workload and point into its Descriptor. It lives until the process exits.
class WorkloadTable {
 public:
  explicit WorkloadTable(Descriptor descriptor) : descriptor_(std::move(descriptor)) {
    for (const std::string& phase : descriptor_.phases()) phases_.push_back(phase.c_str());
    const auto& parameters = descriptor_.parameters();
    choices_.resize(parameters.size());
    axes_.resize(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters_.push_back(describe(parameters[i], choices_[i], axes_[i]));
  }
  WorkloadTable(const WorkloadTable&) = delete;

  template <typename W>
  const kymo_workload* fill() {
    table_.size = sizeof(kymo_workload);
    if (descriptor_.is_asynchronous()) table_.flags |= KYMO_STEP_IS_ASYNCHRONOUS;
    if (descriptor_.phases_are_optional()) table_.flags |= KYMO_PHASES_ARE_OPTIONAL;
    table_.name = descriptor_.name().c_str();
    table_.documentation = descriptor_.documentation().c_str();
    table_.parameters = parameters_.data();
    table_.parameter_count = static_cast<std::uint32_t>(parameters_.size());
    table_.phases = phases_.data();
    table_.phase_count = static_cast<std::uint32_t>(phases_.size());
    table_.devices = descriptor_.devices();
    table_.min_ranks = descriptor_.min_ranks();
    table_.max_ranks = descriptor_.max_ranks();
    table_.create = &create<W>;
    table_.prepare = &prepare;
    table_.before_step = &before_step;
    table_.step = &step;
    table_.verify = &verify;
    table_.destroy = &destroy;
    table_.title = descriptor_.title().c_str();
    table_.family = descriptor_.family().c_str();
    table_.family_order = descriptor_.family_order();
    return &table_;
  }
  const kymo_workload* table() const { return &table_; }
  const Descriptor& descriptor() const { return descriptor_; }

 private:
  static kymo_parameter describe(const Parameter& from, std::vector<const char*>& choices,
                                 std::vector<const char*>& axis) {
    for (const std::string& choice : from.choices) choices.push_back(choice.c_str());
    for (const std::string& value : from.axis) axis.push_back(value.c_str());
    kymo_parameter to{};
    to.size = sizeof(kymo_parameter);
    to.type = from.type;
    to.name = from.name.c_str();
    to.unit = from.unit.c_str();
    to.documentation = from.documentation.c_str();
    to.default_value = {from.type, from.boolean ? 1 : 0, from.integer, from.real, from.text.c_str()};
    to.has_minimum = from.minimum.has_value();
    to.has_maximum = from.maximum.has_value();
    to.minimum = from.minimum.value_or(0);
    to.maximum = from.maximum.value_or(0);
    to.choices = choices.data();
    to.choice_count = static_cast<std::uint32_t>(choices.size());
    to.axis = axis.data();
    to.axis_count = static_cast<std::uint32_t>(axis.size());
    to.title = from.title.c_str();
    to.flags = from.flags;
    return to;
  }

  Descriptor descriptor_;
  std::vector<const char*> phases_;
  std::vector<kymo_parameter> parameters_;
  std::vector<std::vector<const char*>> choices_;
  std::vector<std::vector<const char*>> axes_;
  kymo_workload table_{};
};

/// Tables of all workloads of the plugin. Never freed, because other libraries may use them during process exit.
struct PluginTable {
  std::vector<std::unique_ptr<WorkloadTable>> workloads;
  std::string name;
  kymo_plugin plugin{};
};

template <typename W>
void add_workload(PluginTable& table) {
  static_assert(std::is_base_of_v<Workload, W>, "a workload must derive from kymo::Workload");
  static_assert(std::is_convertible_v<decltype(W::describe()), Descriptor>,
                "a workload must define: static kymo::Descriptor describe()");
  static_assert(std::is_default_constructible_v<W> || std::is_constructible_v<W, Context&>,
                "a workload must have a default constructor or one that takes kymo::Context&");
  table.workloads.push_back(std::make_unique<WorkloadTable>(W::describe()));
  table.workloads.back()->fill<W>();
}

/// Hidden visibility, so that two plugins with workload classes of the same name never share a table.
template <typename... Ws>
struct [[gnu::visibility("hidden")]] Exported {
  static PluginTable*& table() {
    static PluginTable* table = nullptr;
    return table;
  }  // namespace kymo::detail
  static std::uint32_t count() noexcept { return static_cast<std::uint32_t>(table()->workloads.size()); }
  static const kymo_workload* at(std::uint32_t index) noexcept {
    return index < count() ? table()->workloads[index]->table() : nullptr;
  }

  static const kymo_plugin* make() {
    auto fresh = std::make_unique<PluginTable>();
    (add_workload<Ws>(*fresh), ...);
    const auto& first = fresh->workloads.front()->descriptor();
    fresh->name = *KYMO_PLUGIN_NAME ? KYMO_PLUGIN_NAME : first.name();
    std::string_view framework = KYMO_PLUGIN_FRAMEWORK;
    for (const auto& each : fresh->workloads) {
      // The workload declares a framework that the library was not built with. The host detects the mismatch with the
      // note.
      if (framework.empty() && each->descriptor().framework()) framework = "libtorch";
    }
    fresh->plugin = {sizeof(kymo_plugin), KYMO_ABI_MAJOR,   KYMO_ABI_MINOR, fresh->name.c_str(),
                     KYMO_PLUGIN_VERSION, framework.data(), &count,         &at};
    table() = fresh.release();
    return &table()->plugin;
  }
};

/// Implementation of kymo_plugin_v2. Prints the error to stderr and returns NULL if describe() throws.
template <typename... Ws>
const kymo_plugin* plugin_of() noexcept {
  static_assert(sizeof...(Ws) > 0, "KYMO_EXPORT_WORKLOADS requires at least one workload class");
  using Table = Exported<Ws...>;
  try {
    return Table::table() ? &Table::table()->plugin : Table::make();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "describe() threw: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "describe() threw: %s\n", name_of_current_exception().c_str());
  }
  return nullptr;
}

}  // namespace kymo::detail
