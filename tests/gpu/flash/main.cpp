// SPDX-License-Identifier: Apache-2.0
// Checks and times the attention kernels without LibTorch.
//   flash_kernels check [COUNT [D [LEFT_OUT...]]]   COUNT random problems for each path (default 60), then streams, graphs and
//                                                   repeatability; D: of this head size alone (0: of all)
//   flash_kernels bench [D [LEFT_OUT...]]           CSV of times on standard output; D: of this head size alone (0: the usual ones)
// LEFT_OUT: part of the names of kernels that are not run by number.
// Exit code 0: all right; 1: something is wrong; 77: no GPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "runs.hpp"

int main(int argc, char** argv) {
  using namespace kymo::flash::test;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::puts("no GPU"), 77;
  try {
    const bool times = argc > 1 && !std::strcmp(argv[1], "bench");
    for (int i = times ? 3 : 4; i < argc; ++i) left_out.push_back(argv[i]);
    if (times) return bench(argc > 2 ? std::atoi(argv[2]) : 0);
    return check(argc > 2 ? std::atoi(argv[2]) : 60, argc > 3 ? std::atoi(argv[3]) : 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flash_kernels: %s\n", error.what());
    return 1;
  }
}
