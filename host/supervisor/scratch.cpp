// SPDX-License-Identifier: Apache-2.0
#include "supervisor/scratch.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "measure/status_page.hpp"
#include "store/journal_recovery.hpp"

namespace kymo::supervisor {
namespace fs = std::filesystem;
namespace {

constexpr const char* kLock = "lock";
constexpr const char* kInvocation = "invocation";
constexpr const char* kRuns = "runs";
constexpr const char* kRankFilePrefix = "RUN-";
constexpr double kAnnounceAfterS = 2;
constexpr useconds_t kLockPollUs = 10'000;

[[noreturn]] void reject(const fs::path& file, const std::string& what, int reason) {
  throw Error("cannot " + what + " " + quote(file.string()) + ": " + std::strerror(reason) +
              "; make the folder of the database writable or pass another database with --db");
}

/// Why a scratch folder of this name cannot be used: another user could place links into it or hold its lock. Empty if
/// it belongs to this user, or does not exist.
std::string foreign(const fs::path& root) {
  struct stat facts{};
  if (lstat(root.c_str(), &facts) != 0) return {};
  if (S_ISLNK(facts.st_mode)) return "it is a symbolic link";
  if (!S_ISDIR(facts.st_mode)) return "it is not a directory";
  return facts.st_uid == geteuid() ? "" : "it belongs to another user (uid " + std::to_string(facts.st_uid) + ")";
}

bool is_same_file(int fd, const fs::path& file) {
  struct stat held{}, named{};
  return fstat(fd, &held) == 0 && stat(file.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

/// Located next to the database file itself, with symbolic links resolved.
fs::path root_of(const store::ResultsDatabase& database) {
  return fs::canonical(database.file()).string() + ".scratch";
}

/// Locks the whole scratch folder, which is created if necessary. The folder is only removed while holding this lock.
FileLock lock_root(const fs::path& root) {
  for (;;) {
    if (mkdir(root.c_str(), 0700) != 0 && errno != EEXIST) reject(root, "make the folder", errno);
    if (const std::string reason = foreign(root); !reason.empty())
      throw Error("cannot use " + quote(root.string()) + " for the rank files: " + reason +
                  "; remove it or pass another database with --db");
    if (chmod(root.c_str(), 0700) != 0 && errno != ENOENT) reject(root, "restrict access to", errno);
    try {
      return FileLock::wait_for(root / kLock);
    } catch (const Error&) {
      if (fs::exists(root)) throw;  // otherwise another supervisor removed it in the meantime
    }
  }
}

std::int64_t invocation_of(const fs::path& folder) {
  try {
    return std::atoll(read_file(folder / kInvocation).c_str());
  } catch (const Error&) {
    return 0;
  }
}

/// Requires the lock of the root, so that no other process recovers and no supervisor is between creating its folder
/// and recording its first run.
int recover_all(store::ResultsDatabase& database, const fs::path& root) {
  int closed = 0;
  std::set<std::int64_t> live_invocations;
  std::vector<fs::path> dead;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (!entry.is_directory()) continue;
    if (FileLock::try_existing(entry.path() / kLock) || !fs::exists(entry.path() / kLock)) {
      dead.push_back(entry.path());
    } else {
      live_invocations.insert(invocation_of(entry.path()));
    }
  }
  for (const auto& folder : dead) {
    if (fs::exists(folder / kRuns)) closed += database.recover(folder);
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  std::vector<std::int64_t> orphans;
  for (const auto& run : database.running_runs())
    if (!live_invocations.contains(run.invocation_id)) orphans.push_back(run.run_id);
  if (!orphans.empty()) closed += database.recover_runs(orphans);
  return closed;
}

/// Requires the lock of the root.
void remove_if_empty(const fs::path& root) {
  const auto others = std::count_if(fs::directory_iterator(root), fs::directory_iterator(),
                                    [](const fs::directory_entry& entry) { return entry.path().filename() != kLock; });
  if (others > 0) return;
  std::error_code ignored;
  fs::remove(root / kLock, ignored);
  fs::remove(root, ignored);
}

}  // namespace

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  release();
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

void FileLock::release() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

FileLock FileLock::wait_for(const fs::path& file, double deadline_s) {
  const std::int64_t start_ns = now_ns();
  bool announced = false;
  for (;;) {
    FileLock lock;
    lock.fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock.fd_ < 0) reject(file, "open", errno);
    if (flock(lock.fd_, LOCK_EX | LOCK_NB) == 0) {
      if (is_same_file(lock.fd_, file)) return lock;
      continue;  // removed since it was opened
    }
    if (errno != EWOULDBLOCK && errno != EINTR) reject(file, "lock", errno);
    const double waited_s = static_cast<double>(now_ns() - start_ns) * 1e-9;
    if (waited_s > deadline_s)
      throw Error("another kymo process has held the lock " + quote(file.string()) + " for more than " +
                  format_duration(deadline_s * 1e9) + "; end that process, or pass another database with --db");
    if (waited_s > kAnnounceAfterS && !std::exchange(announced, true))
      log::info("waiting for another kymo process, which holds the lock " + quote(file.string()));
    usleep(kLockPollUs);
  }
}

FileLock FileLock::try_existing(const fs::path& file) {
  FileLock lock;
  lock.fd_ = open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (lock.fd_ < 0) {
    if (errno == ENOENT) return lock;
    reject(file, "open", errno);
  }
  if (flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) reject(file, "lock", errno);
    lock.release();
  }
  return lock;
}

int recover_abandoned(store::ResultsDatabase& database) {
  const fs::path root = root_of(database);
  if (database.running_runs().empty() && !fs::exists(root)) return 0;
  if (!foreign(root).empty()) return 0;  // only its owner can tell which runs still run
  const FileLock held = lock_root(root);
  const int closed = recover_all(database, root);
  remove_if_empty(root);
  return closed;
}

Scratch::Scratch(store::ResultsDatabase& database, std::int64_t invocation_id)
    : database_(fs::canonical(database.file())),
      root_(root_of(database)),
      damaged_journals_(store::damaged_journals_of(database.file())) {
  const FileLock held = lock_root(root_);
  if (const int closed = recover_all(database, root_); closed > 0) {
    log::info("closed " + std::to_string(closed) + (closed == 1 ? " run" : " runs") +
              " left running by a killed kymo, with status `interrupted`");
  }
  folder_ = root_ / random_token().substr(0, 16);
  if (mkdir(folder_.c_str(), 0700) != 0) reject(folder_, "make the folder", errno);
  write_file(folder_ / kInvocation, std::to_string(invocation_id) + "\n");
  lock_ = FileLock::wait_for(folder_ / kLock);
}

Scratch::~Scratch() {
  if (!lock_) return;  // finished
  try {
    if (!has_rank_files()) finish();
  } catch (const std::exception& error) {
    log::debug(std::string("cannot remove the folder of the rank files: ") + error.what());
  }
}

bool Scratch::has_rank_files() const {
  std::error_code ignored;
  return std::any_of(
      fs::directory_iterator(folder_, ignored), fs::directory_iterator(),
      [](const fs::directory_entry& entry) { return entry.path().filename().string().starts_with(kRankFilePrefix); });
}

std::string Scratch::lost() const {
  if (chmod(folder_.c_str(), 0700) == 0) return {};
  return "the directory " + quote(folder_.string()) +
         " was removed during the run, and with it the measurements: " + std::strerror(errno);
}

std::string rank_file_name(std::int64_t run_id, int rank, measure::Pass pass) {
  return kRankFilePrefix + std::to_string(run_id) + "-" + std::to_string(rank) + "-" + to_string(pass) + ".kymo";
}

fs::path Scratch::rank_file(std::int64_t run_id, int rank, measure::Pass pass) const {
  return folder_ / rank_file_name(run_id, rank, pass);
}

fs::path Scratch::status_file(std::int64_t run_id, int rank, measure::Pass pass) const {
  return measure::status_file(rank_file(run_id, rank, pass));
}

void Scratch::note(std::int64_t run_id) const {
  const fs::path file = folder_ / kRuns;
  const std::string line = std::to_string(run_id) + "\n";
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) reject(file, "open", errno);
  const int reason = write_all(fd, line);
  close(fd);
  if (reason != 0) reject(file, "write", reason);
}

void Scratch::clear(std::int64_t run_id) const { remove_named(kRankFilePrefix + std::to_string(run_id) + "-"); }

void Scratch::clear(std::int64_t run_id, int rank, measure::Pass pass) const {
  remove_named(rank_file_name(run_id, rank, pass));
}

void Scratch::remove_named(const std::string& prefix) const {
  std::vector<fs::path> gone;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_, ignored))
    if (entry.path().filename().string().starts_with(prefix)) gone.push_back(entry.path());
  for (const auto& file : gone) fs::remove(file, ignored);
}

void Scratch::finish() {
  const FileLock held = lock_root(root_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  lock_.release();
  remove_if_empty(root_);
}

}  // namespace kymo::supervisor
