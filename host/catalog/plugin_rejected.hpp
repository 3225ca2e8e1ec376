// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo::catalog {

/// A plugin file that cannot be used. The message names the file; reason() omits it, for tables of rejected files.
class PluginRejected : public Error {
 public:
  PluginRejected(const std::filesystem::path& file, const std::string& reason)
      : Error("plugin " + quote(file.string()) + " is rejected: " + reason), reason_(reason) {}
  const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;
};

}  // namespace kymo::catalog
