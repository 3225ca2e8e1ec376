// SPDX-License-Identifier: Apache-2.0
// Overhead of the ops pass per LibTorch operator call, on the CPU.
//   operator_cost [ROUNDS [CALLS [CASE]]]
// Times CALLS calls (default 20000) of a cheap operator, of one that allocates a tensor, and a tenth as many of a small
// forward and backward pass: without an observer, with an empty LibTorch callback, and with the ops pass, without and
// with shapes. The observers are interleaved in each of ROUNDS rounds (default 50), so that drift of the machine
// affects all alike. Prints CSV: the fastest tenth of the rounds, and the cost of reading the host clock. The
// difference between "empty" and "none" is LibTorch's own overhead; the rest is kymo's. With CASE (fill_, add or
// train), only this case runs.
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "collect/module.hpp"
#include "worker/range_recorder.hpp"

namespace {

using Clock = std::chrono::steady_clock;

/// What observes the timed calls. begin() and end() are outside the timed interval.
struct Observer {
  const char* name;
  std::function<void()> begin;
  std::function<std::size_t()> end;  // number of operators it observed; 0 if it does not count
};

struct Case {
  const char* name;
  std::int64_t share;  // the case runs CALLS / share calls
  std::function<void()> call;
};

/// The module as armed by the worker, with the worker's execution context.
class OpsPass {
 public:
  explicit OpsPass(bool shapes)
      : collector_(kymo::collect::load_module(std::filesystem::path(KYMO_BINARY_DIR) / "lib" / "kymo" / "modules" /
                                              "kymo_torch.so")
                       .make()) {
    setting_.pass = kymo::measure::Pass::kOps;
    setting_.uses_torch = true;
    setting_.observation.shapes = shapes;
    setting_.execution_context = &kymo::worker::RangeRecorder::execution_context();
  }
  void begin() {
    setting_.run_start_ns = kymo::now_ns();
    ranges_ = std::make_unique<kymo::worker::RangeRecorder>(setting_.run_start_ns);
    ranges_->set_step(0);
    ranges_->begin_phase(0, "step");
    collector_->arm(setting_);
    collector_->before_steps();
  }
  std::size_t end() {
    kymo::event::PassRecord record;
    collector_->disarm(record);
    ranges_.reset();
    if (!record.dropped_records.empty())
      throw std::runtime_error(record.dropped_records[0].detail + ": pass fewer CALLS");
    return record.trace.operators.size();
  }

 private:
  std::unique_ptr<kymo::collect::Collector> collector_;
  kymo::collect::PassSetting setting_;
  std::unique_ptr<kymo::worker::RangeRecorder> ranges_;
};

Observer empty_callback() {
  auto handle = std::make_shared<at::CallbackHandle>();
  const auto begin = [handle] {
    at::RecordFunctionCallback callback(
        [](const at::RecordFunction&) { return std::unique_ptr<at::ObserverContext>(); },
        [](const at::RecordFunction&, at::ObserverContext*) {});
    callback.scopes({at::RecordScope::FUNCTION});
    *handle = at::addGlobalCallback(callback);
  };
  const auto end = [handle] {
    at::removeCallback(*handle);
    return std::size_t{0};
  };
  return {"empty", begin, end};
}

Observer ops_pass(const char* name, bool shapes) {
  const auto pass = std::make_shared<OpsPass>(shapes);
  return {name, [pass] { pass->begin(); }, [pass] { return pass->end(); }};
}

/// Mean of the fastest tenth of the rounds, because disturbances only increase the time of a call.
double fastest(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t count = std::max<std::size_t>(1, values.size() / 10);
  return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), 0.0) /
         static_cast<double>(count);
}

double time_ns(std::int64_t calls, const std::function<void()>& call) {
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < calls; ++i) call();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(calls);
}

void measure(const Case& what, const std::vector<Observer>& observers, int rounds, std::int64_t calls) {
  std::vector<std::vector<double>> call_ns(observers.size());
  double operators = 0;
  time_ns(calls / 10 + 1, what.call);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < observers.size(); ++i) {
      observers[i].begin();
      call_ns[i].push_back(time_ns(calls, what.call));
      if (const std::size_t seen = observers[i].end())
        operators = static_cast<double>(seen) / static_cast<double>(calls);
    }
  }
  const double alone_ns = fastest(call_ns[0]);
  for (std::size_t i = 0; i < observers.size(); ++i) {
    const double ns = fastest(call_ns[i]);
    std::printf("%s,%s,%.1f,%.0f,%.1f\n", what.name, observers[i].name, ns, operators, (ns - alone_ns) / operators);
  }
}

std::vector<Case> cases() {
  const at::Tensor one = torch::ones({1});
  const at::Tensor x = torch::ones({4, 8});
  const at::Tensor weight = torch::randn({8, 8}, torch::requires_grad());
  const at::Tensor bias = torch::randn({8}, torch::requires_grad());
  const auto train = [=] {
    torch::linear(x, weight, bias).relu().sum().backward();
    weight.mutable_grad().reset();
    bias.mutable_grad().reset();
  };
  return {{"fill_", 1, [one] { one.fill_(2); }}, {"add", 1, [one] { at::add(one, one); }}, {"train", 10, train}};
}

void run(int rounds, std::int64_t calls, const std::string& only) {
  at::set_num_threads(1);
  const std::vector<Observer> observers = {{"none", [] {}, [] { return std::size_t{0}; }},
                                           empty_callback(),
                                           ops_pass("ops", false),
                                           ops_pass("ops with shapes", true)};
  std::printf("case,observer,ns_per_call,operators_per_call,added_ns_per_operator\n");
  for (const Case& each : cases())
    if (only.empty() || only == each.name) measure(each, observers, rounds, calls / each.share);
  std::int64_t last = 0;
  std::printf("clock,ns_per_reading\nhost,%.1f\n", time_ns(1'000'000, [&] { last = kymo::now_ns(); }));
  std::printf("steady,%.1f\n", time_ns(1'000'000, [&] { last += Clock::now().time_since_epoch().count(); }));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 50;
  const std::int64_t calls = argc > 2 ? std::atoll(argv[2]) : 20'000;
  if (argc > 4 || rounds < 1 || calls < 10) {
    std::fprintf(stderr, "usage: operator_cost [ROUNDS [CALLS [CASE]]], ROUNDS at least 1 and CALLS at least 10\n");
    return 2;
  }
  try {
    run(rounds, calls, argc > 3 ? argv[3] : "");
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "operator_cost: %s\n", failure.what());
    return 1;
  }
}
