// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "worker/control_client.hpp"

namespace kymo::worker {

using measure::RunStatus;

/// A control server within the test: stores what it receives and answers as the test specifies.
class FakeControl final : public ControlClient {
 public:
  std::optional<measure::protocol::Assignment> next_assignment() override {
    if (assignments.empty()) return std::nullopt;
    auto next = assignments.front();
    assignments.pop_front();
    return next;
  }
  void send(const measure::protocol::Progress& frame) override {
    if (lost_at_stage == frame.stage) throw ConnectionLost("gone");
    progress.push_back(frame);
  }
  void send(const measure::Outcome& frame) override { outcomes.push_back(frame); }
  Release barrier(bool stop) override {
    stops.push_back(stop);
    return on_barrier ? on_barrier(stop) : stop ? Release::kStop : Release::kGo;
  }
  std::optional<std::vector<std::string>> gather(const std::string& bytes) override {
    return on_gather ? on_gather(bytes) : std::vector<std::string>{bytes};
  }
  std::optional<measure::protocol::Clock> request_clock() override {
    const std::int64_t sequence = clock_questions++;
    return on_clock_request ? on_clock_request(sequence) : measure::protocol::Clock{sequence, now_ns(), boot_id()};
  }
  bool cancelled() override { return polls++ >= cancel_at_poll; }

  std::deque<measure::protocol::Assignment> assignments;
  std::vector<measure::protocol::Progress> progress;
  std::vector<measure::Outcome> outcomes;
  std::vector<bool> stops;
  std::function<Release(bool)> on_barrier;
  std::function<std::optional<std::vector<std::string>>(const std::string&)> on_gather;
  std::function<std::optional<measure::protocol::Clock>(std::int64_t)> on_clock_request;
  std::int64_t clock_questions = 0;
  std::string lost_at_stage;
  std::int64_t polls = 0;
  std::int64_t cancel_at_poll = std::numeric_limits<std::int64_t>::max();
};

inline measure::protocol::Assignment fake_assignment(measure::Pass pass = measure::Pass::kTime) {
  measure::protocol::Assignment assignment;
  assignment.run_id = 7;
  assignment.what.plugin_file = "/fake.so";
  assignment.what.workload = "fake";
  assignment.method.warmup = 2;
  assignment.method.steps = 3;
  assignment.pass = pass;
  return assignment;
}

}  // namespace kymo::worker
