// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <barrier>
#include <exception>
#include <functional>
#include <kymo/communicator.hpp>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

/// Ranks that are threads of the test: collectives are complete when the call returns. Counts the bytes sent per
/// operation.
class ThreadRanks {
 public:
  using Tensors = std::vector<at::Tensor>;

  /// Runs `body` on each rank and rethrows the first exception.
  static void run(int size, const std::function<void(kymo::comm::Communicator&)>& body) {
    ThreadRanks ranks(size);
    std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        try {
          Rank communicator(ranks, rank);
          body(communicator);
        } catch (...) {
          thrown[static_cast<std::size_t>(rank)] = std::current_exception();
          ranks.barrier_.arrive_and_drop();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& one : thrown)
      if (one) std::rethrow_exception(one);
  }

  /// Also counts the calls of each operation on this rank, in order.
  class Rank final : public kymo::comm::Communicator {
   public:
    Rank(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(all_.inputs_.size()); }
    kymo::comm::Backend backend() const override { return kymo::comm::Backend::kGloo; }
    std::unique_ptr<kymo::comm::Work> all_reduce(const at::Tensor& tensor, kymo::comm::Reduction reduction) override {
      return all_reduce(tensor, tensor, reduction);
    }
    std::unique_ptr<kymo::comm::Work> all_reduce(const at::Tensor& output, const at::Tensor& input,
                                                 kymo::comm::Reduction reduction) override {
      const at::Tensor sum = reduced(exchange("all_reduce", input), reduction);
      return finish(output, sum);
    }
    std::unique_ptr<kymo::comm::Work> reduce_scatter(const at::Tensor& output, const at::Tensor& input,
                                                     kymo::comm::Reduction reduction) override {
      require(input.numel() == output.numel() * size(), "reduce_scatter");
      const at::Tensor sum = reduced(exchange("reduce_scatter", input), reduction);
      return finish(output, sum.narrow(0, rank_ * output.numel(), output.numel()));
    }
    std::unique_ptr<kymo::comm::Work> all_gather(const at::Tensor& output, const at::Tensor& input) override {
      require(output.numel() == input.numel() * size(), "all_gather");
      const Tensors parts = exchange("all_gather", input);
      for (int i = 0; i < size(); ++i)
        output.narrow(0, i * input.numel(), input.numel()).copy_(parts[static_cast<std::size_t>(i)]);
      return std::make_unique<Done>();
    }
    std::unique_ptr<kymo::comm::Work> broadcast(const at::Tensor& tensor, int root) override {
      return finish(tensor, exchange("broadcast", tensor).at(static_cast<std::size_t>(root)));
    }
    void barrier() override { all_.barrier_.arrive_and_wait(); }
    std::string description() const override { return "threads"; }

    std::map<std::string, int> calls;

   private:
    struct Done final : kymo::comm::Work {
      void wait() override {}
      bool done() override { return true; }
    };

    static void require(bool holds, const std::string& operation) {
      if (!holds) throw std::invalid_argument(operation + ": input and output do not fit");
    }
    std::unique_ptr<kymo::comm::Work> finish(const at::Tensor& output, const at::Tensor& result) {
      const c10::NoGradGuard no_gradients;
      output.copy_(result);
      return std::make_unique<Done>();
    }
    /// Copies of the inputs of all ranks, in rank order.
    Tensors exchange(const std::string& operation, const at::Tensor& input) {
      require(input.is_contiguous(), operation);
      ++calls[operation];
      all_.inputs_[static_cast<std::size_t>(rank_)] = {operation, input};
      all_.barrier_.arrive_and_wait();
      Tensors copies;
      for (const auto& [name, tensor] : all_.inputs_) {
        if (name != operation || tensor.numel() != input.numel())
          throw std::runtime_error("ranks differ: " + operation + " and " + name);
        copies.push_back(tensor.clone());
      }
      all_.barrier_.arrive_and_wait();
      return copies;
    }
    /// In rank order, so that the result is bitwise equal on every rank.
    static at::Tensor reduced(const Tensors& inputs, kymo::comm::Reduction reduction) {
      at::Tensor sum = inputs.front().clone();
      for (std::size_t i = 1; i < inputs.size(); ++i) sum += inputs[i];
      if (reduction == kymo::comm::Reduction::kAverage) sum /= static_cast<double>(inputs.size());
      return sum;
    }
    void begin_group() override {}
    void end_group() override {}

    ThreadRanks& all_;
    int rank_;
  };

 private:
  explicit ThreadRanks(int size) : inputs_(static_cast<std::size_t>(size)), barrier_(size) {}

  std::vector<std::pair<std::string, at::Tensor>> inputs_;  // per rank
  std::barrier<> barrier_;
};
