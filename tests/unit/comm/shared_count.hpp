// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

/// A number that ranks share, so that one waits for what others have done instead of for some time. To be created
/// before the ranks are.
class SharedCount {
 public:
  SharedCount() {
    void* const memory = mmap(nullptr, sizeof(*count_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    count_ = new (memory) std::atomic<int>(0);
  }
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;
  ~SharedCount() { munmap(count_, sizeof(*count_)); }

  void add() { ++*count_; }
  /// Only the time limit of the test ends it.
  void wait_for(int count) const {
    while (*count_ < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::atomic<int>* count_;
};
