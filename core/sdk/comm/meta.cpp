// SPDX-License-Identifier: Apache-2.0
#include "backends.hpp"
#include "call.hpp"

namespace kymo::comm {
namespace {

class Done final : public Work {
 public:
  void wait() override {}
  bool done() override { return true; }
};

class MetaCommunicator final : public Communicator {
 public:
  MetaCommunicator(int rank, int size, Backend backend) : rank_(rank), size_(size), backend_(backend) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Backend backend() const override { return backend_; }

  std::unique_ptr<Work> all_reduce(const at::Tensor& tensor, Reduction reduction) override {
    return all_reduce(tensor, tensor, reduction);
  }
  std::unique_ptr<Work> all_reduce(const at::Tensor& output, const at::Tensor& input, Reduction reduction) override {
    check_all_reduce(output, input, reduction, at::kMeta);
    return std::make_unique<Done>();
  }
  std::unique_ptr<Work> reduce_scatter(const at::Tensor& output, const at::Tensor& input,
                                       Reduction reduction) override {
    check_reduce_scatter(output, input, reduction, at::kMeta, rank_, size_);
    return std::make_unique<Done>();
  }
  std::unique_ptr<Work> all_gather(const at::Tensor& output, const at::Tensor& input) override {
    check_all_gather(output, input, at::kMeta, rank_, size_);
    return std::make_unique<Done>();
  }
  std::unique_ptr<Work> broadcast(const at::Tensor& tensor, int root) override {
    check_broadcast(tensor, root, at::kMeta, size_);
    return std::make_unique<Done>();
  }
  void barrier() override {}
  std::string description() const override { return "predicted"; }

 private:
  void begin_group() override {}
  void end_group() override {}

  int rank_;
  int size_;
  Backend backend_;
};

}  // namespace

std::unique_ptr<Communicator> make_meta(const Context& ctx, Backend backend) {
  return std::make_unique<MetaCommunicator>(ctx.rank(), ctx.world_size(), backend);
}

}  // namespace kymo::comm
