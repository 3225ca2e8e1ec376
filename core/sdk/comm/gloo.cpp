// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <torch/version.h>

#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "backends.hpp"
#include "call.hpp"
#include "gloo_work.hpp"

namespace kymo::comm {
namespace {

using Tensors = std::vector<at::Tensor>;

/// Selects the network interface that routes to rank 0, unless GLOO_SOCKET_IFNAME selects another one.
std::shared_ptr<::gloo::transport::Device> choose_device(const JoinedRendezvous& rendezvous, std::string& chosen) {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface && *interface) {
    chosen = std::string("interface ") + interface;
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  }
  chosen = "address " + rendezvous.own_address;
  return c10d::ProcessGroupGloo::createDeviceForHostname(rendezvous.own_address);
}

class GlooCommunicator final : public Communicator {
 public:
  GlooCommunicator(const Context& ctx, const JoinedRendezvous& rendezvous, const Options& options)
      : reporter_(ctx, rendezvous.name), rank_(ctx.rank()), size_(ctx.world_size()) {
    auto settings = c10d::ProcessGroupGloo::Options::create();
    settings->devices.push_back(choose_device(rendezvous, network_));
    settings->timeout = options.deadline;
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(rendezvous.store, rank_, size_, settings);
    description_ =
        "Gloo of LibTorch " TORCH_VERSION ", " + network_ + ", " + std::to_string(settings->threads) + " threads";
    if (const std::string set = environment_of("GLOO_"); !set.empty()) description_ += ", " + set;
  }
  GlooCommunicator(const GlooCommunicator&) = delete;
  GlooCommunicator& operator=(const GlooCommunicator&) = delete;
  /// Waits for in-flight calls, unless the communicator failed or the run is cancelled. Gloo calls cannot be
  /// interrupted; in those cases Gloo's threads continue until their timeout.
  ~GlooCommunicator() override {
    if (!health_->failed()) {
      for (const auto& call : calls_) call->await();
      return;
    }
    bool any_open = false;
    for (const auto& call : calls_) any_open = call->abandon() || any_open;
    if (any_open) group_.release();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Backend backend() const override { return Backend::kGloo; }
  std::string description() const override { return description_; }

  std::unique_ptr<comm::Work> all_reduce(const at::Tensor& tensor, Reduction reduction) override {
    return all_reduce(tensor, tensor, reduction);
  }

  std::unique_ptr<comm::Work> all_reduce(const at::Tensor& output, const at::Tensor& input,
                                         Reduction reduction) override {
    check_all_reduce(output, input, reduction, at::kCPU);
    return start(Operation::AllReduce, input.nbytes(), [&](GlooProgress& progress) {
      progress.hold({output, input}, {});
      fill(output, input, reduction);
      Tensors tensors{output};
      return group_->allreduce(tensors)->getFuture();
    });
  }

  std::unique_ptr<comm::Work> reduce_scatter(const at::Tensor& output, const at::Tensor& input,
                                             Reduction reduction) override {
    check_reduce_scatter(output, input, reduction, at::kCPU, rank_, size_);
    return start(Operation::ReduceScatter, input.nbytes(), [&](GlooProgress& progress) {
      // Gloo has no reduce_scatter, and its reductions overwrite their input.
      const at::Tensor scratch = at::empty_like(input).view({-1});
      fill(scratch, input.view({-1}), reduction);
      const at::Tensor mine = scratch.narrow(0, rank_ * output.numel(), output.numel());
      progress.hold({output, scratch}, [output, mine] {
        const at::AutoDispatchBelowADInplaceOrView without_gradients;
        output.view({-1}).copy_(mine);
      });
      Tensors tensors{scratch};
      return group_->allreduce(tensors)->getFuture();
    });
  }

  std::unique_ptr<comm::Work> all_gather(const at::Tensor& output, const at::Tensor& input) override {
    check_all_gather(output, input, at::kCPU, rank_, size_);
    return start(Operation::AllGather, output.nbytes(), [&](GlooProgress& progress) {
      progress.hold({output, input}, {});
      at::Tensor whole = output.view({-1});
      at::Tensor part = input.view({-1});
      return group_->_allgather_base(whole, part)->getFuture();
    });
  }

  std::unique_ptr<comm::Work> broadcast(const at::Tensor& tensor, int root) override {
    check_broadcast(tensor, root, at::kCPU, size_);
    return start(Operation::Broadcast, tensor.nbytes(), [&](GlooProgress& progress) {
      progress.hold({tensor}, {});
      Tensors tensors{tensor};
      c10d::BroadcastOptions from;
      from.rootRank = root;
      return group_->broadcast(tensors, from)->getFuture();
    });
  }

  std::unique_ptr<comm::Work> reduce(const at::Tensor& tensor, Reduction reduction, int root) override {
    check_reduce(tensor, reduction, root, at::kCPU, size_);
    return start(Operation::Reduce, tensor.nbytes(), [&](GlooProgress& progress) {
      progress.hold({tensor}, {});
      fill(tensor, tensor, reduction);
      Tensors tensors{tensor};
      c10d::ReduceOptions to;
      to.rootRank = root;
      return group_->reduce(tensors, to)->getFuture();
    });
  }

  std::unique_ptr<comm::Work> gather(const at::Tensor& output, const at::Tensor& input, int root) override {
    check_rooted(Operation::Gather, output, input, root, at::kCPU, rank_, size_);
    return start(Operation::Gather, input.nbytes() * static_cast<std::uint64_t>(size_), [&](GlooProgress& progress) {
      progress.hold({output, input}, {});
      std::vector<Tensors> wholes;
      if (rank_ == root) wholes.push_back(chunks(output));
      Tensors parts{input.view({-1})};
      c10d::GatherOptions to;
      to.rootRank = root;
      return group_->gather(wholes, parts, to)->getFuture();
    });
  }

  std::unique_ptr<comm::Work> scatter(const at::Tensor& output, const at::Tensor& input, int root) override {
    check_rooted(Operation::Scatter, input, output, root, at::kCPU, rank_, size_);
    return start(Operation::Scatter, output.nbytes() * static_cast<std::uint64_t>(size_), [&](GlooProgress& progress) {
      progress.hold({output, input}, {});
      std::vector<Tensors> wholes;
      if (rank_ == root) wholes.push_back(chunks(input));
      Tensors parts{output.view({-1})};
      c10d::ScatterOptions from;
      from.rootRank = root;
      return group_->scatter(parts, wholes, from)->getFuture();
    });
  }

  std::unique_ptr<comm::Work> all_to_all(const at::Tensor& output, const at::Tensor& input) override {
    check_all_to_all(output, input, at::kCPU, size_);
    return start(Operation::AllToAll, input.nbytes(), [&](GlooProgress& progress) {
      progress.hold({output, input}, {});
      at::Tensor to = output.view({-1}), from = input.view({-1});
      std::vector<std::int64_t> equal_output, equal_input;
      return group_->alltoall_base(to, from, equal_output, equal_input)->getFuture();
    });
  }

  std::unique_ptr<comm::Work> send(const at::Tensor& tensor, int to) override {
    return message(Operation::Send, tensor, to, [&](Tensors& tensors) { return group_->send(tensors, to, 0); });
  }

  std::unique_ptr<comm::Work> receive(const at::Tensor& tensor, int from) override {
    return message(Operation::Receive, tensor, from, [&](Tensors& tensors) { return group_->recv(tensors, from, 0); });
  }

  void barrier() override {
    const auto work = start(Operation::Barrier, 0, [&](GlooProgress&) { return group_->barrier()->getFuture(); });
    work->wait();
  }

 private:
  // Gloo starts each call separately.
  void begin_group() override {}
  void end_group() override {}

  /// Copies the input to `output`. For an average, scales it by 1 / size first, as c10d's Reducer does, and sums
  /// afterwards.
  void fill(const at::Tensor& output, const at::Tensor& input, Reduction reduction) const {
    at::Tensor target = output;
    if (reduction == Reduction::kAverage)
      at::mul_out(target, input, at::Scalar(1.0 / size_));
    else if (!output.is_same(input) && output.const_data_ptr() != input.const_data_ptr())
      target.copy_(input);
  }

  /// Views of the chunks of all ranks.
  Tensors chunks(const at::Tensor& whole) const { return whole.view({size_, -1}).unbind(0); }

  template <typename Begin>
  std::unique_ptr<comm::Work> start(Operation operation, std::uint64_t bytes, const Begin& begin) {
    return track(operation, bytes, [&] { return reporter_.begin(operation, bytes, nullptr); }, begin);
  }

  template <typename Begin>
  std::unique_ptr<comm::Work> message(Operation operation, const at::Tensor& tensor, int peer, const Begin& begin) {
    check_message(operation, tensor, peer, at::kCPU, rank_, size_);
    return track(
        operation, tensor.nbytes(), [&] { return reporter_.begin_message(operation, tensor.nbytes(), nullptr, peer); },
        [&](GlooProgress& progress) {
          progress.hold({tensor}, {});
          Tensors tensors{tensor};
          return begin(tensors);
        });
  }

  template <typename Report, typename Begin>
  std::unique_ptr<comm::Work> track(Operation operation, std::uint64_t bytes, const Report& report,
                                    const Begin& begin) {
    health_->check();
    while (!calls_.empty() && calls_.front()->ended()) calls_.pop_front();
    Collective reported = report();
    auto progress =
        calls_.emplace_back(std::make_shared<GlooProgress>(std::move(reported), health_, reporter_.last_call()));
    if (bytes == 0 && operation != Operation::Barrier) {
      progress->finish();
    } else {
      const at::AutoDispatchBelowADInplaceOrView without_gradients;
      try {
        progress->follow(progress, begin(*progress));
      } catch (const c10::Error& error) {
        health_->fail(reporter_.last_call() + " failed: " + first_line(error.what_without_backtrace()));
        health_->check();
      }
    }
    return std::make_unique<GlooWork>(reporter_.context(), std::move(progress));
  }

  Reporter reporter_;
  const int rank_;
  const int size_;
  const std::shared_ptr<Health> health_ = std::make_shared<Health>();
  std::string network_;
  std::string description_;
  std::deque<std::shared_ptr<GlooProgress>> calls_;  ///< in call order; completed calls are removed from the front
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::unique_ptr<Communicator> make_gloo(const Context& ctx, const JoinedRendezvous& rendezvous,
                                        const Options& options) {
  try {
    return std::make_unique<GlooCommunicator>(ctx, rendezvous, options);
  } catch (const c10::Error& error) {
    throw std::runtime_error("Gloo could not connect the ranks of communicator '" + rendezvous.name +
                             "': " + first_line(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    throw std::runtime_error("Gloo could not connect the ranks of communicator '" + rendezvous.name +
                             "': " + first_line(error.what()));
  }
}

}  // namespace kymo::comm
