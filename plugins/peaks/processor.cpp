// SPDX-License-Identifier: Apache-2.0
#include "processor.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace kymo::peaks {
namespace {

std::string first_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// Calls work(first, last) on each of the threads with its part of [0, count).
template <typename Work>
void on_threads(std::size_t count, int threads, const Work& work) {
  const std::size_t part = (count + static_cast<std::size_t>(threads) - 1) / static_cast<std::size_t>(threads);
  const auto call = [&](int thread) {
    const std::size_t first = std::min(static_cast<std::size_t>(thread) * part, count);
    work(thread, first, std::min(first + part, count));
  };
  std::vector<std::jthread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(call, thread);
  call(0);
}

// Compiled for several instruction sets, because the build is for the oldest one.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define KYMO_VECTORIZED [[gnu::optimize("O3"), gnu::target_clones("avx512f", "avx2", "default"), gnu::noinline]]
#else
#define KYMO_VECTORIZED
#endif

/// Sum of 4 * quarter words. Four streams keep more cache lines in flight than one.
KYMO_VECTORIZED std::uint32_t sum_of(const std::uint32_t* words, std::size_t quarter) {
  const std::uint32_t* second = words + quarter;
  const std::uint32_t* third = second + quarter;
  const std::uint32_t* fourth = third + quarter;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  for (std::size_t i = 0; i < quarter; ++i) {
    a += words[i];
    b += second[i];
    c += third[i];
    d += fourth[i];
  }
  return a + b + c + d;
}

}  // namespace

CacheSizes cache_sizes() {
  CacheSizes sizes;
  for (int index = 0;; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string level = first_line(folder + "level");
    if (level.empty()) return sizes;
    const std::string size = first_line(folder + "size");  // such as 48K
    if (size.empty() || first_line(folder + "type") == "Instruction") continue;
    const std::int64_t bytes = std::stoll(size) * (size.back() == 'M' ? 1 << 20 : size.back() == 'K' ? 1 << 10 : 1);
    if (level == "1") sizes.first = bytes;
    if (level == "2") sizes.second = bytes;
    sizes.last = std::max(sizes.last, bytes);
  }
}

std::int64_t physical_memory() { return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE); }

void copy_with_threads(void* target, const void* source, std::size_t bytes, int threads) {
  // memcpy() writes large blocks past the caches, which otherwise read each line before it is overwritten.
  on_threads(bytes, threads, [&](int, std::size_t first, std::size_t last) {
    std::memcpy(static_cast<char*>(target) + first, static_cast<const char*>(source) + first, last - first);
  });
}

std::uint32_t read_with_threads(const std::uint32_t* words, std::size_t count, int repeats, int threads) {
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(threads));
  on_threads(count, threads, [&](int thread, std::size_t first, std::size_t last) {
    std::uint32_t sum = 0;
    const std::size_t quarter = (last - first) / 4;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      sum += sum_of(words + first, quarter);
      for (std::size_t i = first + 4 * quarter; i < last; ++i) sum += words[i];
      asm volatile("" : "+r"(sum) : : "memory");  // the next repetition reads again
    }
    sums[static_cast<std::size_t>(thread)] = sum;
  });
  std::uint32_t total = 0;
  for (const std::uint32_t sum : sums) total += sum;
  return total;
}

double core_clock() {
  constexpr int kTrials = 5, kRounds = 50'000, kAdditions = 8;
  double best_s = std::numeric_limits<double>::max();
  std::uint64_t value = 1, step = 3;
  asm volatile("" : "+r"(step));  // a register: processors may skip the addition of a constant
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto begin = std::chrono::steady_clock::now();
    for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 8
      for (int i = 0; i < kAdditions; ++i) {
        value += step;
        asm volatile("" : "+r"(value));
      }
    }
    best_s = std::min(best_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return kRounds * kAdditions / best_s;
}

}  // namespace kymo::peaks
