// SPDX-License-Identifier: Apache-2.0
#include "store/rollback.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/private_folder.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace kymo::store {
namespace {

namespace fs = std::filesystem;

constexpr int kBlockBytes = 1 << 20;
constexpr std::chrono::seconds kDeadline{10};

/// Only SQLite can tell: the journal of a live writer must stay, and so must one that no longer matters.
bool needs_rollback(const Connection& reader) { return reader.load_schema() == SQLITE_READONLY_ROLLBACK; }

/// Returns why the journal could not be rolled back in the file; empty on success.
std::string roll_back_in_place(const fs::path& file) {
  try {
    const Connection writer(file, Connection::Access::kReadWrite);
    const int code = writer.load_schema();
    if (code == SQLITE_OK) return {};
    struct statvfs facts{};
    if (statvfs(file.c_str(), &facts) == 0 && (facts.f_flag & ST_RDONLY)) return "its file system is read-only";
    if ((code & 0xff) == SQLITE_FULL) return "the disk is full";
    if ((code & 0xff) == SQLITE_READONLY) return "the file is not writable";
    const int reason = sqlite3_system_errno(writer.handle());
    if (code == SQLITE_IOERR_DELETE && (reason == EACCES || reason == EPERM)) return "its directory is not writable";
    return one_line(reason != 0 ? std::strerror(reason) : sqlite3_errmsg(writer.handle()));
  } catch (const Error& error) {
    return error.what();
  }
}

/// Keeps others from rolling the journal back, and therefore from writing, while the files are copied.
class RawLock {
 public:
  explicit RawLock(const Connection& connection) : connection_(connection), held_(connection.lock_raw()) {}
  ~RawLock() {
    if (held_) connection_.unlock_raw();
  }
  RawLock(const RawLock&) = delete;
  RawLock& operator=(const RawLock&) = delete;
  bool is_held() const { return held_; }

 private:
  const Connection& connection_;
  bool held_;
};

void copy_database(const Connection& source, const fs::path& to) {
  const int fd = open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int reason = fd < 0 ? errno : 0;
  for (std::int64_t at = 0, size = source.raw_size(); reason == 0 && at < size; at += kBlockBytes)
    reason = write_all(fd, source.raw_bytes(at, kBlockBytes));
  if (fd >= 0) close(fd);
  if (reason != 0) throw Error(std::strerror(reason));
}

void copy_journal(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (!error) fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, error);
  if (error) throw Error("cannot copy the journal: " + error.message());
}

std::unique_ptr<Connection> copy_in(const fs::path& base, const Connection& source, std::int64_t size) {
  struct statvfs facts{};
  if (statvfs(base.c_str(), &facts) != 0) throw Error(std::strerror(errno));
  const auto free = static_cast<std::int64_t>(facts.f_bavail * facts.f_frsize);
  if (free < size) throw Error("only " + format_bytes(free) + " are free");
  // SQLite keeps reading the copies through its descriptors after the folder is removed.
  const PrivateFolder folder("kymo-rollback", base);
  const fs::path file = folder.path() / "copy.db";
  copy_database(source, file);
  copy_journal(source.journal(), file.string() + "-journal");  // the name under which SQLite finds it
  auto copy = Connection::private_file(file, source.file());
  if (copy->load_schema() != SQLITE_OK) copy->fail();
  return copy;
}

std::vector<fs::path> folders_for_copies() {
  const char* own = std::getenv("TMPDIR");
  return {own && *own ? own : "/tmp", "/dev/shm"};
}

void warn_once(const fs::path& file, const std::string& message) {
  static std::set<fs::path> warned;
  if (warned.insert(file).second) log::warning(message);
}

/// Call it while the raw lock is held.
std::unique_ptr<Connection> rolled_back_copy(const Connection& source, const std::string& obstacle) {
  const std::string what =
      "database " + quote(source.file().string()) +
      ": a writer that did not end normally left a journal, which must be rolled back before the file can be read";
  const std::int64_t size = source.raw_size() + static_cast<std::int64_t>(fs::file_size(source.journal()));
  std::string reasons;
  for (const fs::path& base : folders_for_copies()) {
    try {
      auto copy = copy_in(base, source, size);
      warn_once(source.file(),
                what + "; reading a private copy, because it cannot be rolled back in place (" + obstacle + ")");
      return copy;
    } catch (const Error& error) {
      reasons += "; " + quote(base.string()) + ": " + error.what();
    }
  }
  throw Error(what + "; it cannot be rolled back in place (" + obstacle + "), nor in a private copy of " +
              format_bytes(size) + reasons + "; run kymo as a user who may write the file, or free space there or in " +
              "a directory that TMPDIR names");
}

}  // namespace

std::unique_ptr<Connection> roll_back_leftovers(const Connection& reader, bool in_place) {
  std::string obstacle = "it is on a network file system, where its writer could be alive on another machine";
  for (const auto start = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - start < kDeadline;) {
    std::error_code error;
    if (!fs::exists(reader.journal(), error) || !needs_rollback(reader)) return nullptr;
    if (in_place) obstacle = roll_back_in_place(reader.file());
    if (obstacle.empty()) return nullptr;
    // Without the lock, the file is being written or rolled back by another process.
    if (const RawLock lock(reader); lock.is_held() && fs::exists(reader.journal(), error))
      return rolled_back_copy(reader, obstacle);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return nullptr;  // the next statement reports why the file cannot be read
}

}  // namespace kymo::store
