// SPDX-License-Identifier: Apache-2.0
#include "supervisor/window_requests.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace kymo::supervisor {
namespace {

/// The first proposal is likely to be accepted if steps take longer than a process is kept from running; each further
/// one is twice as far away.
constexpr std::int64_t kFirstMargin = 2;
constexpr std::int64_t kMaxMargin = 1 << 20;

FileMapping map_page(const std::filesystem::path& file, int flags) {
  const int fd = open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
  FileMapping mapping = fd >= 0 ? FileMapping(fd, 0, sizeof(kymo_window_page)) : FileMapping();
  const int reason = errno;
  if (fd >= 0) close(fd);
  if (!mapping)
    throw Error("cannot map " + quote(file.string()) + ", where windows are requested: " + std::strerror(reason));
  return mapping;
}

bool is_running(const std::vector<ProcessEntry>& all, std::int64_t pid) {
  const auto found = std::ranges::find(all, pid, &ProcessEntry::pid);
  return found != all.end() && found->state != 'Z';
}

/// The value of a variable in the environment with which a process was started; empty if it is not visible.
std::string environment_of(pid_t pid, std::string_view variable) {
  std::string all;
  try {
    all = read_file("/proc/" + std::to_string(pid) + "/environ");
  } catch (const Error&) {
    return "";  // it has ended, or belongs to another user
  }
  for (const std::string& entry : split(all, '\0'))
    if (entry.starts_with(variable) && entry.size() > variable.size() && entry[variable.size()] == '=')
      return entry.substr(variable.size() + 1);
  return "";
}

/// The file of requests that an observed process was started with; empty if there is none.
std::string requests_of(pid_t pid) {
  const std::string setting = environment_of(pid, "KYMO_TRACE");
  if (setting.empty()) return "";
  try {
    return parse_json(setting, "KYMO_TRACE").at("windows").at("page").get<std::string>();
  } catch (const std::exception&) {
    return "";  // of another version
  }
}

}  // namespace

WindowRequests::WindowRequests(const std::filesystem::path& file, const std::filesystem::path& database)
    : file_(file), mapping_(map_page(file, O_CREAT | O_EXCL)), page_(new(mapping_.data()) kymo_window_page{}) {
  const std::string path = database.string();
  if (path.size() >= sizeof page_->database) throw Error("the path of the database is too long: " + quote(path));
  std::memcpy(page_->database, path.data(), path.size());
  page_->supervisor = getpid();
  page_->version = KYMO_WINDOW_PAGE_VERSION;
}

WindowRequests::WindowRequests(const std::filesystem::path& file)
    : file_(file),
      mapping_(map_page(file, 0)),
      page_(std::launder(reinterpret_cast<kymo_window_page*>(mapping_.data()))) {
  if (page_->version != KYMO_WINDOW_PAGE_VERSION)
    throw Error("the program is observed by another version of kymo, in process " + std::to_string(page_->supervisor));
}

std::optional<std::int64_t> WindowRequests::requested() const {
  const auto steps = static_cast<std::int64_t>(__atomic_load_n(&page_->requested, __ATOMIC_ACQUIRE));
  return steps > 0 ? std::optional(steps) : std::nullopt;
}

std::uint64_t WindowRequests::proposal() const { return __atomic_load_n(&page_->proposal, __ATOMIC_ACQUIRE); }

void WindowRequests::propose() {
  if (is_proposed_ && !kymo_proposal_failed(proposal())) return;
  std::int64_t furthest = 0;
  std::uint32_t processes = 0;
  const std::vector<ProcessEntry> all = list_processes();
  const auto known =
      std::min<std::uint32_t>(__atomic_load_n(&page_->processes, __ATOMIC_ACQUIRE), KYMO_WINDOW_PROCESSES);
  for (const kymo_window_process& each : std::span(page_->process, known)) {
    if (!is_running(all, __atomic_load_n(&each.pid, __ATOMIC_ACQUIRE))) continue;
    furthest = std::max(furthest, __atomic_load_n(&each.steps, __ATOMIC_ACQUIRE));
    ++processes;
  }
  if (processes == 0) return;
  margin_ = is_proposed_ ? std::min(2 * margin_, kMaxMargin) : kFirstMargin;
  is_proposed_ = true;
  __atomic_store_n(&page_->proposal, kymo_proposal(furthest + margin_, processes), __ATOMIC_RELEASE);
}

void WindowRequests::answer(std::int64_t run) {
  is_proposed_ = false;
  __atomic_store_n(&page_->run, run, __ATOMIC_RELEASE);
  __atomic_store_n(&page_->requested, std::uint64_t{0}, __ATOMIC_RELEASE);
}

bool WindowRequests::request(std::int64_t steps) {
  std::uint64_t none = 0;
  return __atomic_compare_exchange_n(&page_->requested, &none, static_cast<std::uint64_t>(steps), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

std::int64_t WindowRequests::run() const { return __atomic_load_n(&page_->run, __ATOMIC_ACQUIRE); }
pid_t WindowRequests::supervisor() const { return static_cast<pid_t>(page_->supervisor); }
std::filesystem::path WindowRequests::database() const {
  return std::string(page_->database, strnlen(page_->database, sizeof page_->database));
}

std::vector<WaitingProgram> find_waiting_programs(std::optional<pid_t> process) {
  std::map<std::string, WaitingProgram> found;
  const std::vector<ProcessEntry> all = list_processes();
  for (const ProcessEntry& each : all) {
    const std::string file = requests_of(each.pid);
    if (file.empty()) continue;
    try {
      const pid_t supervisor = WindowRequests(file).supervisor();
      // The processes of a program outlive a kymo that was killed, for a moment.
      if (!is_running(all, supervisor)) continue;
      if (!process || *process == each.pid || *process == supervisor) found[file] = {supervisor, file};
    } catch (const Error&) {
      continue;  // its kymo has ended
    }
  }
  std::vector<WaitingProgram> programs;
  for (auto& [file, program] : found) programs.push_back(std::move(program));
  return programs;
}

}  // namespace kymo::supervisor
