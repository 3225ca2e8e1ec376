// SPDX-License-Identifier: Apache-2.0
// Checks and times the attention kernels without LibTorch.
//   flash_kernels check [COUNT]   COUNT random problems for each path (default 60), then streams, graphs and repeatability
//   flash_kernels check-fp32 [COUNT]   the part of it that runs fp32
//   flash_kernels bench           CSV of times on standard output
//   flash_kernels bench-fp32      the same for every fp32 kernel, by number
// Exit code 0: all right; 1: something is wrong; 2: unknown command; 77: no GPU.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "runs.hpp"

int main(int argc, char** argv) {
  using namespace kymo::flash::test;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::puts("no GPU"), 77;
  try {
    const std::string what = argc > 1 ? argv[1] : "check";
    const int count = argc > 2 ? std::atoi(argv[2]) : 60;
    if (what == "bench") return bench();
    if (what == "bench-fp32") return bench_floats();
    if (what == "check-fp32") return check_floats(count);
    if (what == "check") return check(count);
    std::fprintf(stderr, "flash_kernels: '%s' is none of check, check-fp32, bench, bench-fp32\n", what.c_str());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flash_kernels: %s\n", error.what());
    return 1;
  }
}
