// SPDX-License-Identifier: Apache-2.0
// Bandwidth of memory and of the L2 cache, in the manner of STREAM; see compare_peaks.py.
//
//   cc -O3 -fopenmp -march=native stream.c -o stream
//   stream MEMORY_BYTES CACHE_BYTES_PER_THREAD
//
// For each word on standard input, copy, read or cache, it prints the highest rate of some repetitions in bytes per
// second. Reading is tried with 1, 2, 4 and 8 streams per thread.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRepetitions = 3 };

__attribute__((noinline)) static void copy(double* restrict to, const double* restrict from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = from[i];
}

#define READ(STREAMS)                                                       \
  static uint64_t read_##STREAMS(const uint64_t* from, size_t count) {      \
    uint64_t sums[STREAMS] = {0};                                           \
    const size_t part = count / (STREAMS);                                  \
    for (size_t i = 0; i < part; ++i)                                       \
      for (size_t s = 0; s < (STREAMS); ++s) sums[s] += from[s * part + i]; \
    uint64_t sum = 0;                                                       \
    for (size_t s = 0; s < (STREAMS); ++s) sum += sums[s];                  \
    return sum;                                                             \
  }
READ(1)
READ(2)
READ(4)
READ(8)

typedef uint64_t (*Reader)(const uint64_t*, size_t);
static volatile uint64_t sink;

// Reads the part of each thread `repeats` times; returns seconds.
static double read_all(Reader reader, const uint64_t* from, size_t per_thread, int repeats) {
  const double begin = omp_get_wtime();
  uint64_t sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (int i = 0; i < repeats; ++i) {
    sum += reader(from + (size_t)omp_get_thread_num() * per_thread, per_thread);
    __asm__ volatile("" : : : "memory");
  }
  sink = sum;
  return omp_get_wtime() - begin;
}

static double copy_all(double* to, const double* from, size_t per_thread) {
  const double begin = omp_get_wtime();
#pragma omp parallel
  {
    const size_t first = (size_t)omp_get_thread_num() * per_thread;
    copy(to + first, from + first, per_thread);
  }
  return omp_get_wtime() - begin;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const size_t threads = (size_t)omp_get_max_threads();
  const size_t per_thread = strtoull(argv[1], NULL, 10) / sizeof(double) / threads;
  const size_t cached = strtoull(argv[2], NULL, 10) / sizeof(double);
  const size_t bytes = per_thread * threads * sizeof(double);
  const int repeats = (int)(((size_t)1 << 29) / (cached * sizeof(double)));
  double* a = aligned_alloc(64, (bytes + 63) / 64 * 64);
  double* b = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!a || !b) return 1;
#pragma omp parallel
  {
    const size_t first = (size_t)omp_get_thread_num() * per_thread;
    for (size_t i = first; i < first + per_thread; ++i) a[i] = (double)i, b[i] = 0;
  }
  const Reader readers[] = {read_1, read_2, read_4, read_8};
  char word[16];
  while (scanf("%15s", word) == 1) {
    double best = 0;
    for (int i = 0; i < kRepetitions; ++i) {
      if (strcmp(word, "copy") == 0) {
        const double rate = (double)bytes / copy_all(b, a, per_thread / 2);
        if (rate > best) best = rate;
        continue;
      }
      for (size_t r = 0; r < sizeof readers / sizeof *readers; ++r) {
        const int in_cache = strcmp(word, "cache") == 0;
        const size_t part = in_cache ? cached : per_thread;
        const int times = in_cache ? repeats : 1;
        const double rate =
            (double)(part * threads * sizeof(double)) * times / read_all(readers[r], (const uint64_t*)a, part, times);
        if (rate > best) best = rate;
      }
    }
    printf("%.6e\n", best);
    fflush(stdout);
  }
  return 0;
}
