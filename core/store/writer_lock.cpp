// SPDX-License-Identifier: Apache-2.0
#include "store/writer_lock.hpp"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kymo::store {
namespace {

namespace fs = std::filesystem;

/// What identifies a process among all machines and containers.
struct Owner {
  std::string host;
  std::string pid;
  std::string start;   ///< clock ticks since boot; a later process may have the same pid
  std::string system;  ///< boot id and pid namespace

  std::string text() const { return host + " " + pid + " " + start + " " + system + "\n"; }
};

/// Returns an empty text if there is no such process.
std::string start_of(const std::string& pid) {
  std::ifstream stream("/proc/" + pid + "/stat");
  const std::string facts{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t name_end = facts.rfind(") ");  // the name may contain anything
  if (name_end == std::string::npos) return {};
  constexpr std::size_t kStart = 19;  // of the fields after the name
  const std::vector<std::string> fields = split(facts.substr(name_end + 2), ' ');
  return fields.size() > kStart ? fields[kStart] : std::string();
}

Owner this_process() {
  std::array<char, 256> host{};
  const bool is_named = gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0';
  std::error_code error;
  const std::string pid = std::to_string(getpid());
  return {is_named ? host.data() : "unknown", pid, start_of(pid),
          boot_id() + "/" + fs::read_symlink("/proc/self/ns/pid", error).string()};
}

/// Returns nullopt if there is no such file. Its content may be incomplete while its owner writes it.
std::optional<Owner> read_owner(const fs::path& file) {
  std::ifstream stream(file);
  if (!stream) return std::nullopt;
  Owner owner;
  stream >> owner.host >> owner.pid >> owner.start >> owner.system;
  return owner;
}

bool has_ended(const Owner& owner, const Owner& self) {
  return owner.system == self.system && start_of(owner.pid) != owner.start;
}

/// Returns false if the file exists.
bool create(const fs::path& file, const std::string& content) {
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  int reason = fd < 0 ? errno : write_all(fd, content);
  if (fd >= 0 && close(fd) != 0 && reason == 0) reason = errno;  // NFS reports a full disk here
  if (fd < 0 && reason == EEXIST) return false;
  if (reason == 0) return true;
  if (fd >= 0) unlink(file.c_str());
  throw Error("cannot create the lock file " + quote(file.string()) + ": " + std::strerror(reason) +
              "; a database on a network file system needs it");
}

std::string held_by(const Owner& owner, const fs::path& file) {
  const std::string who =
      owner.system.empty() ? "another process" : "process " + owner.pid + " on host " + quote(owner.host);
  return who + " is writing to it (" + quote(file.string()) + "); wait for it, or use one database per process and " +
         "`kymo merge` them; if that process no longer exists, remove the lock file";
}

}  // namespace

const char* network_file_system(std::int64_t type) {
  struct Type {
    std::uint32_t type;
    const char* name;
  };
  // Also FUSE, 9P and shared folders of virtual machines, which often show files of another machine.
  static constexpr std::array<Type, 24> kTypes{
      {{0x6969, "NFS"},          {0xff534d42, "SMB"},        {0xfe534d42, "SMB"},      {0x517b, "SMB"},
       {0x0bd00bd0, "Lustre"},   {0x47504653, "GPFS"},       {0x19830326, "BeeGFS"},   {0x00c36400, "Ceph"},
       {0x18031977, "WekaFS"},   {0xaad7aaea, "PanFS"},      {0x20030528, "OrangeFS"}, {0x013111a8, "IBRIX"},
       {0xbeefdead, "StorNext"}, {0x01161970, "GFS2"},       {0x7461636f, "OCFS2"},    {0x5346414f, "AFS"},
       {0x6b414653, "AFS"},      {0x73757245, "Coda"},       {0x564c, "NCP"},          {0x01021997, "9P"},
       {0x65735546, "FUSE"},     {0x786f4256, "VirtualBox"}, {0xbacbacbc, "VMware"},   {0x7c7c6673, "Parallels"}}};
  for (const Type& each : kTypes) {
    if (each.type == static_cast<std::uint32_t>(type)) return each.name;
  }
  return nullptr;
}

const char* network_file_system(const fs::path& database) {
  std::error_code error;
  struct statfs facts{};
  const fs::path real = fs::weakly_canonical(fs::absolute(database, error), error);
  return statfs(real.parent_path().c_str(), &facts) == 0 ? network_file_system(facts.f_type) : nullptr;
}

WriterLock::WriterLock(const fs::path& database, std::chrono::milliseconds patience)
    : file_(fs::weakly_canonical(fs::absolute(database)).string() + ".lock") {
  const Owner self = this_process();
  owner_ = self.text();
  for (const auto start = std::chrono::steady_clock::now(); !create(file_, owner_);) {
    const auto owner = read_owner(file_);
    // Several processes of this machine may remove the file at the same time: their POSIX locks exclude each other.
    if (owner && has_ended(*owner, self)) {
      unlink(file_.c_str());
    } else if (owner && std::chrono::steady_clock::now() - start >= patience) {
      throw Error("database " + quote(database.string()) + " is on a network file system, and " +
                  held_by(*owner, file_));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

WriterLock::~WriterLock() {
  const auto owner = read_owner(file_);
  if (owner && owner->text() == owner_) unlink(file_.c_str());
}

}  // namespace kymo::store
