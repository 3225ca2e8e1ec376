// SPDX-License-Identifier: Apache-2.0
#include "verdict.hpp"

namespace kymo::flash::test {

Problem usual(Element element, int64_t d, bool causal) {
  Problem p;
  p.element = element, p.batch = 2, p.heads_q = 6, p.heads_kv = 3, p.seq_q = p.seq_k = 1500, p.d = d, p.causal = causal,
  p.scale = 0.125f;
  return p;
}

namespace {

/// Nondeterministic kernels must reject deterministic calls, both by automatic selection and by number.
void check_loose_kernels() {
  const Case test(usual(Element::kFloat32, 64, false), Layout::kHeadsFirst, 1, 1.0);
  int loose = 0;
  for (int variant = 0; variant < kMaxVariants; ++variant) {
    std::string reason;
    if (!supported(test.backward(Path::kFloat, false, variant)) ||
        supported(test.backward(Path::kFloat, true, variant), &reason))
      continue;
    ++loose;
    expect(!reason.empty(), "no reason given why variant " + std::to_string(variant) + " rejects deterministic calls");
  }
  expect(loose > 0, "all fp32 kernels accept deterministic calls, even the one that accumulates partials of dQ");
  expect(supported(test.backward(Path::kFloat, true)), "no kernel accepts deterministic fp32 calls");
}

}  // namespace

void check_rejections() {
  const Case test(usual(Element::kBfloat16, 64, false), Layout::kHeadsFirst, 1, 1.0);
  const auto rejected = [&](auto change, const char* what) {
    Forward call = test.forward(Path::kAutomatic);
    change(call);
    std::string reason;
    expect(!supported(call, &reason) && !reason.empty(), std::string("accepted: ") + what);
    expect(launch_forward(call, nullptr) == reason, std::string("launched: ") + what);
  };
  rejected([](Forward& c) { c.problem.d = 260; }, "d 260");
  rejected([](Forward& c) { c.problem.d = 12; }, "d 12");
  rejected([](Forward& c) { c.problem.heads_kv = 4; }, "6 heads for 4");
  rejected([](Forward& c) { c.problem.seq_k = 0; }, "no keys");
  rejected([](Forward& c) { c.problem.scale = 0; }, "scale 0");
  rejected([](Forward& c) { c.k.at = static_cast<const char*>(c.k.at) + 2; }, "rows that start unaligned");
  rejected([](Forward& c) { c.q.row_stride += 1; }, "an odd row stride");
  rejected([](Forward& c) { c.variant = 1000; }, "variant 1000");
  rejected([](Forward& c) { c.path = Path::kFloat; }, "bf16 on the float path");
  std::string reason;
  expect(!supported(test.backward(Path::kAutomatic, false, 1000), &reason) && !reason.empty(),
         "accepted: backward variant 1000");
  const Backward call = test.backward(Path::kAutomatic, false);
  expect(workspace_bytes(call) > 0 && !launch_backward(call, nullptr).empty(),
         "a backward call without workspace was launched");
  check_loose_kernels();
}

int check(const Choice& choice) {
  check_rejections();
  check_results(choice);
  if (!choice.brief) check_repeats(choice);
  std::printf(failures ? "%d FAILURES\n" : "all checks passed (%d failures)\n", failures);
  return failures ? 1 : 0;
}

}  // namespace kymo::flash::test
