// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

/// Databases on network file systems. SQLite excludes writers from each other with POSIX locks, which some of these
/// file systems keep on each machine, ignore or lose. Two machines could then write at once and damage the file.
namespace kymo::store {

/// Returns the name of a file system that other machines may share, by the f_type of statfs(); nullptr for others.
const char* network_file_system(std::int64_t type);
/// The same for the file system of a database that may not exist yet.
const char* network_file_system(const std::filesystem::path& database);

/// Makes this process the only writer of a database among all machines: the file DATABASE.lock exists while it writes.
/// Creating a file exclusively is atomic on every file system. The lock of a process that was killed on this machine is
/// replaced.
class WriterLock {
 public:
  /// Waits for another process to end. Throws Error that names the owner of the lock.
  explicit WriterLock(const std::filesystem::path& database,
                      std::chrono::milliseconds patience = std::chrono::seconds(1));
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  std::filesystem::path file_;
  std::string owner_;  // content of the file
};

}  // namespace kymo::store
