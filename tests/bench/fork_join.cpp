// SPDX-License-Identifier: Apache-2.0
// A step that distributes arithmetic over threads and waits for all of them, for interference.py.
#include <barrier>
#include <cstdint>
#include <kymo/workload.hpp>
#include <optional>
#include <thread>
#include <vector>

namespace {

class ForkJoin final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"fork_join", "arithmetic on several threads, which wait for each other"}
        .param("threads", kymo::Int{0}.at_least(0), "threads of a step; 0: one per processor")
        .param("additions", kymo::Int{100'000}.at_least(1), "dependent additions of each thread")
        .phases({"compute"});
  }

  void prepare(kymo::Context& ctx) override {
    additions_ = ctx.integer("additions");
    threads_ = ctx.integer("threads");
    if (threads_ == 0) threads_ = std::thread::hardware_concurrency();
    barrier_.emplace(threads_);
    for (std::int64_t i = 1; i < threads_; ++i) {
      others_.emplace_back([this] {
        for (;;) {
          barrier_->arrive_and_wait();
          if (ended_) return;
          add();
          barrier_->arrive_and_wait();
        }
      });
    }
  }

  void step(kymo::Context& ctx) override {
    auto phase = ctx.phase("compute");
    barrier_->arrive_and_wait();
    add();
    barrier_->arrive_and_wait();
  }

  ~ForkJoin() override {
    ended_ = true;
    if (barrier_) barrier_->arrive_and_wait();
    for (std::thread& other : others_) other.join();
  }

 private:
  void add() const {
    volatile double sum = 0;
    for (std::int64_t i = 0; i < additions_; ++i) sum = sum + 1;
  }

  std::int64_t additions_ = 0, threads_ = 0;
  bool ended_ = false;  // written before the barrier
  std::optional<std::barrier<>> barrier_;
  std::vector<std::thread> others_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(ForkJoin)
