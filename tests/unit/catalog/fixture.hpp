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

/// A plugin of tests/plugins by its name.
std::filesystem::path plugin(const std::string& name);

/// The message of the Error that `body` throws; fails the test if it throws none.
std::string message_of(const std::function<void()>& body);

/// An environment variable with another value until the end of the block; nullopt takes it away.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const std::string& name, const std::optional<std::string>& value);
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment();

 private:
  std::string name_;
  std::optional<std::string> before_;
};

/// A folder that only this user may enter, with the cache of descriptions inside it.
class InFolder : public ::testing::Test {
 protected:
  InFolder();
  ~InFolder() override;
  /// A copy of a test plugin in the folder.
  std::filesystem::path copy(const std::string& name, const std::string& as = "") const;
  std::filesystem::path cache_entry() const;  ///< the only one there is

  std::filesystem::path folder_;
  ScopedEnvironment cache_;
  ScopedEnvironment path_;
  Options options_;
};

}  // namespace kymo::catalog::test
