// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sha2.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const char* what, const fs::path& file) {
  throw Error(std::string("cannot ") + what + " " + quote(file.string()) + ": " + std::strerror(errno));
}

constexpr std::string_view kRandomPart = "XXXXXX";

std::string sibling_prefix(const fs::path& file) { return "." + file.filename().string() + ".kymo-"; }

std::string sibling_pattern(const fs::path& file) {
  return (file.parent_path() / (sibling_prefix(file) + std::string(kRandomPart))).string();
}

/// Closes a file descriptor on destruction.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

/// True for root's group, and for a group that is private to the user: it has the user's name and no further members.
bool has_only(gid_t group, uid_t user) {
  if (group == 0) return true;
  const passwd* owner = getpwuid(user);
  const std::string name = owner ? owner->pw_name : "";
  const struct group* entry = getgrgid(group);
  return entry && !name.empty() && name == entry->gr_name && entry->gr_mem[0] == nullptr;
}

std::string hexadecimal(const std::uint8_t* bytes, std::size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace

std::string read_file(const fs::path& file) {
  const Descriptor in{open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (in.fd < 0) fail("read", file);
  std::string content;
  std::array<char, 1 << 16> block{};
  for (;;) {
    const ssize_t got = read(in.fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", file);
    if (got == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(got));
  }
}

TemporarySibling make_sibling(const fs::path& file) {
  std::string name = sibling_pattern(file);
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return {};
  flock(fd, LOCK_EX | LOCK_NB);
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  return {name, fd};
}

TemporarySibling make_sibling_folder(const fs::path& file) {
  std::string name = sibling_pattern(file);
  if (!mkdtemp(name.data())) return {};
  const int fd = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) flock(fd, LOCK_EX | LOCK_NB);
  return {name, fd};
}

void remove_abandoned_siblings(const fs::path& file) {
  constexpr std::time_t kMinAgeS = 60;  // one that was just made may not be locked yet
  const std::string prefix = sibling_prefix(file);
  std::vector<fs::path> siblings;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(file.has_parent_path() ? file.parent_path() : ".", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.size() == prefix.size() + kRandomPart.size()) siblings.push_back(entry.path());
  }
  for (const fs::path& sibling : siblings) {
    const Descriptor left{open(sibling.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    struct stat facts{};
    if (left.fd < 0 || fstat(left.fd, &facts) != 0 || facts.st_uid != geteuid()) continue;
    if (std::time(nullptr) - facts.st_mtime >= kMinAgeS && flock(left.fd, LOCK_EX | LOCK_NB) == 0)
      fs::remove_all(sibling, ignored);
  }
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void write_file(const fs::path& file, std::string_view content) {
  const TemporarySibling sibling = make_sibling(file);
  if (sibling.fd < 0) fail("write", file);
  const Descriptor out{sibling.fd};
  int reason = write_all(out.fd, content);
  if (reason == 0 && rename(sibling.path.c_str(), file.c_str()) != 0) reason = errno;
  if (reason == 0) return;
  unlink(sibling.path.c_str());
  errno = reason;
  fail("write", file);
}

std::string sha256(std::string_view bytes) {
  SHA2_CTX state;
  SHA256Init(&state);
  SHA256Update(&state, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256Final(digest.data(), &state);
  return hexadecimal(digest.data(), digest.size());
}

std::string sha256_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) fail("read", file);
  SHA2_CTX state;
  SHA256Init(&state);
  std::vector<char> block(1 << 20);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    SHA256Update(&state, reinterpret_cast<const std::uint8_t*>(block.data()), static_cast<std::size_t>(in.gcount()));
  }
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256Final(digest.data(), &state);
  return hexadecimal(digest.data(), digest.size());
}

std::string random_token() {
  std::array<std::uint8_t, 32> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error("cannot get random numbers from the system");
  return hexadecimal(bytes.data(), bytes.size());
}

std::string why_alterable(const fs::path& real) {
  struct stat program{}, facts{};
  if (stat("/proc/self/exe", &program) != 0) fail("stat", "/proc/self/exe");
  const std::string program_file = fs::read_symlink("/proc/self/exe").string();
  for (fs::path at = real;; at = at.parent_path()) {
    // Whoever can exchange a directory that contains this program can exchange the program, too.
    if (at == at.root_path() || program_file.starts_with(at.string() + "/")) return {};
    if (stat(at.c_str(), &facts) != 0) fail("stat", at);
    if (facts.st_uid != 0 && facts.st_uid != geteuid() && facts.st_uid != program.st_uid)
      return quote(at.string()) + " belongs to another user (uid " + std::to_string(facts.st_uid) + ")";
    // Nobody can replace the entries of others in a sticky directory, but everybody can add some.
    const bool is_safe = (facts.st_mode & S_ISVTX) && at != real && at != real.parent_path();
    if ((facts.st_mode & S_IWOTH) && !is_safe) return quote(at.string()) + " is world-writable";
    if ((facts.st_mode & S_IWGRP) && !is_safe && !has_only(facts.st_gid, facts.st_uid))
      return quote(at.string()) + " is writable by its group (gid " + std::to_string(facts.st_gid) + ")";
  }
}

fs::path make_private_folder(std::string_view prefix, const fs::path& base) {
  const char* usual = std::getenv("TMPDIR");
  const fs::path parent = !base.empty() ? base : usual && *usual ? usual : "/tmp";
  std::string pattern = (parent / (std::string(prefix) + ".XXXXXX")).string();
  if (!mkdtemp(pattern.data())) fail("create a directory from the template", pattern);
  return pattern;
}

fs::path cache_folder() {
  fs::path folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/') {
    folder = fs::path(cache) / "kymo";
  } else if (const char* home = std::getenv("HOME"); home && *home) {
    folder = fs::path(home) / ".cache" / "kymo";
  } else {
    throw Error("no cache directory: set HOME or XDG_CACHE_HOME");
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw Error("cannot create the cache directory " + quote(folder.string()) + ": " + failed.message());
  return folder;
}

}  // namespace kymo
