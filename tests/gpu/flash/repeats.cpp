// SPDX-License-Identifier: Apache-2.0
// Bitwise reproducibility of calls.
#include <array>
#include <memory>

#include "verdict.hpp"

namespace kymo::flash::test {
namespace {

using Bytes = std::vector<unsigned char>;

/// Forward results before backward results, dQ last.
std::vector<Bytes> results(Case& test) {
  std::vector<Bytes> all;
  for (GuardedTensor* out : {&test.o, &test.lse, &test.dk, &test.dv, &test.dq})
    out->fetch_bytes(), all.push_back(out->bytes());
  return all;
}

/// Four cases of one shape, one for each of four streams.
class Repeats {
 public:
  Repeats(Path path, const Problem& p) : path_(path) {
    for (size_t i = 0; i < streams_.size(); ++i) {
      tests_.emplace_back(p, Layout::kRowsFirst, 100 + i, 1.0);
      counters_.push_back(std::make_unique<Workspace>(tests_[i].forward(path)));
      check_cuda(cudaStreamCreateWithFlags(&streams_[i], cudaStreamNonBlocking), "cudaStreamCreate");
    }
  }
  ~Repeats() {
    for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }
  Repeats(const Repeats&) = delete;

  const Case& first() const { return tests_[0]; }

  /// Checks deterministic mode of the backward kernel with this number: alone, in twenty repetitions, on four streams
  /// concurrently, and from a graph.
  void deterministic(int variant) {
    start(variant, true);
    alone_.clear();
    for (size_t i = 0; i < tests_.size(); ++i) {
      launch(i, nullptr);
      check_cuda(cudaDeviceSynchronize(), what_.c_str());
      alone_.push_back(results(tests_[i]));
    }
    for (int repetition = 0; repetition < 20; ++repetition) {
      launch(0, nullptr);
      same(0, "repeated");
    }
    for (int repetition = 0; repetition < 5; ++repetition)
      for (size_t i = 0; i < tests_.size(); ++i) launch(i, streams_[i]);
    for (size_t i = 0; i < tests_.size(); ++i) same(i, "on a stream");
    from_graph();
  }

  /// The default mode may accumulate the partials of dQ in any order, and with split-Q also those of dK and dV. All
  /// other results must be bitwise equal.
  void default_mode(int variant) {
    start(variant, false);
    std::vector<Bytes> first;
    for (int repetition = 0; repetition < 5; ++repetition) {
      launch(0, nullptr);
      check_cuda(cudaDeviceSynchronize(), what_.c_str());
      std::vector<Bytes> now = results(tests_[0]);
      now.resize(cuts_queries_ ? 2 : 4);
      if (repetition == 0) first = now;
      expect(now == first, "bitwise difference in repetition " + std::to_string(repetition) + what_);
    }
  }

 private:
  void start(int variant, bool deterministic) {
    variant_ = variant, deterministic_ = deterministic;
    const Backward call = tests_[0].backward(path_, deterministic, variant);
    cuts_queries_ = kernel_name(call).find("_splitq") != std::string::npos;
    what_ = std::string(deterministic ? ", deterministic " : ", default mode of ") + kernel_name(call) + ": " +
            tests_[0].text();
    workspaces_.clear();
    for (size_t i = 0; i < tests_.size(); ++i) workspaces_.push_back(std::make_unique<Workspace>(call));
  }
  void launch(size_t i, cudaStream_t stream) {
    Forward forward = tests_[i].forward(path_);
    forward.workspace = counters_[i]->at();
    Backward backward = tests_[i].backward(path_, deterministic_, variant_);
    backward.workspace = workspaces_[i]->at();
    // Two statements, because the operands of + are evaluated in unspecified order, and the backward pass reads what
    // the forward pass writes.
    const std::string wrong_forward = launch_forward(forward, stream);
    const std::string wrong_backward = launch_backward(backward, stream);
    expect(wrong_forward.empty() && wrong_backward.empty(), wrong_forward + wrong_backward + what_);
  }
  void same(size_t i, const char* how) {
    check_cuda(cudaDeviceSynchronize(), what_.c_str());
    expect(results(tests_[i]) == alone_[i], std::string("bitwise difference ") + how + what_);
  }
  void from_graph() {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    check_cuda(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    launch(1, streams_[0]);
    check_cuda(cudaStreamEndCapture(streams_[0], &graph), "cudaStreamEndCapture");
    check_cuda(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
    Case& test = tests_[1];
    for (GuardedTensor* out : {&test.o, &test.lse, &test.dq, &test.dk, &test.dv}) out->poison();
    check_cuda(cudaDeviceSynchronize(), "poison");
    for (int replay = 0; replay < 3; ++replay) check_cuda(cudaGraphLaunch(ready, streams_[1]), "cudaGraphLaunch");
    same(1, "from a graph");
    cudaGraphExecDestroy(ready), cudaGraphDestroy(graph);
  }

  Path path_;
  int variant_ = -1;
  bool deterministic_ = false, cuts_queries_ = false;
  std::string what_;
  std::vector<Case> tests_;
  std::vector<std::unique_ptr<Workspace>> counters_, workspaces_;
  std::vector<std::vector<Bytes>> alone_;
  std::array<cudaStream_t, 4> streams_{};
};

/// The dispatch table's choice and every kernel for this head size by number.
void check_repeats(const Choice& choice, const Problem& p) {
  Repeats repeats(choice.path, p);
  if (!supported(repeats.first().forward(choice.path))) return;
  int kernels = 0;
  for (int variant = -1; variant < kMaxVariants; ++variant) {
    const Backward loose = repeats.first().backward(choice.path, false, variant);
    if (!choice.runs(loose) || !of_size(kernel_name(loose), p.d)) continue;
    ++kernels;
    if (supported(repeats.first().backward(choice.path, true, variant))) repeats.deterministic(variant);
    repeats.default_mode(variant);
  }
  std::printf("bitwise equal alone, repeated, on streams, from a graph: %d kernels, %s, %d failures so far\n", kernels,
              repeats.first().text().c_str(), failures);
  std::fflush(stdout);
}

/// The usual problem, one short enough for the kernels of short sequences, and one that a pair of blocks supports.
void check_repeats(const Choice& choice, Element element, int64_t d, bool causal) {
  Problem p = usual(element, d, causal);
  check_repeats(choice, p);
  if (element == Element::kFloat32 || d > 128) return;
  p.seq_q = p.seq_k = 250;
  check_repeats(choice, p);
  p.heads_kv = p.heads_q;
  if (d <= 64) check_repeats(choice, p);
}

}  // namespace

void check_repeats(const Choice& choice) {
  struct Shape {
    Element element;
    int64_t d;
    bool causal;
  };
  constexpr std::array<Shape, 10> usual_shapes = {{{Element::kBfloat16, 64, false},
                                                   {Element::kBfloat16, 64, true},
                                                   {Element::kBfloat16, 128, false},
                                                   {Element::kBfloat16, 128, true},
                                                   {Element::kFloat16, 96, true},
                                                   {Element::kBfloat16, 192, false},
                                                   {Element::kBfloat16, 256, false},
                                                   {Element::kBfloat16, 256, true},
                                                   {Element::kFloat32, 64, true},
                                                   {Element::kFloat32, 128, false}}};
  if (choice.d == 0) {
    for (const Shape& s : usual_shapes)
      if (choice.takes(s.element)) check_repeats(choice, s.element, s.d, s.causal);
    return;
  }
  for (const Element element : {Element::kBfloat16, Element::kFloat16, Element::kFloat32})
    for (const bool causal : {false, true})
      if (choice.takes(element)) check_repeats(choice, element, choice.d, causal);
}

}  // namespace kymo::flash::test
