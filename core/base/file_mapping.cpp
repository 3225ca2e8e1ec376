// SPDX-License-Identifier: Apache-2.0
#include "base/file_mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>

namespace kymo {

/// What the signal handler knows of a mapping.
struct FileMapping::Entry {
  std::atomic<bool> used;
  std::atomic<std::uintptr_t> begin;  // 0 if there is no memory
  std::atomic<std::size_t> bytes;
  std::atomic<bool> lost;
};

namespace {

using Entry = FileMapping::Entry;
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

Entry entries[64];  // a process has fewer than ten mappings
struct sigaction earlier;
std::atomic<bool> is_passed_on{false};  // to the earlier handler, which may call this one

Entry* unused_entry() noexcept {
  for (Entry& entry : entries)
    if (!entry.used.exchange(true)) return &entry;
  errno = ENOMEM;
  return nullptr;
}

bool replace_at(std::uintptr_t address) noexcept {
  for (Entry& entry : entries) {
    const std::uintptr_t begin = entry.begin;
    if (begin == 0 || address < begin || address - begin >= entry.bytes) continue;
    entry.lost = true;
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    return mmap(reinterpret_cast<void*>(begin), entry.bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0) != MAP_FAILED;
  }
  return false;
}

void on_bus_error(int number, siginfo_t* cause, void*) {
  const int error = errno;
  const bool is_fault = cause->si_code > 0;
  if (!is_fault || !replace_at(reinterpret_cast<std::uintptr_t>(cause->si_addr))) {
    const struct sigaction none{};
    sigaction(number, is_passed_on.exchange(true) ? &none : &earlier, nullptr);
    if (!is_fault) raise(number);  // a fault occurs again by itself
  }
  errno = error;
}

}  // namespace

void FileMapping::guard() noexcept {
  struct sigaction current{};
  if (sigaction(SIGBUS, nullptr, &current) != 0 || current.sa_sigaction == on_bus_error) return;
  earlier = current;
  struct sigaction own{};
  own.sa_sigaction = on_bus_error;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK;
  is_passed_on = false;
  sigaction(SIGBUS, &own, nullptr);
}

FileMapping::FileMapping(int fd, std::size_t offset, std::size_t bytes) noexcept {
  static std::once_flag guarded;
  std::call_once(guarded, guard);
  const auto from = static_cast<off_t>(offset);
  errno = posix_fallocate(fd, from, static_cast<off_t>(bytes));
  if (errno != 0) return;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, from);
  if (memory == MAP_FAILED) return;
  entry_ = unused_entry();
  if (!entry_) {
    munmap(memory, bytes);
    return;
  }
  entry_->lost = false;
  entry_->bytes = bytes;
  entry_->begin = reinterpret_cast<std::uintptr_t>(memory);
}

FileMapping::~FileMapping() {
  if (!entry_) return;
  void* const memory = data();
  entry_->begin = 0;
  munmap(memory, entry_->bytes);
  entry_->used = false;
}

std::byte* FileMapping::data() const noexcept {
  return entry_ ? reinterpret_cast<std::byte*>(entry_->begin.load(std::memory_order_relaxed)) : nullptr;
}

bool FileMapping::is_lost() const noexcept { return entry_ && entry_->lost; }

}  // namespace kymo
