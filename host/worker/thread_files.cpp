// SPDX-License-Identifier: Apache-2.0
#include "worker/thread_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace kymo::worker {
namespace {

std::string begin_of(int directory, const std::string& name) {
  const int file = openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::array<char, 256> text;
  const ssize_t size = read(file, text.data(), text.size());
  close(file);
  return size < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

std::string begin_of(const std::filesystem::path& file) { return begin_of(AT_FDCWD, file); }

void for_each_thread(const std::filesystem::path& proc, const std::string& name,
                     const std::function<void(std::int64_t, const std::string&)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(opendir((proc / "self/task").c_str()), closedir);
  if (!threads) return;
  while (const dirent* thread = readdir(threads.get())) {
    if (thread->d_name[0] == '.') continue;
    visit(std::atoll(thread->d_name), begin_of(dirfd(threads.get()), std::string(thread->d_name) + '/' + name));
  }
}

}  // namespace kymo::worker
