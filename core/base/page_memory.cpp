// SPDX-License-Identifier: Apache-2.0
#include "base/page_memory.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace kymo {
namespace {

class PageMemory final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t) override { munmap(memory, bytes); }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

std::pmr::memory_resource* page_memory() noexcept {
  static PageMemory memory;
  return &memory;
}

}  // namespace kymo
