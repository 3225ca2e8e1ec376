// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace kymo::worker {

/// A folder with files as in /proc.
class ProcFolderTest : public testing::Test {
 protected:
  ProcFolderTest() {
    std::string name = std::filesystem::temp_directory_path() / "kymo-proc-XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    proc = name;
  }
  ~ProcFolderTest() override { std::filesystem::remove_all(proc); }

  void put(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((proc / file).parent_path());
    std::ofstream(proc / file) << text;
  }

  std::filesystem::path proc;
};

}  // namespace kymo::worker
