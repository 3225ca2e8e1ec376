// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <kymo_plugin.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "unit/plugins/fake_host.hpp"

inline const kymo_workload* load(const std::string& name) {
  void* file = dlopen((std::string(KYMO_PLUGIN_FOLDER "/") + name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!file) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<kymo_plugin_entry>(dlsym(file, KYMO_ENTRY_SYMBOL));
  return entry()->workload(0);
}

/// One instance of a workload with its default parameters and the changes of a test.
class Driven {
 public:
  Driven(const std::string& name, const std::map<std::string, FakeHost::Value>& changes, std::int32_t device = KYMO_CPU)
      : table_(load(name)) {
    host.use_device(device);
    for (std::uint32_t i = 0; i < table_->parameter_count; ++i) {
      const kymo_parameter& parameter = table_->parameters[i];
      FakeHost::Value& value = host.parameters[parameter.name];
      if (parameter.type == KYMO_INT) value = parameter.default_value.integer;
      if (parameter.type == KYMO_BOOL) value = parameter.default_value.boolean != 0;
      if (parameter.type == KYMO_REAL) value = parameter.default_value.real;
      if (parameter.type == KYMO_CHOICE || parameter.type == KYMO_TEXT)
        value = std::string(parameter.default_value.text);
    }
    for (const auto& [key, value] : changes) {
      EXPECT_EQ(host.parameters.count(key), 1u) << key;
      host.parameters[key] = value;
    }
    EXPECT_EQ(table_->create(table_, host.host(), host.handle(), &instance_), KYMO_OK);
  }
  ~Driven() { destroy(); }

  kymo_status prepare() { return table_->prepare(instance_, host.handle()); }
  kymo_status step() {
    const kymo_status drawn = table_->before_step(instance_, host.handle());
    return drawn != KYMO_OK ? drawn : table_->step(instance_, host.handle());
  }
  void destroy() {
    if (instance_) table_->destroy(instance_);
    instance_ = nullptr;
  }
  /// Runs verify() and expects every check to pass; returns their names.
  std::vector<std::string> passed_checks() {
    kymo_verification found{};
    found.size = sizeof found;
    EXPECT_EQ(table_->verify(instance_, host.handle(), &found), KYMO_OK) << host.message;
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < found.check_count; ++i) {
      const kymo_check& check = found.checks[i];
      EXPECT_EQ(check.outcome, std::uint32_t{KYMO_CHECK_PASSED})
          << check.name << ": absolute " << check.max_abs_error << ", relative " << check.max_rel_error << " > "
          << check.tolerance;
      RecordProperty(check.name, std::to_string(check.max_rel_error));
      names.emplace_back(check.name);
    }
    return names;
  }
  const kymo_workload& table() const { return *table_; }

  FakeHost host;

 private:
  static void RecordProperty(const std::string& name, const std::string& value) {
    testing::Test::RecordProperty(name, value);
  }

  const kymo_workload* table_;
  void* instance_ = nullptr;
};
