// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo/communicator.hpp>
#include <memory>
#include <string>
#include <vector>

/// Ranks that all do the same as this one, so that a mean is unchanged. Records every call and how often each was
/// waited for.
class FakeCommunicator final : public kymo::comm::Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  kymo::comm::Backend backend() const override { return kymo::comm::Backend::kGloo; }

  using WorkPointer = std::unique_ptr<kymo::comm::Work>;
  WorkPointer all_reduce(const at::Tensor& tensor, kymo::comm::Reduction) override {
    return begin("all_reduce", tensor);
  }
  WorkPointer all_reduce(const at::Tensor& output, const at::Tensor& input, kymo::comm::Reduction) override {
    output.copy_(input);
    return begin("all_reduce", output);
  }
  WorkPointer reduce_scatter(const at::Tensor& output, const at::Tensor&, kymo::comm::Reduction) override {
    return begin("reduce_scatter", output);
  }
  WorkPointer all_gather(const at::Tensor& output, const at::Tensor&) override { return begin("all_gather", output); }
  WorkPointer broadcast(const at::Tensor& tensor, int) override { return begin("broadcast", tensor); }
  void barrier() override {}
  std::string description() const override { return "ranks that agree"; }

  struct Call {
    std::string operation;
    at::Tensor tensor;
    bool in_group = false;
  };
  std::vector<Call> calls;
  int waits = 0, groups = 0;

 private:
  struct FakeWork final : kymo::comm::Work {
    explicit FakeWork(FakeCommunicator& owner) : owner_(owner) {}
    void wait() override { ++owner_.waits; }
    bool done() override { return true; }
    FakeCommunicator& owner_;
  };

  WorkPointer begin(const char* operation, const at::Tensor& tensor) {
    calls.push_back({operation, tensor, grouped_});
    return std::make_unique<FakeWork>(*this);
  }
  void begin_group() override { grouped_ = true, ++groups; }
  void end_group() override { grouped_ = false; }

  bool grouped_ = false;
};
