// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/file.hpp"

namespace kymo {

/// A folder of make_private_folder() that is removed with its contents when the object ends.
class PrivateFolder {
 public:
  explicit PrivateFolder(std::string_view prefix, const std::filesystem::path& base = {})
      : path_(make_private_folder(prefix, base)) {}
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kymo
