// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "runs.hpp"

namespace kymo::flash::test {
namespace {

/// Contiguous tensors of one shape, large ones included; filled with small random numbers by copies of one block.
class Buffers {
 public:
  explicit Buffers(const Problem& p) : p_(p) {
    const int64_t size = p.element == Element::kFloat32 ? 4 : 2;
    const Case block(Problem{1, 1, 1, 2048, 2048, 128, p.element, false, 1.f}, Layout::kHeadsFirst, 1, 1.0);
    for (size_t i = 0; i < 8; ++i) {
      const int64_t bytes = p.batch * p.heads_q * p.seq_q * p.d * size;
      check_cuda(cudaMalloc(&at_[i], static_cast<size_t>(bytes)), "cudaMalloc");
      for (int64_t done = 0; done < bytes; done += 2048 * 128 * size)
        check_cuda(cudaMemcpy(static_cast<char*>(at_[i]) + done, block.q.input().at,
                              static_cast<size_t>(std::min(2048 * 128 * size, bytes - done)), cudaMemcpyDeviceToDevice),
                   "cudaMemcpy");
    }
    check_cuda(cudaMalloc(&lse_, static_cast<size_t>(p.batch * p.heads_q * p.seq_q * 4)), "cudaMalloc");
  }
  ~Buffers() {
    for (void* at : at_) cudaFree(at);
    cudaFree(lse_);
  }
  Buffers(const Buffers&) = delete;

  Forward forward(int variant) const {
    Forward call;
    call.problem = p_, call.variant = variant;
    call.q = input(0), call.k = input(1), call.v = input(2), call.o = output(3), call.lse = static_cast<float*>(lse_);
    if (variant >= 0) call.path = path();
    return call;
  }
  Backward backward(bool deterministic, int variant) const {
    Backward call;
    call.problem = p_, call.deterministic = deterministic, call.variant = variant;
    if (variant >= 0) call.path = path();
    call.q = input(0), call.k = input(1), call.v = input(2), call.o = input(3), call.d_o = input(4),
    call.lse = static_cast<const float*>(lse_);
    call.dq = output(5), call.dk = output(6), call.dv = output(7);
    return call;
  }

 private:
  /// Of the kernels taken by number.
  Path path() const { return p_.element == Element::kFloat32 ? Path::kFloat : Path::kHopper; }
  Output output(size_t i) const { return {at_[i], p_.heads_q * p_.seq_q * p_.d, p_.seq_q * p_.d, p_.d}; }
  Input input(size_t i) const { return {at_[i], p_.heads_q * p_.seq_q * p_.d, p_.seq_q * p_.d, p_.d}; }
  Problem p_;
  void* at_[8] = {};
  void* lse_ = nullptr;
};

struct Entry {
  std::string name;
  std::function<std::string()> run;
  double flops;
  std::vector<float> ms;
};

/// Milliseconds of a call of each, taken in turn so that power and clocks are shared out evenly.
void time_in_turn(std::vector<Entry>& entries) {
  cudaEvent_t begin, end;
  check_cuda(cudaEventCreate(&begin), "cudaEventCreate");
  check_cuda(cudaEventCreate(&end), "cudaEventCreate");
  for (int round = 0; round < 12; ++round)
    for (Entry& entry : entries) {
      // Several calls in a row: of a short one alone, much of the time between the events would be the host's launching.
      const int calls = static_cast<int>(std::clamp(1e12 / entry.flops, 1.0, 20.0));
      std::string error;
      check_cuda(cudaEventRecord(begin), "cudaEventRecord");
      for (int call = 0; call < calls; ++call) error = entry.run();
      check_cuda(cudaEventRecord(end), "cudaEventRecord");
      check_cuda(cudaEventSynchronize(end), entry.name.c_str());
      float ms = 0;
      check_cuda(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
      if (error.empty() && round >= 2) entry.ms.push_back(ms / static_cast<float>(calls));
    }
  cudaEventDestroy(begin), cudaEventDestroy(end);
}

void bench_shape(Element element, int64_t d, bool causal, int64_t heads, int64_t batch, int64_t seq) {
  const Problem p{batch, heads, heads, seq, seq, d, element, causal, static_cast<float>(1 / std::sqrt(static_cast<double>(d)))};
  const Buffers buffers(p);
  const double flops = 4.0 * static_cast<double>(batch * heads) * static_cast<double>(seq * seq * d) / (causal ? 2 : 1);
  std::vector<Entry> entries;
  const Workspace counter(size_t{256});
  const auto add_forward = [&](const std::string& how, Forward call, bool counted) {
    if (counted) call.workspace = counter.at();
    entries.push_back({"forward," + kernel_name(call) + how, [call] { return launch_forward(call, nullptr); }, flops, {}});
  };
  // Kernels of larger padded head sizes could serve as well, but never faster.
  const auto family = [](const std::string& name) { return name.substr(0, name.rfind('_')); };
  const std::string chosen = family(kernel_name(buffers.forward(-1)));
  for (int variant = -1; variant < kVariants; ++variant) {
    const Forward call = buffers.forward(variant);
    if (!supported(call) || family(kernel_name(call)) != chosen) continue;
    const std::string how = variant < 0 ? "" : ":" + std::to_string(variant);
    add_forward(how, call, true);
    if (workspace_bytes(call) > 0) add_forward(how + ":uncounted", call, false);
  }
  std::vector<std::unique_ptr<Workspace>> workspaces;
  const auto add_backward = [&](const std::string& how, Backward call) {
    workspaces.push_back(std::make_unique<Workspace>(call));
    call.workspace = workspaces.back()->at();
    entries.push_back({"backward," + kernel_name(call) + how, [call] { return launch_backward(call, nullptr); }, 2.5 * flops, {}});
  };
  for (const bool deterministic : {false, true}) {
    const Backward call = buffers.backward(deterministic, -1);
    if (supported(call)) add_backward(deterministic ? ":deterministic" : "", call);
  }
  const std::string backward_family = family(kernel_name(buffers.backward(false, -1)));
  for (int variant = 0; element == Element::kFloat32 && variant < kVariants; ++variant) {
    const Backward call = buffers.backward(false, variant);
    if (supported(call) && family(kernel_name(call)) == backward_family) add_backward(":" + std::to_string(variant), call);
  }
  time_in_turn(entries);
  const char* elements[] = {"fp32", "bf16", "fp16"};
  for (Entry& entry : entries) {
    if (entry.ms.empty()) continue;
    std::sort(entry.ms.begin(), entry.ms.end());
    const double median = entry.ms[entry.ms.size() / 2];
    std::printf("%s,%s,%d,%s,%d,%d,%d,%.4f,%.4f,%.1f\n", entry.name.c_str(), elements[static_cast<int>(element)], static_cast<int>(d),
                causal ? "causal" : "full", static_cast<int>(batch), static_cast<int>(heads), static_cast<int>(seq), median,
                static_cast<double>(entry.ms.front()), entry.flops / median / 1e9);
  }
  std::fflush(stdout);
}

constexpr const char* kColumns = "pass,kernel,element,d,mask,batch,heads,seq,median_ms,least_ms,tflops";

}  // namespace

int bench_floats() {
  std::puts(kColumns);
  for (const int64_t d : {64, 128})
    for (const bool causal : {false, true})
      for (const int64_t seq : {1024, 4096, 16384}) bench_shape(Element::kFloat32, d, causal, 1024 / d, 16384 / seq, seq);
  return 0;
}

int bench() {
  std::puts(kColumns);
  for (const int64_t d : {128, 64})
    for (const bool causal : {false, true})
      for (int64_t seq = 512; seq <= 16384; seq *= 2) bench_shape(Element::kBfloat16, d, causal, 2048 / d, 16384 / seq, seq);
  bench_shape(Element::kBfloat16, 64, true, 16, 1, 16384);  // the leaderboard's
  for (const bool causal : {false, true}) {
    bench_shape(Element::kFloat16, 128, causal, 16, 4, 4096);
    for (const int64_t d : {32, 96, 256}) bench_shape(Element::kBfloat16, d, causal, d == 96 ? 21 : 2048 / d, 4, 4096);
    for (const int64_t d : {64, 128}) bench_shape(Element::kFloat32, d, causal, 1024 / d, 4, 2048);
  }
  return 0;
}

}  // namespace kymo::flash::test
