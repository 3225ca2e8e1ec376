// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

#include "runs.hpp"

namespace kymo::flash::test {
namespace {

/// Contiguous tensors of one shape, possibly large, filled by copying one block of small random numbers. Without
/// gradients, only for forward().
class Buffers {
 public:
  Buffers(const Problem& p, Path path, bool gradients) : p_(p), path_(path) {
    const int64_t size = p.element == Element::kFloat32 ? 4 : 2;
    const Case block(Problem{1, 1, 1, 2048, 8, 128, p.element, false, 1.f}, Layout::kHeadsFirst, 1, 1.0);
    for (size_t i = 0; i < (gradients ? 8 : 4); ++i) {
      const int64_t bytes = p.batch * heads(i) * rows(i) * p.d * size;
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
    call.path = path(variant);
    return call;
  }
  Backward backward(bool deterministic, int variant) const {
    Backward call;
    call.problem = p_, call.deterministic = deterministic, call.variant = variant;
    call.path = path(variant);
    call.q = input(0), call.k = input(1), call.v = input(2), call.o = input(3), call.d_o = input(4),
    call.lse = static_cast<const float*>(lse_);
    call.dq = output(5), call.dk = output(6), call.dv = output(7);
    return call;
  }

 private:
  /// Returns the requested path, or else the best one for this variant.
  Path path(int variant) const {
    if (path_ != Path::kAutomatic || variant < 0) return path_;
    return p_.element == Element::kFloat32 ? Path::kFloat : Path::kHopper;
  }
  /// Whether it is K, V or one of their gradients.
  static bool of_keys(size_t i) { return i == 1 || i == 2 || i == 6 || i == 7; }
  int64_t heads(size_t i) const { return of_keys(i) ? p_.heads_kv : p_.heads_q; }
  int64_t rows(size_t i) const { return of_keys(i) ? p_.seq_k : p_.seq_q; }
  Output output(size_t i) const { return {at_[i], heads(i) * rows(i) * p_.d, rows(i) * p_.d, p_.d}; }
  Input input(size_t i) const { return {at_[i], heads(i) * rows(i) * p_.d, rows(i) * p_.d, p_.d}; }
  Problem p_;
  Path path_;
  void* at_[8] = {};
  void* lse_ = nullptr;
};

struct Entry {
  std::string name;
  std::function<std::string(Stream)> run;
  double flops;
  std::vector<float> ms;
};

/// Several calls per measurement: for a single short call, launch overhead would dominate the time between the events.
int calls_of(const Entry& entry) { return static_cast<int>(std::clamp(1e12 / entry.flops, 1.0, 20.0)); }

/// A graph of the calls of one measurement, so that the host's time per call does not limit short ones.
class CallGraph {
 public:
  explicit CallGraph(const Entry& entry) {
    check_cuda(cudaStreamCreate(&stream_), "cudaStreamCreate");
    check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    for (int call = 0; call < calls_of(entry); ++call) error_ = entry.run(stream_);
    cudaGraph_t graph;
    check_cuda(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    check_cuda(cudaGraphInstantiate(&ready_, graph, 0), "cudaGraphInstantiate");
    cudaGraphDestroy(graph);
  }
  ~CallGraph() { cudaGraphExecDestroy(ready_), cudaStreamDestroy(stream_); }
  CallGraph(const CallGraph&) = delete;
  std::string run() const {
    check_cuda(cudaGraphLaunch(ready_, nullptr), "cudaGraphLaunch");
    return error_;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
  std::string error_;
};

/// Measures the time per call of each entry in ms, with interleaved rounds so that power and clock changes affect all
/// entries alike.
void time_in_turn(std::vector<Entry>& entries, int rounds, bool graphs) {
  constexpr int kUntimed = 2;
  std::vector<std::unique_ptr<CallGraph>> ready;
  for (const Entry& entry : entries) ready.push_back(graphs ? std::make_unique<CallGraph>(entry) : nullptr);
  cudaEvent_t begin, end;
  check_cuda(cudaEventCreate(&begin), "cudaEventCreate");
  check_cuda(cudaEventCreate(&end), "cudaEventCreate");
  for (int round = 0; round < kUntimed + rounds; ++round)
    for (size_t i = 0; i < entries.size(); ++i) {
      Entry& entry = entries[i];
      std::string error;
      check_cuda(cudaEventRecord(begin), "cudaEventRecord");
      if (graphs) error = ready[i]->run();
      for (int call = 0; call < calls_of(entry) && !graphs; ++call) error = entry.run(nullptr);
      check_cuda(cudaEventRecord(end), "cudaEventRecord");
      check_cuda(cudaEventSynchronize(end), entry.name.c_str());
      float ms = 0;
      check_cuda(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
      if (error.empty() && round >= kUntimed) entry.ms.push_back(ms / static_cast<float>(calls_of(entry)));
    }
  cudaEventDestroy(begin), cudaEventDestroy(end);
}

struct Shape {
  Element element;
  int64_t d;
  bool causal;
  int64_t heads, batch, seq;
  int64_t heads_kv = 0, queries = 0;  // 0: as many as query heads, as keys

  Problem problem() const {
    return {batch,
            heads,
            heads_kv ? heads_kv : heads,
            queries ? queries : seq,
            seq,
            d,
            element,
            causal,
            static_cast<float>(1 / std::sqrt(static_cast<double>(d)))};
  }
};

std::string numbered(int variant) { return variant < 0 ? "" : ":" + std::to_string(variant); }

/// All kernels to time for one shape; entries for the dispatch table's choice have no number.
class Entries {
 public:
  Entries(const Shape& shape, const Problem& p, const Choice& choice)
      : shape_(shape), choice_(choice), buffers_(p, choice.path, !choice.decode) {
    flops_ = 4.0 * static_cast<double>(shape.batch * shape.heads) * static_cast<double>(p.seq_q * p.seq_k * p.d) /
             (shape.causal ? 2 : 1);
    for (int variant = -1; variant < kMaxVariants; ++variant) add_forward(variant);
    for (int variant = -1; variant < kMaxVariants && !choice.decode; ++variant) add_backward(variant);
  }

  std::vector<Entry> all;

 private:
  /// Excludes kernels for larger padded head sizes, which support the size but are never faster, for decoding those
  /// that split no keys, and does not time the table's choice twice.
  template <class Call>
  bool wanted(const Call& call, const Call& usual) const {
    const std::string name = kernel_name(call);
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (choice_.decode && call.variant >= 0 && !has("_decode") && !has("_splitkv")) return false;
    return choice_.runs(call) && (call.variant < 0 || (of_size(name, shape_.d) && name != kernel_name(usual)));
  }
  void add_forward(int variant) {
    Forward call = buffers_.forward(variant);
    if (!wanted(call, buffers_.forward(-1))) return;
    const std::string name = "forward," + kernel_name(call) + numbered(variant);
    if (workspace_bytes(call) > 0 && !choice_.decode)
      all.push_back({name + ":without", [call](Stream stream) { return launch_forward(call, stream); }, flops_, {}});
    workspaces_.push_back(std::make_unique<Workspace>(call));
    call.workspace = workspaces_.back()->at();
    all.push_back({name, [call](Stream stream) { return launch_forward(call, stream); }, flops_, {}});
  }
  void add_backward(int variant) {
    for (const bool deterministic : {false, true}) {
      Backward call = buffers_.backward(deterministic, variant);
      const std::string name = kernel_name(call);
      if (!wanted(call, buffers_.backward(deterministic, -1)) || (deterministic && name.find("hopper") != 0))
        continue;  // supports one mode only
      workspaces_.push_back(std::make_unique<Workspace>(call));
      call.workspace = workspaces_.back()->at();
      all.push_back({"backward," + name + numbered(variant) + (deterministic ? ":deterministic" : ""),
                     [call](Stream stream) { return launch_backward(call, stream); },
                     2.5 * flops_,
                     {}});
    }
  }

  Shape shape_;
  const Choice& choice_;
  Buffers buffers_;
  double flops_ = 0;
  std::vector<std::unique_ptr<Workspace>> workspaces_;
};

void bench_shape(const Shape& s, const Choice& choice) {
  Entries entries(s, s.problem(), choice);
  time_in_turn(entries.all, choice.count ? choice.count : 10, choice.decode);
  for (Entry& entry : entries.all) {
    if (entry.ms.empty()) continue;
    std::sort(entry.ms.begin(), entry.ms.end());
    const double median = entry.ms[entry.ms.size() / 2];
    std::printf("%s,%s,%d,%s,%d,%d,%d,%d,%.4f,%.4f,%.1f\n", entry.name.c_str(), kElements[static_cast<int>(s.element)],
                static_cast<int>(s.d), s.causal ? "causal" : "full", static_cast<int>(s.batch),
                static_cast<int>(s.heads), static_cast<int>(s.problem().heads_kv), static_cast<int>(s.seq), median,
                static_cast<double>(entry.ms.front()), entry.flops / median / 1e9);
  }
  std::fflush(stdout);
}

/// 16384 tokens at lengths of 512 (fp32: 1024) to 16384; hidden size 2048, for fp32 1024.
std::vector<Shape> lengths(Element element, int64_t d) {
  const bool wide = element == Element::kFloat32;
  std::vector<Shape> shapes;
  for (const bool causal : {false, true})
    for (int64_t seq = wide ? 1024 : 512; seq <= 16384; seq *= wide ? 4 : 2)
      shapes.push_back({element, d, causal, std::max<int64_t>((wide ? 1024 : 2048) / d, 1), 16384 / seq, seq});
  return shapes;
}

std::vector<Shape> usual_shapes() {
  std::vector<Shape> shapes;
  const auto add = [&](const std::vector<Shape>& more) { shapes.insert(shapes.end(), more.begin(), more.end()); };
  for (const int64_t d : {128, 64}) add(lengths(Element::kBfloat16, d));
  shapes.push_back({Element::kBfloat16, 64, true, 16, 1, 16384});  // the shape of the leaderboard
  for (const bool causal : {false, true}) {
    shapes.push_back({Element::kFloat16, 128, causal, 16, 4, 4096});
    for (const int64_t d : {32, 96, 192, 256}) shapes.push_back({Element::kBfloat16, d, causal, 2048 / d, 4, 4096});
  }
  for (const int64_t d : {64, 128}) add(lengths(Element::kFloat32, d));
  return shapes;
}

/// A single head, so that a GPU has more multiprocessors than there are query tiles.
std::vector<Shape> single_heads(Element element, int64_t d) {
  std::vector<Shape> shapes;
  for (const bool causal : {false, true})
    for (const int64_t batch : {1, 8})
      for (int64_t seq = 256; seq <= 32768; seq *= 2) shapes.push_back({element, d, causal, 1, batch, seq});
  return shapes;
}

std::vector<Shape> decoding(Element element, int64_t d) {
  std::vector<Shape> shapes;
  for (const int64_t size : {64, 128})
    for (const int64_t heads_kv : {8, 1})
      for (const int64_t batch : {1, 4, 16})
        for (const int64_t seq : {1024, 8192, 32768})
          if (d == 0 || size == 64) shapes.push_back({element, d ? d : size, false, 32, batch, seq, heads_kv, 1});
  return shapes;
}

std::vector<Shape> shapes_of(const Choice& choice) {
  const Element element = choice.element.value_or(Element::kBfloat16);
  if (choice.decode) return decoding(element, choice.d);
  if (choice.single) return single_heads(element, choice.d ? choice.d : 64);
  return choice.d ? lengths(element, choice.d) : usual_shapes();
}

}  // namespace

int bench(const Choice& choice) {
  std::puts("pass,kernel,element,d,mask,batch,heads,heads_kv,seq,median_ms,least_ms,tflops");
  for (const Shape& shape : shapes_of(choice))
    if (choice.takes(shape.element)) bench_shape(shape, choice);
  return 0;
}

}  // namespace kymo::flash::test
