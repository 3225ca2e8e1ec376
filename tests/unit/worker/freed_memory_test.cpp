// SPDX-License-Identifier: Apache-2.0
#include "worker/freed_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/process.hpp"

namespace kymo::worker {
namespace {

constexpr std::int64_t kBlockBytes = std::int64_t{16} << 20;

/// Like a step with temporary memory.
void use_a_block() {
  void* block = std::malloc(kBlockBytes);
  std::memset(block, 1, kBlockBytes);
  // Prevents the compiler from removing the unused block.
  asm volatile("" : : "g"(block) : "memory");
  std::free(block);
}

#ifndef __has_feature  // an operator of Clang
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
// Sanitizers replace the allocator, for which mallopt() and malloc_trim() have no effect.
constexpr bool kAllocatorOfGlibc = false;
#else
constexpr bool kAllocatorOfGlibc = true;
#endif

TEST(FreedMemory, StaysWithTheProcessUntilItIsReturned) {
  if (!kAllocatorOfGlibc) GTEST_SKIP() << "the allocator of a sanitizer cannot be told what to keep";
  ASSERT_TRUE(keep_freed_memory());
  const std::int64_t before = resident_bytes(getpid()).value();
  use_a_block();
  EXPECT_GT(resident_bytes(getpid()).value() - before, kBlockBytes / 2);
  return_freed_memory();
  EXPECT_LT(resident_bytes(getpid()).value() - before, kBlockBytes / 2);
}

void expect_users_choice(const char* variable, const char* value) {
  setenv(variable, value, 1);
  EXPECT_FALSE(keep_freed_memory()) << variable;
  unsetenv(variable);
}

TEST(FreedMemory, IsTheUsersToDecideAbout) {
  if (!kAllocatorOfGlibc) GTEST_SKIP() << "the allocator of a sanitizer cannot be told what to keep";
  expect_users_choice("MALLOC_TRIM_THRESHOLD_", "131072");
  expect_users_choice("MALLOC_MMAP_THRESHOLD_", "131072");
  expect_users_choice("GLIBC_TUNABLES", "glibc.rtld.nns=2:glibc.malloc.trim_threshold=131072");
  setenv("GLIBC_TUNABLES", "glibc.rtld.nns=2", 1);
  EXPECT_TRUE(keep_freed_memory());
  unsetenv("GLIBC_TUNABLES");
}

}  // namespace
}  // namespace kymo::worker
