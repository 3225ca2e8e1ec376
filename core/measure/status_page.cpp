// SPDX-License-Identifier: Apache-2.0
#include "measure/status_page.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kymo::measure {
namespace {

constexpr std::uint64_t kMagic = 0x6b796d6f706c6332;  // "kymoplc2"
constexpr std::size_t kMaxPhases = 64;
constexpr std::size_t kNameBytes = 48;
using Name = char[kNameBytes];

void copy_name(Name& to, std::string_view from) {
  const std::size_t length = std::min(from.size(), kNameBytes - 1);
  std::memcpy(to, from.data(), length);
  to[length] = 0;
}

std::string text_of(const Name& name) { return {name, strnlen(name, kNameBytes)}; }

}  // namespace

std::filesystem::path status_file(const std::filesystem::path& rank_file) {
  std::filesystem::path file = rank_file;
  return file += ".status";
}

struct StatusPage::Page {
  std::uint64_t magic;
  std::atomic<std::int64_t> step;
  std::atomic<std::int64_t> begun;
  std::atomic<std::int64_t> ended;
  std::atomic<std::int32_t> phase;
  std::int32_t phase_count;
  Name phases[kMaxPhases];
  struct Call {
    std::atomic<std::int64_t> number;  // 0 while the other fields are written
    std::int64_t sequence;
    std::int64_t bytes;
    Name operation;
    Name communicator;
  };
  Call calls[kLastCollectives];  // a call's place is its number modulo their count
};

StatusPage::StatusPage(const std::filesystem::path& file, const std::vector<std::string>& phases) {
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free);
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) mapping_ = FileMapping(fd, 0, sizeof(Page));
  const int reason = errno;
  if (fd >= 0) close(fd);
  if (!mapping_)
    throw Error("cannot create " + quote(file.string()) + ", the worker's status page: " + std::strerror(reason));
  page_ = new (mapping_.data()) Page{};
  page_->step = -1;
  page_->phase = -1;
  page_->phase_count = static_cast<std::int32_t>(std::min(phases.size(), kMaxPhases));
  for (std::int32_t i = 0; i < page_->phase_count; ++i)
    copy_name(page_->phases[i], phases[static_cast<std::size_t>(i)]);
  page_->magic = kMagic;
}

void StatusPage::set_step(std::int64_t step) noexcept { page_->step.store(step, std::memory_order_relaxed); }
void StatusPage::set_phase(int phase) noexcept { page_->phase.store(phase, std::memory_order_relaxed); }
std::int64_t* StatusPage::shown_step() noexcept {
  static_assert(sizeof(page_->step) == sizeof(std::int64_t));
  return reinterpret_cast<std::int64_t*>(&page_->step);
}
std::int32_t* StatusPage::shown_phase() noexcept {
  static_assert(sizeof(page_->phase) == sizeof(std::int32_t));
  return reinterpret_cast<std::int32_t*>(&page_->phase);
}
void StatusPage::begin_collective(const char* operation, const char* communicator, std::int64_t sequence,
                                  std::int64_t bytes) noexcept {
  const std::int64_t number = page_->begun.fetch_add(1, std::memory_order_relaxed) + 1;
  Page::Call& call = page_->calls[static_cast<std::size_t>(number) % kLastCollectives];
  call.number.store(0, std::memory_order_release);
  if (!operation) return;
  call.sequence = sequence;
  call.bytes = bytes;
  copy_name(call.operation, operation);
  copy_name(call.communicator, communicator ? communicator : "");
  call.number.store(number, std::memory_order_release);
}
void StatusPage::end_collective() noexcept { page_->ended.fetch_add(1, std::memory_order_relaxed); }

std::optional<WorkerStatus> StatusPage::read(const std::filesystem::path& file) noexcept {
  try {
    const std::string content = read_file(file);  // which may be truncated meanwhile
    if (content.size() != sizeof(Page)) return std::nullopt;
    const Page& page = *std::launder(reinterpret_cast<const Page*>(content.data()));
    if (page.magic != kMagic) return std::nullopt;
    WorkerStatus status;
    status.step = page.step.load(std::memory_order_relaxed);
    status.collectives_begun = page.begun.load(std::memory_order_relaxed);
    status.collectives_ended = page.ended.load(std::memory_order_relaxed);
    const std::int32_t phase = page.phase.load(std::memory_order_relaxed);
    if (phase >= 0 && phase < std::min<std::int32_t>(page.phase_count, kMaxPhases))
      status.phase = text_of(page.phases[phase]);
    for (const Page::Call& call : page.calls) {
      const std::int64_t number = call.number.load(std::memory_order_acquire);
      if (number == 0) continue;
      status.last_collectives.push_back(
          {number, text_of(call.operation), text_of(call.communicator), call.sequence, call.bytes});
    }
    std::ranges::sort(status.last_collectives, {}, &BegunCollective::number);
    return status;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace kymo::measure
