// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "catalog/catalog.hpp"

namespace kymo::catalog::test {

/// The path of a plugin in tests/plugins.
std::filesystem::path plugin(const std::string& name);

/// The message of the Error that `body` throws; fails the test if it throws none.
std::string message_of(const std::function<void()>& body);

/// Sets an environment variable until the end of the scope; nullopt unsets it.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const std::string& name, const std::optional<std::string>& value);
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment();

 private:
  std::string name_;
  std::optional<std::string> before_;
};

/// A directory that only this user may access, with the description cache inside.
class InFolder : public ::testing::Test {
 protected:
  InFolder();
  ~InFolder() override;
  /// Copies a test plugin into the directory.
  std::filesystem::path copy(const std::string& name, const std::string& as = "") const;
  std::filesystem::path cache_entry() const;  ///< the only entry

  std::filesystem::path folder_;
  ScopedEnvironment cache_;
  ScopedEnvironment path_;
  Options options_;
};

}  // namespace kymo::catalog::test
