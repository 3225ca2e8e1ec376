// SPDX-License-Identifier: Apache-2.0
// Ranks that communicate in every step. One of them fails while the others wait for it.
#include <ATen/ops/ones.h>
#include <unistd.h>

#include <csignal>
#include <kymo/communicator.hpp>
#include <kymo/torch.hpp>
#include <kymo/workload.hpp>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

class OneRankFails final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"one_rank_fails", "adds up a number over the ranks until one of them fails"}
        .param("how", kymo::Choice{"dies", {"dies", "hangs", "throws", "memory"}}, "what the failing rank does")
        .param("when", kymo::Choice{"middle", {"begin", "middle", "end", "never"}},
               "before the rendezvous, before the call of the third step, or after that of the sixth")
        .param("who", kymo::Int{0}.at_least(0), "the failing rank")
        .phases({"compute", "communication"})
        .uses(kymo::Framework::LibTorch)
        .ranks(2, 0);
  }

  void prepare(kymo::Context& ctx) override {
    when_ = ctx.text("when");
    how_ = ctx.text("how");
    fails_ = ctx.rank() == ctx.integer("who");
    fail_at("begin");
    device_ = kymo::libtorch::select_device(ctx);
    communicator_ = kymo::comm::make_communicator(ctx, kymo::comm::backend_of("auto", ctx));
    number_ = at::ones({1024}, at::TensorOptions().device(device_));
  }

  void step(kymo::Context& ctx) override {
    {
      auto phase = ctx.phase("compute");
      number_.fill_(1);
    }
    auto phase = ctx.phase("communication");
    if (++steps_ == 3) fail_at("middle");
    communicator_->all_reduce(number_, kymo::comm::Reduction::kSum)->wait();
    if (steps_ == 6) fail_at("end");
  }

 private:
  void fail_at(const char* point) {
    if (!fails_ || when_ != point) return;
    if (how_ == "dies") raise(SIGKILL);
    while (how_ == "hangs") pause();
    if (how_ == "memory") std::vector<char>(std::numeric_limits<std::ptrdiff_t>::max()).front() = 1;
    throw std::runtime_error("failed on purpose");
  }

  std::string when_, how_;
  bool fails_ = false;
  int steps_ = 0;
  at::Device device_{at::kCPU};
  std::unique_ptr<kymo::comm::Communicator> communicator_;
  at::Tensor number_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(OneRankFails)
