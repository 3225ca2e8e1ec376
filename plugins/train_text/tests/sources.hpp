// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

/// A temporary folder of sources.
class Sources {
 public:
  Sources() {
    std::string name = testing::TempDir() + "kymo-text-XXXXXX";
    folder = mkdtemp(name.data());
  }
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;
  ~Sources() { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }

  std::filesystem::path folder;
};
