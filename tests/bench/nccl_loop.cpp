// SPDX-License-Identifier: Apache-2.0
// NCCL's all-reduce in a bare loop without kymo and LibTorch, as a reference for kymo's all-reduce (see
// compare_collectives.py).
//   nccl_loop RANKS [BYTES ...]
// One process per GPU, fp32, in place, on one stream. Prints CSV: bytes, ms per call of many back-to-back calls (host
// clock around k calls and one synchronization), its algbw and busbw in GB/s, and the median time of calls that are
// synchronized individually (call_ms); each for the slowest rank.
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

constexpr int kMaxRanks = 64;
constexpr int kSynchronisedCalls = 50;

/// Shared memory of the processes.
struct Shared {
  std::atomic<int> id_is_set{0};
  std::atomic<int> arrived{0};
  ncclUniqueId id;
  double call_seconds[kMaxRanks];
  double synchronised_seconds[kMaxRanks][kSynchronisedCalls];
};

void require(bool holds, const char* what, const char* why) {
  if (holds) return;
  std::fprintf(stderr, "nccl_loop: %s: %s\n", what, why);
  _exit(1);
}
void require(cudaError_t result, const char* what) { require(result == cudaSuccess, what, cudaGetErrorString(result)); }
void require(ncclResult_t result, const char* what) {
  require(result == ncclSuccess, what, ncclGetErrorString(result));
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class Rank {
 public:
  Rank(Shared& shared, int rank, int size) : shared_(shared), rank_(rank), size_(size) {
    require(cudaSetDevice(rank), "no GPU for a rank");
    if (rank == 0) {
      require(ncclGetUniqueId(&shared.id), "no id");
      shared.id_is_set = 1;
    }
    while (!shared.id_is_set) usleep(1000);
    require(ncclCommInitRank(&comm_, size, shared.id, rank), "no communicator");
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "no stream");
  }

  void measure(std::size_t bytes) {
    require(cudaMalloc(&buffer_, bytes), "no memory");
    require(cudaMemset(buffer_, 0, bytes), "no memory");
    count_ = bytes / sizeof(float);
    for (int i = 0; i < 5; ++i) call();
    synchronise();
    const int calls = bytes <= (1 << 20) ? 2000 : bytes <= (64 << 20) ? 50 : 10;
    meet();
    double start = seconds();
    for (int i = 0; i < calls; ++i) call();
    synchronise();
    shared_.call_seconds[rank_] = (seconds() - start) / calls;
    for (double& spent : shared_.synchronised_seconds[rank_]) {
      meet();
      start = seconds();
      call();
      synchronise();
      spent = seconds() - start;
    }
    meet();
    if (rank_ == 0) print(bytes);
    meet();
    require(cudaFree(buffer_), "memory");
  }

 private:
  void call() { require(ncclAllReduce(buffer_, buffer_, count_, ncclFloat32, ncclSum, comm_, stream_), "all-reduce"); }
  void synchronise() { require(cudaStreamSynchronize(stream_), "synchronise"); }

  /// Spins, so that all ranks continue within a microsecond.
  void meet() {
    const int turn = shared_.arrived.fetch_add(1) / size_;
    while (shared_.arrived.load() < (turn + 1) * size_) {
    }
  }

  void print(std::size_t bytes) const {
    const double call = *std::max_element(shared_.call_seconds, shared_.call_seconds + size_);
    std::vector<double> slowest(kSynchronisedCalls, 0.0);
    for (int rank = 0; rank < size_; ++rank)
      for (std::size_t i = 0; i < slowest.size(); ++i)
        slowest[i] = std::max(slowest[i], shared_.synchronised_seconds[rank][i]);
    std::nth_element(slowest.begin(), slowest.begin() + kSynchronisedCalls / 2, slowest.end());
    const double algbw = static_cast<double>(bytes) / call / 1e9;
    std::printf("%zu,%.6f,%.3f,%.3f,%.6f\n", bytes, call * 1e3, algbw, algbw * 2 * (size_ - 1) / size_,
                slowest[kSynchronisedCalls / 2] * 1e3);
    std::fflush(stdout);
  }

  Shared& shared_;
  const int rank_;
  const int size_;
  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  void* buffer_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 0;
  if (size < 1 || size > kMaxRanks) {
    std::fprintf(stderr, "usage: nccl_loop RANKS [BYTES ...], with 1 to %d ranks\n", kMaxRanks);
    return 2;
  }
  std::vector<std::size_t> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty())
    for (std::size_t bytes = 1 << 10; bytes <= (1u << 30); bytes *= 4) sizes.push_back(bytes);

  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto* shared = new (memory) Shared;
  std::printf("bytes,ms,algbw,busbw,call_ms\n");
  std::fflush(stdout);
  for (int rank = 0; rank < size; ++rank) {
    if (fork() != 0) continue;
    Rank here(*shared, rank, size);
    for (const std::size_t bytes : sizes) here.measure(bytes);
    _exit(0);
  }
  bool all_well = true;
  for (int status = 0; wait(&status) > 0;) all_well = all_well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return all_well ? 0 : 1;
}
