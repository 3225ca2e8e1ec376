// SPDX-License-Identifier: Apache-2.0
#include "store/mapped_stream.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace kymo::store {
namespace {

constexpr std::size_t kPageBytes = 4096;  // the smallest there are

/// Allocates all pages of a chunk that contains zeros.
void populate(std::byte* chunk) noexcept {
#ifdef MADV_POPULATE_WRITE
  if (madvise(chunk, MappedStream::kChunkBytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  // The kernel is older than 5.14.
  for (std::size_t at = 0; at < MappedStream::kChunkBytes; at += kPageBytes)
    *static_cast<volatile std::byte*>(chunk + at) = std::byte{0};
}

}  // namespace

MappedStream::~MappedStream() {
  if (!ahead_) return;
  // A child has no such thread, and would wait for it forever.
  if (owner_ != getpid()) {
    ahead_.release();
    return;
  }
  {
    const std::lock_guard lock(ahead_->mutex);
    ahead_->end = true;
  }
  ahead_->changed.notify_all();
  if (ahead_->thread.joinable()) ahead_->thread.join();
}

bool MappedStream::append(std::span<const std::byte> bytes) noexcept {
  if (failed_ || (chunk_ && owner_ != getpid())) return false;
  if (!chunk_ && !open_first()) return !(failed_ = true);
  if (used_ == kChunkBytes && !open_next(nullptr)) return false;
  std::byte* const head = chunk_.data() + used_;
  FileMapping first;  // the chunk of the head, once it is full
  used_ += sizeof(std::uint32_t);
  for (std::span rest = bytes.subspan(sizeof(std::uint32_t)); !rest.empty();) {
    if (used_ == kChunkBytes && !open_next(&first)) return false;
    const std::size_t count = std::min(rest.size(), kChunkBytes - used_);
    std::memcpy(chunk_.data() + used_, rest.data(), count);
    used_ += count;
    rest = rest.subspan(count);
  }
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof(word));
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(head)).store(word, std::memory_order_release);
  failed_ = chunk_.is_lost() || first.is_lost();
  if (first) {
    const std::lock_guard lock(ahead_->mutex);
    ahead_->full.push_back(std::move(first));
  }
  return !failed_;
}

bool MappedStream::open_first() noexcept {
  owner_ = getpid();
  chunk_ = map_chunk(0);
  if (!chunk_) return false;
  ahead_ = std::make_unique<Ahead>();
  // The program's threads receive its signals, but each thread its own faults.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    ahead_->thread = std::thread([this] { map_ahead(); });
  } catch (const std::system_error&) {  // then open_next() maps the chunks
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return true;
}

bool MappedStream::open_next(FileMapping* kept) noexcept {
  std::unique_lock lock(ahead_->mutex);
  if (ahead_->thread.joinable())
    ahead_->changed.wait(lock, [this] { return ahead_->next.has_value(); });
  else
    ahead_->next = map_chunk(ahead_->number + 1);
  if (!*ahead_->next || chunk_.is_lost()) return !(failed_ = true);
  if (kept && !*kept)
    *kept = std::move(chunk_);
  else
    ahead_->full.push_back(std::move(chunk_));
  chunk_ = std::move(*ahead_->next);
  used_ = 0;
  ++ahead_->number;
  ahead_->next.reset();
  lock.unlock();
  ahead_->changed.notify_all();
  return true;
}

void MappedStream::map_ahead() noexcept {
  pthread_setname_np(pthread_self(), "kymo journal");
  std::unique_lock lock(ahead_->mutex);
  while (!ahead_->end) {
    if (ahead_->next) {
      ahead_->changed.wait(lock);
      continue;
    }
    const std::size_t number = ahead_->number + 1;
    std::vector<FileMapping> full = std::exchange(ahead_->full, {});
    lock.unlock();
    FileMapping chunk = map_chunk(number);
    full.clear();
    lock.lock();
    ahead_->next = std::move(chunk);
    ahead_->changed.notify_all();
  }
}

FileMapping MappedStream::map_chunk(std::size_t number) noexcept {
  const int create = number == 0 ? O_CREAT | O_EXCL : 0;
  const int fd = open(file_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | create, 0600);
  if (fd < 0) return {};
  struct stat found{};
  // Another process may have taken the place of this one, with a file of its own, or have truncated the file.
  const auto begin = static_cast<off_t>(number * kChunkBytes);
  const bool is_known = fstat(fd, &found) == 0 && (number == 0 || found.st_ino == inode_) && found.st_size == begin;
  if (number == 0) inode_ = found.st_ino;
  FileMapping chunk = is_known ? FileMapping(fd, number * kChunkBytes, kChunkBytes) : FileMapping();
  close(fd);
  if (chunk) populate(chunk.data());
  return chunk;
}

}  // namespace kymo::store
