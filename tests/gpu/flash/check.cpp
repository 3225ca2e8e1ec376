// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include "reference.hpp"
#include "runs.hpp"

namespace kymo::flash::test {
namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  ++failures;
  std::printf("WRONG %s\n", what.c_str());
}

const char* name_of(Path path) {
  constexpr std::array names = {"automatic", "hopper", "portable", "float"};
  return names[static_cast<size_t>(path)];
}

/// Rows are held to these: a few roundings of the element type (2^-9 for bf16, 2^-12 for fp16); fp32's by the size of the scores,
/// since exp(score - lse) is off by the rounding of both.
double tolerance(const Case& test) {
  if (test.problem.element == Element::kFloat32) return 1e-5 * std::max(1.0, test.gain * test.gain);
  return test.problem.element == Element::kBfloat16 ? 0.012 : 0.0016;
}

struct Worst {
  double o = 0, lse = 0, dq = 0, dk = 0, dv = 0;
};

void compare(double& worst, const GuardedTensor& got, const Expected& expected, const Case& test, const std::string& what) {
  const double floor = test.problem.element == Element::kFloat16 ? 0.02 * std::max(1.0, test.gain) : 1e-30;
  const double error = worst_row(got.values(), expected, test.problem.d, floor);
  worst = std::max(worst, error);
  expect(error <= tolerance(test), what + ": a row is " + std::to_string(error) + " off: " + test.text());
  expect(got.untouched_around(), what + ": something beside the tensor was written: " + test.text());
}

void compare_lse(double& worst, const GuardedTensor& got, const Expected& expected, const Case& test, const std::string& what) {
  double most = 0;
  for (size_t i = 0; i < expected.value.size(); ++i) {
    const double a = got.values()[i], b = expected.value[i];
    const double error = a == b ? 0 : std::fabs(a - b) / (1 + std::fabs(b));
    if (!(error <= most)) most = std::isnan(error) ? INFINITY : error;
  }
  worst = std::max(worst, most);
  expect(most <= 2e-5, what + ": lse is " + std::to_string(most) + " off: " + test.text());
  expect(got.untouched_around(), what + ": something beside lse was written: " + test.text());
}

void run_forward(Case& test, Forward call, bool with_workspace, const Reference& right, Worst& worst) {
  const std::string name = kernel_name(call);
  const Workspace workspace(call);
  if (with_workspace) call.workspace = workspace.at();
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

/// Lengths around tile borders, odd ones, single rows; small enough for the reference.
Problem draw(std::mt19937_64& random, Element element, int most_d) {
  const auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  const auto length = [&]() -> int64_t {
    constexpr std::array<int64_t, 10> borders = {1, 2, 63, 64, 65, 127, 128, 129, 192, 257};
    return pick(0, 2) == 0 ? borders[static_cast<size_t>(pick(0, 9))] : pick(1, 600);
  };
  Problem p;
  p.element = element;
  p.batch = pick(1, 2), p.heads_kv = pick(1, 3), p.heads_q = p.heads_kv * pick(1, 3);
  p.seq_q = length(), p.seq_k = pick(0, 2) == 0 ? length() : p.seq_q;
  constexpr std::array<int64_t, 6> usual = {64, 128, 32, 96, 256, 192};
  do p.d = pick(0, 3) == 0 ? 8 * pick(1, 32) : usual[static_cast<size_t>(pick(0, 5))];
  while (p.d > most_d);
  p.causal = pick(0, 1) == 1;
  p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(p.d)));
  if (pick(0, 5) == 0) p.scale *= 2;
  while (p.batch * p.heads_q * p.seq_q * p.seq_k * p.d > 40'000'000 && p.heads_q > p.heads_kv) p.heads_q -= p.heads_kv;
  return p;
}

void random_problems(Path path, Element element, int count) {
  Worst worst;
  std::mt19937_64 random(static_cast<uint64_t>(path) * 10 + static_cast<uint64_t>(element));
  int run = 0;
  for (int i = 0; i < count; ++i) {
    const Problem p = draw(random, element, 256);
    constexpr std::array gains = {1.0, 1.0, 0.1, 4.0};
    Case test(p, static_cast<Layout>(i % 3), static_cast<uint64_t>(i) + 1, gains[static_cast<size_t>(i % 4)]);
    std::string reason;
    if (!supported(test.forward(path), &reason)) {
      if (i == 0) std::printf("%s is not run here: %s\n", name_of(path), reason.c_str());
      if (path == Path::kHopper) continue;
      return;
    }
    ++run;
    const Reference right = reference(test);
    run_forward(test, test.forward(path), true, right, worst);
    for (int variant = 0; variant < kVariants; ++variant)
      if (supported(test.forward(path, variant))) run_forward(test, test.forward(path, variant), variant % 2, right, worst);
    if (!supported(test.backward(path, false))) continue;
    run_backward(test, test.backward(path, false), right, worst);
    if (path == Path::kHopper) run_backward(test, test.backward(path, true), right, worst);
    for (int variant = 0; variant < kVariants; ++variant)
      if (supported(test.backward(path, false, variant))) run_backward(test, test.backward(path, false, variant), right, worst);
  }
  std::printf("%-9s element %d: %d problems, worst rows: o %.2e lse %.2e dq %.2e dk %.2e dv %.2e, %d failures so far\n", name_of(path),
              static_cast<int>(element), run, worst.o, worst.lse, worst.dq, worst.dk, worst.dv, failures);
  std::fflush(stdout);
}

std::vector<std::vector<unsigned char>> results(Case& test) {
  std::vector<std::vector<unsigned char>> all;
  for (GuardedTensor* out : {&test.o, &test.lse, &test.dk, &test.dv, &test.dq}) out->fetch_bytes(), all.push_back(out->bytes());
  return all;
}

/// The default mode adds the shares of dQ in any order; everything else it owes the same bits.
void same_but_for_dq(Case& test, void* counter) {
  Forward forward = test.forward(Path::kAutomatic);
  forward.workspace = counter;
  Backward backward = test.backward(Path::kAutomatic, false);
  const Workspace workspace(backward);
  backward.workspace = workspace.at();
  std::vector<std::vector<unsigned char>> first;
  for (int repetition = 0; repetition < 5; ++repetition) {
    const std::string error = launch_forward(forward, nullptr);
    expect(error.empty() && launch_backward(backward, nullptr).empty(), "default mode: " + error);
    check_cuda(cudaDeviceSynchronize(), "default mode");
    std::vector<std::vector<unsigned char>> now = results(test);
    now.pop_back();  // dq
    if (repetition == 0) first = now;
    expect(now == first, "default mode: repetition " + std::to_string(repetition) + " has other bits: " + test.text());
  }
}

Problem usual(Element element, int64_t d, bool causal) {
  Problem p;
  p.element = element, p.batch = 2, p.heads_q = 6, p.heads_kv = 3, p.seq_q = p.seq_k = 1500, p.d = d, p.causal = causal, p.scale = 0.125f;
  return p;
}

/// The same bits alone, on four streams at once, replayed from a graph, and in twenty repetitions of the deterministic mode.
void same_everywhere(Element element, int64_t d, bool causal) {
  const Problem p = usual(element, d, causal);
  constexpr size_t kStreams = 4;
  std::vector<Case> tests;
  std::vector<std::unique_ptr<Workspace>> workspaces, counters;
  std::vector<std::vector<std::vector<unsigned char>>> alone;
  const auto both = [&](size_t i, cudaStream_t stream) {
    Forward forward = tests[i].forward(Path::kAutomatic);
    forward.workspace = counters[i]->at();
    Backward backward = tests[i].backward(Path::kAutomatic, true);
    backward.workspace = workspaces[i]->at();
    // Two statements: the operands of one + may be evaluated in any order, and the backward reads what the forward writes.
    const std::string wrong_forward = launch_forward(forward, stream);
    const std::string wrong_backward = launch_backward(backward, stream);
    expect(wrong_forward.empty() && wrong_backward.empty(), wrong_forward + wrong_backward);
  };
  for (size_t i = 0; i < kStreams; ++i) {
    tests.emplace_back(p, Layout::kRowsFirst, 100 + i, 1.0);
    workspaces.push_back(std::make_unique<Workspace>(tests[i].backward(Path::kAutomatic, true)));
    counters.push_back(std::make_unique<Workspace>(tests[i].forward(Path::kAutomatic)));
    both(i, nullptr);
    check_cuda(cudaDeviceSynchronize(), "alone");
    alone.push_back(results(tests[i]));
  }
  for (int repetition = 0; repetition < 20; ++repetition) {
    both(0, nullptr);
    check_cuda(cudaDeviceSynchronize(), "again");
    expect(results(tests[0]) == alone[0], "repetition " + std::to_string(repetition) + " has other bits: " + tests[0].text());
  }
  std::array<cudaStream_t, kStreams> streams;
  for (cudaStream_t& stream : streams) check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  for (int repetition = 0; repetition < 5; ++repetition)
    for (size_t i = 0; i < kStreams; ++i) both(i, streams[i]);
  check_cuda(cudaDeviceSynchronize(), "streams");
  for (size_t i = 0; i < kStreams; ++i) expect(results(tests[i]) == alone[i], "other bits on a stream: " + tests[i].text());

  cudaGraph_t graph;
  cudaGraphExec_t ready;
  check_cuda(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  both(1, streams[0]);
  check_cuda(cudaStreamEndCapture(streams[0], &graph), "cudaStreamEndCapture");
  check_cuda(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  for (GuardedTensor* out : {&tests[1].o, &tests[1].lse, &tests[1].dq, &tests[1].dk, &tests[1].dv}) out->poison();
  check_cuda(cudaDeviceSynchronize(), "poison");
  for (int replay = 0; replay < 3; ++replay) check_cuda(cudaGraphLaunch(ready, streams[1]), "cudaGraphLaunch");
  check_cuda(cudaDeviceSynchronize(), "graph");
  expect(results(tests[1]) == alone[1], "other bits from a graph: " + tests[1].text());
  cudaGraphExecDestroy(ready), cudaGraphDestroy(graph);
  same_but_for_dq(tests[0], counters[0]->at());
  for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
  std::printf("same bits alone, repeated, on streams, from a graph: %s, %d failures so far\n", tests[0].text().c_str(), failures);
  std::fflush(stdout);
}

/// A kernel whose results differ in their last bits must not take a deterministic call: not by itself, nor by number.
void refused_backward() {
  const Case test(usual(Element::kFloat32, 64, false), Layout::kHeadsFirst, 1, 1.0);
  int loose = 0;
  for (int variant = 0; variant < kVariants; ++variant) {
    std::string reason;
    if (!supported(test.backward(Path::kFloat, false, variant)) || supported(test.backward(Path::kFloat, true, variant), &reason)) continue;
    ++loose;
    expect(!reason.empty(), "no reason why variant " + std::to_string(variant) + " takes no deterministic call");
  }
  expect(loose > 0, "every fp32 kernel takes deterministic calls, the one that adds shares of dQ included");
  expect(supported(test.backward(Path::kFloat, true)), "no kernel takes deterministic fp32 calls");
  expect(!supported(test.backward(Path::kFloat, false, 1000)), "accepted: backward variant 1000");
}

void refusals() {
  Problem p = usual(Element::kBfloat16, 64, false);
  const Case test(p, Layout::kHeadsFirst, 1, 1.0);
  const auto refused = [&](auto change, const char* what) {
    Forward call = test.forward(Path::kAutomatic);
    change(call);
    std::string reason;
    expect(!supported(call, &reason) && !reason.empty(), std::string("accepted: ") + what);
    expect(launch_forward(call, nullptr) == reason, std::string("launched: ") + what);
  };
  refused([](Forward& c) { c.problem.d = 260; }, "d 260");
  refused([](Forward& c) { c.problem.d = 12; }, "d 12");
  refused([](Forward& c) { c.problem.heads_kv = 4; }, "6 heads for 4");
  refused([](Forward& c) { c.problem.seq_k = 0; }, "no keys");
  refused([](Forward& c) { c.problem.scale = 0; }, "scale 0");
  refused([](Forward& c) { c.k.at = static_cast<const char*>(c.k.at) + 2; }, "rows that start unaligned");
  refused([](Forward& c) { c.q.row_stride += 1; }, "an odd row stride");
  refused([](Forward& c) { c.variant = 1000; }, "variant 1000");
  refused([](Forward& c) { c.path = Path::kFloat; }, "bf16 on the float path");
  refused_backward();
  Backward call = test.backward(Path::kAutomatic, false);
  expect(workspace_bytes(call) > 0 && !launch_backward(call, nullptr).empty(), "a backward call without workspace was launched");
}

}  // namespace

int check_floats(int count) {
  random_problems(Path::kFloat, Element::kFloat32, count);
  same_everywhere(Element::kFloat32, 64, true);
  same_everywhere(Element::kFloat32, 128, false);
  return failures ? 1 : 0;
}

int check(int count) {
  refusals();
  for (const Element element : {Element::kBfloat16, Element::kFloat16})
    for (const Path path : {Path::kPortable, Path::kHopper}) random_problems(path, element, count);
  check_floats(count);
  for (const int64_t d : {64, 128})
    for (const bool causal : {false, true}) same_everywhere(Element::kBfloat16, d, causal);
  same_everywhere(Element::kFloat16, 96, true);
  same_everywhere(Element::kBfloat16, 256, true);
  std::printf(failures ? "%d FAILURES\n" : "all right (%d failures)\n", failures);
  return failures ? 1 : 0;
}

}  // namespace kymo::flash::test
