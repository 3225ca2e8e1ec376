// SPDX-License-Identifier: Apache-2.0
// Comparison of results with the reference.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "reference.hpp"
#include "verdict.hpp"

namespace kymo::flash::test {
namespace {

/// Tolerance of a row: a few roundings of the element type (2^-9 for bf16, 2^-12 for fp16). For fp32 it scales with the
/// scores, because exp(score - lse) contains the rounding errors of both.
double tolerance(const Case& test) {
  if (test.problem.element == Element::kFloat32) return 1e-5 * std::max(1.0, test.gain * test.gain);
  return test.problem.element == Element::kBfloat16 ? 0.012 : 0.0016;
}

struct Worst {
  double o = 0, lse = 0, dq = 0, dk = 0, dv = 0;
};

void compare(double& worst, const GuardedTensor& got, const Expected& expected, const Case& test,
             const std::string& what) {
  const double floor = test.problem.element == Element::kFloat16 ? 0.02 * std::max(1.0, test.gain) : 1e-30;
  const double error = worst_row(got.values(), expected, test.problem.d, floor);
  worst = std::max(worst, error);
  expect(error <= tolerance(test), what + ": a row is " + std::to_string(error) + " off: " + test.text());
  expect(got.untouched_around(), what + ": wrote outside of the tensor: " + test.text());
}

void compare_lse(double& worst, const GuardedTensor& got, const Expected& expected, const Case& test,
                 const std::string& what) {
  double most = 0;
  for (size_t i = 0; i < expected.value.size(); ++i) {
    const double a = got.values()[i], b = expected.value[i];
    const double error = a == b ? 0 : std::fabs(a - b) / (1 + std::fabs(b));
    if (!(error <= most)) most = std::isnan(error) ? INFINITY : error;
  }
  worst = std::max(worst, most);
  expect(most <= 2e-5, what + ": lse is " + std::to_string(most) + " off: " + test.text());
  expect(got.untouched_around(), what + ": wrote outside of lse: " + test.text());
}

void run_forward(Case& test, Forward call, bool with_workspace, const Reference& right, Worst& worst) {
  const std::string name = kernel_name(call);
  const Workspace workspace(call);
  const bool needed = call.variant >= 0 && name.find("_splitkv") != std::string::npos;
  if (with_workspace || needed) call.workspace = workspace.at();
  test.o.poison(), test.lse.poison();
  const std::string error = launch_forward(call, nullptr);
  if (!error.empty()) return expect(false, error + ": " + test.text());
  check_cuda(cudaDeviceSynchronize(), (name + ": " + test.text()).c_str());
  test.o.fetch(), test.lse.fetch();
  compare(worst.o, test.o, right.o, test, name + " o");
  compare_lse(worst.lse, test.lse, right.lse, test, name);
}

void run_backward(Case& test, Backward call, const Reference& right, Worst& worst) {
  const std::string name = kernel_name(call);
  Workspace workspace(call);
  call.workspace = workspace.at();
  for (GuardedTensor* out : {&test.dq, &test.dk, &test.dv}) out->poison();
  const std::string error = launch_backward(call, nullptr);
  if (!error.empty()) return expect(false, error + ": " + test.text());
  check_cuda(cudaDeviceSynchronize(), (name + ": " + test.text()).c_str());
  for (GuardedTensor* out : {&test.dq, &test.dk, &test.dv}) out->fetch();
  compare(worst.dq, test.dq, right.dq, test, name + " dq");
  compare(worst.dk, test.dk, right.dk, test, name + " dk");
  compare(worst.dv, test.dv, right.dv, test, name + " dv");
}

/// Draws lengths around tile boundaries, odd lengths and single rows, small enough for the reference. d = 0: any head
/// size.
Problem draw(std::mt19937_64& random, Element element, int64_t d) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const auto length = [&]() -> int64_t {
    constexpr std::array<int64_t, 10> borders = {1, 2, 63, 64, 65, 127, 128, 129, 192, 257};
    return pick(0, 2) == 0 ? borders[static_cast<size_t>(pick(0, 9))] : pick(1, 600);
  };
  Problem p;
  p.element = element;
  p.batch = pick(1, 2), p.heads_kv = pick(1, 3), p.heads_q = p.heads_kv * pick(1, 3);
  p.seq_q = length(), p.seq_k = pick(0, 2) == 0 ? length() : p.seq_q;
  constexpr std::array<int64_t, 6> usual = {64, 128, 32, 96, 256, 192};
  p.d = pick(0, 3) == 0 ? 8 * pick(1, 32) : usual[static_cast<size_t>(pick(0, 5))];
  if (d > 0) p.d = d;
  p.causal = pick(0, 1) == 1;
  p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(p.d)));
  if (pick(0, 5) == 0) p.scale *= 2;
  while (p.batch * p.heads_q * p.seq_q * p.seq_k * p.d > 40'000'000 && p.heads_q > p.heads_kv) p.heads_q -= p.heads_kv;
  return p;
}

/// Runs every kernel for the problem's head size by number, then the dispatch table's choice, whose o and lse the
/// backward pass reads.
void run_forwards(Case& test, Path path, const Choice& choice, const Reference& right, Worst& worst) {
  for (int variant = kMaxVariants - 1; variant >= -1; --variant) {
    const Forward call = test.forward(path, variant);
    if (choice.runs(call) && of_size(kernel_name(call), test.problem.d))
      run_forward(test, call, variant % 2, right, worst);
  }
}
void run_backwards(Case& test, Path path, const Choice& choice, const Reference& right, Worst& worst) {
  for (int variant = -1; variant < kMaxVariants; ++variant)
    for (const bool deterministic : {false, true}) {
      const Backward call = test.backward(path, deterministic, variant);
      if (deterministic && path != Path::kHopper) continue;  // the other paths have one mode
      if (choice.runs(call) && of_size(kernel_name(call), test.problem.d)) run_backward(test, call, right, worst);
    }
}

void random_problems(Path path, Element element, const Choice& choice) {
  Worst worst;
  std::mt19937_64 random(static_cast<uint64_t>(path) * 10 + static_cast<uint64_t>(element));
  int run = 0;
  const int count = choice.count ? choice.count : 60;
  for (int i = 0; i < count; ++i) {
    const Problem p = draw(random, element, choice.d);
    constexpr std::array gains = {1.0, 1.0, 0.1, 4.0};
    Case test(p, static_cast<Layout>(i % 3), static_cast<uint64_t>(i) + 1, gains[static_cast<size_t>(i % 4)]);
    std::string reason;
    if (!supported(test.forward(path), &reason)) {
      if (i == 0) std::printf("%s is not supported here: %s\n", kPaths[static_cast<size_t>(path)], reason.c_str());
      if (path == Path::kHopper) continue;
      return;
    }
    ++run;
    const Reference right = reference(test);
    run_forwards(test, path, choice, right, worst);
    run_backwards(test, path, choice, right, worst);
  }
  std::printf("%-9s %s: %d problems, worst rows: o %.2e lse %.2e dq %.2e dk %.2e dv %.2e, %d failures so far\n",
              kPaths[static_cast<size_t>(path)], kElements[static_cast<size_t>(element)], run, worst.o, worst.lse,
              worst.dq, worst.dk, worst.dv, failures);
  std::fflush(stdout);
}

/// Expects the bits of the previous run from back-to-back launches, which overlap at their ends, and from a graph of
/// such launches.
void in_a_row(Case& test, Forward call, cudaStream_t stream) {
  const Workspace workspace(call);
  call.workspace = workspace.at();
  const std::string what = kernel_name(call) + " in a row: " + test.text();
  test.o.fetch_bytes();
  const std::vector<unsigned char> alone = test.o.bytes();
  const auto launch = [&] {
    for (int i = 0; i < 4; ++i) expect(launch_forward(call, stream).empty(), what);
  };
  const auto same = [&](const char* how) {
    check_cuda(cudaDeviceSynchronize(), what.c_str());
    test.o.fetch_bytes();
    expect(test.o.bytes() == alone, std::string("bitwise difference ") + how + ", " + what);
    test.o.poison();
  };
  test.o.poison();
  check_cuda(cudaDeviceSynchronize(), "poison");
  launch();
  same("by launches");
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  launch();
  check_cuda(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check_cuda(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  check_cuda(cudaDeviceSynchronize(), "poison");
  for (int replay = 0; replay < 3; ++replay) check_cuda(cudaGraphLaunch(ready, stream), "cudaGraphLaunch");
  same("from a graph");
  cudaGraphExecDestroy(ready), cudaGraphDestroy(graph);
}

/// Many more tiles than a GPU has multiprocessors, so that blocks of the persistent Hopper kernels process several
/// tiles: by static shares, in pairs, and by the counter. Also many fewer tiles with so many keys that split-KV is
/// used, odd and even numbers of tiles per head, tiles whose rows attend to no key, more keys than queries, groups of
/// query heads that are processed as one head, and heads of at most two tiles. d = 0: all head sizes; otherwise the
/// shapes of that size, and some others at that size.
std::vector<Problem> long_shapes(Element element, int64_t d) {
  struct Shape {
    int64_t batch, heads_q, heads_kv, seq_q, seq_k, d;
    bool causal, any_d;
  };
  constexpr std::array<Shape, 21> shapes = {
      {{4, 48, 24, 300, 300, 64, true, true},    {3, 59, 59, 257, 257, 128, true, false},
       {2, 150, 50, 129, 129, 72, true, false},  {5, 30, 30, 400, 130, 64, true, false},
       {5, 30, 10, 130, 500, 128, true, true},   {2, 45, 45, 520, 470, 128, true, false},
       {4, 40, 40, 260, 260, 128, false, false}, {3, 70, 35, 190, 320, 64, false, false},
       {1, 1, 1, 2300, 2300, 64, true, true},    {1, 2, 1, 300, 2900, 128, true, true},
       {1, 3, 1, 1, 4000, 64, false, false},     {2, 1, 1, 2600, 2100, 128, true, false},
       {2, 32, 8, 1, 8192, 128, true, true},     {1, 24, 3, 9, 700, 64, false, false},
       {2, 128, 8, 1, 5000, 64, true, true},     {3, 59, 59, 257, 257, 96, true, false},
       {4, 40, 40, 260, 260, 192, false, false}, {2, 75, 75, 300, 300, 192, true, false},
       {11, 12, 12, 250, 250, 64, false, false}, {11, 12, 12, 256, 256, 64, true, false},
       {11, 13, 13, 120, 120, 40, true, false}}};
  std::vector<Problem> problems;
  for (const Shape& s : shapes) {
    if (d > 0 && s.d != d && !s.any_d) continue;
    const int64_t size = d > 0 ? d : s.d;
    const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
    problems.push_back({s.batch, s.heads_q, s.heads_kv, s.seq_q, s.seq_k, size, element, s.causal, scale});
  }
  return problems;
}

void long_walks(Element element, const Choice& choice) {
  Worst worst;
  cudaStream_t stream;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  uint64_t number = 0;
  for (const Problem& p : long_shapes(element, choice.d)) {
    Case test(p, static_cast<Layout>(number % 3), 500 + number, 1.0);
    if (!supported(test.forward(Path::kHopper))) break;
    const Reference right = reference(test);
    for (int variant = kMaxVariants - 1; variant >= -1; --variant) {  // the table's choice last, as in run_forwards
      const Forward call = test.forward(Path::kHopper, variant);
      if (!choice.runs(call) || !of_size(kernel_name(call), p.d)) continue;
      for (const bool with_workspace : {false, true}) run_forward(test, call, with_workspace, right, worst);
      if (!p.causal || p.heads_q == p.heads_kv) continue;
      in_a_row(test, call, stream);
      run_forward(test, call, true, right, worst);
    }
    run_backwards(test, Path::kHopper, choice, right, worst);
    ++number;
  }
  cudaStreamDestroy(stream);
  std::printf("long shapes, %s: %d problems, worst rows: o %.2e lse %.2e dq %.2e dk %.2e dv %.2e, %d failures so far\n",
              kElements[static_cast<size_t>(element)], static_cast<int>(number), worst.o, worst.lse, worst.dq, worst.dk,
              worst.dv, failures);
  std::fflush(stdout);
}

/// Few query rows without a mask: all key counts around the tiles and splits of the decoding kernel, with all head
/// sizes that it supports and random groups, and numbers of heads with blocks of eight warps or with one block per SM.
/// d = 0: all head sizes. 1000 keys with head sizes 64 and 128 have so many heads that none is split.
std::vector<Problem> decoding_shapes(Element element, int64_t d, std::mt19937_64& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  std::vector<Problem> problems;
  for (const int64_t keys : {1, 15, 16, 17, 31, 32, 33, 64, 65, 127, 128, 129, 1000, 8192})
    for (int64_t size = 8; size <= 128; size += 8) {
      if (d > 0 && size != d) continue;
      Problem p;
      p.element = element, p.d = size, p.seq_k = keys;
      const bool many = keys == 1000 && size % 64 == 0;
      const int64_t group = many ? pick(1, 4) : pick(1, 16);
      p.batch = many ? 3 : pick(1, 3), p.heads_kv = many ? 50 : pick(1, 3), p.heads_q = p.heads_kv * group;
      p.seq_q = pick(0, 1) == 0 ? 1 : pick(1, 16 / group);
      p.causal = p.seq_q == 1 && pick(0, 1) == 1;  // a single query sees every key
      p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
      problems.push_back(p);
    }
  struct Heads {
    int64_t batch, heads, keys;  // with head size 128
  };
  for (const Heads& of : {Heads{1, 4, 16391}, Heads{5, 9, 1801}, Heads{2, 32, 1301}, Heads{4, 25, 77},
                          Heads{2, 60, 301}, Heads{4, 70, 131}})
    for (const int64_t size : {64, 128}) {
      if (d > 0 && size != d) continue;
      const int64_t group = pick(1, 3), rows = pick(1, 5);
      const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
      problems.push_back(
          {of.batch, of.heads * group, of.heads, rows, of.keys * 128 / size, size, element, /*causal=*/false, scale});
    }
  return problems;
}

/// The decoding kernels by number, and the dispatch table's choice.
void decoding(Element element, const Choice& choice) {
  Worst worst;
  std::mt19937_64 random(static_cast<uint64_t>(element));
  uint64_t number = 0;
  int runs = 0;
  for (const Problem& p : decoding_shapes(element, choice.d, random)) {
    constexpr std::array gains = {1.0, 4.0, 0.1};
    Case test(p, static_cast<Layout>(number % 3), 900 + number, gains[number / 3 % 3]);
    if (!supported(test.forward(Path::kHopper))) return;
    ++number;
    const Reference right = reference(test);
    for (int variant = -1; variant < kMaxVariants; ++variant) {
      const Forward call = test.forward(Path::kHopper, variant);
      const bool by_number = kernel_name(call).find("_decode") != std::string::npos;
      if (!choice.runs(call) || (variant >= 0 && !by_number) || !of_size(kernel_name(call), p.d)) continue;
      run_forward(test, call, true, right, worst);
      if (by_number) expect(workspace_bytes(call) == 0, kernel_name(call) + " asks for a workspace: " + test.text());
      runs += variant >= 0;
    }
  }
  if (choice.without.empty()) expect(runs > 0 || choice.d > 128, "no decoding kernel ran");
  std::printf("decoding, %s: %d problems, %d runs, worst rows: o %.2e lse %.2e, %d failures so far\n",
              kElements[static_cast<size_t>(element)], static_cast<int>(number), runs, worst.o, worst.lse, failures);
  std::fflush(stdout);
}

}  // namespace

void check_results(const Choice& choice) {
  constexpr std::array halves = {Element::kBfloat16, Element::kFloat16};
  for (const Element element : halves)
    for (const Path path : {Path::kPortable, Path::kHopper})
      if (choice.takes(path, element)) random_problems(path, element, choice);
  if (choice.takes(Path::kFloat, Element::kFloat32)) random_problems(Path::kFloat, Element::kFloat32, choice);
  for (const Element element : halves)
    if (choice.takes(Path::kHopper, element)) decoding(element, choice);
  if (choice.brief) return;
  for (const Element element : halves)
    if (choice.takes(Path::kHopper, element)) long_walks(element, choice);
}

}  // namespace kymo::flash::test
