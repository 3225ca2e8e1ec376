// SPDX-License-Identifier: Apache-2.0
// Checks and times the attention kernels without LibTorch.
//
//   flash_kernels check|bench [count=N] [d=D] [element=fp32|bf16|fp16] [path=hopper|portable|float] [brief] [single]
//                 [decode] [without=PART]...
//
//   check    compare random problems and long shapes with an fp64 reference, for every kernel by number; expect
//            bitwise equal results from repetitions, streams and graphs
//   bench    print CSV with the times of every kernel by number, measured in interleaved rounds
//   count    check: random problems per path and element type (default 60); bench: timed rounds (default 10)
//   d        only this head size; bench: at 512 to 16384 keys
//   element, path   only this element type, this path
//   brief    check: only random problems, for example under compute-sanitizer
//   single   bench: one head, batch 1 and 8, 256 to 32768 keys, with head size d or 64
//   decode   bench: forward of one query with 32 heads on 8 and on 1, batch 1 to 16, 1024 to 32768 keys, with head size
//            d or 64 and 128; from CUDA graphs
//   without  do not run kernels whose names contain PART by number; may be repeated
//
// Exit codes: 0 success, 1 failed check or error, 2 invalid command line, 77 no GPU.
#include <cstdio>
#include <exception>
#include <string>

#include "../machine.hpp"
#include "runs.hpp"

int main(int argc, char** argv) {
  using namespace kymo::flash::test;
  try {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what != "check" && what != "bench")
      throw WrongWord("the first argument must be check or bench, not '" + what + "'");
    const Choice choice = read_words({argv + 2, argv + argc});
    int devices = 0;
    if (!kymo::machine::has_gpu()) return std::puts("no GPU"), 77;
    if (const cudaError_t failed = cudaGetDeviceCount(&devices); failed != cudaSuccess || devices == 0)
      return std::fprintf(stderr, "flash_kernels: CUDA finds no GPU: %s\n", cudaGetErrorString(failed)), 1;
    return what == "bench" ? bench(choice) : check(choice);
  } catch (const WrongWord& error) {
    std::fprintf(stderr, "flash_kernels: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flash_kernels: %s\n", error.what());
    return 1;
  }
}
