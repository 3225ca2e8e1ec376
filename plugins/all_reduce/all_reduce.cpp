// SPDX-License-Identifier: Apache-2.0
// Repeats one collective to measure the connection between the ranks. Sizes and metrics are those of nccl-tests.
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <kymo/communicator.hpp>
#include <kymo/torch.hpp>
#include <kymo/workload.hpp>

namespace {

namespace comm = kymo::comm;
using comm::Communicator;
using comm::Reduction;
using kymo::Context;

/// Tensors of one collective. `whole` has one part per rank; broadcast and all_reduce use `whole` only.
struct Buffers {
  at::Tensor input, output;

  static Buffers make(const std::string& operation, const at::Tensor& whole, bool in_place, int rank, int size) {
    const std::int64_t count = whole.numel() / size;
    const at::Tensor own = whole.narrow(0, rank * count, count);
    if (operation == "reduce_scatter") return {whole, in_place ? own : at::zeros_like(own)};
    if (operation == "all_gather") return {in_place ? own : own.clone(), whole};
    return {whole, in_place || operation == "broadcast" ? whole : at::zeros_like(whole)};
  }

  std::unique_ptr<comm::Work> communicate(const std::string& operation, Communicator& ranks) const {
    if (operation == "reduce_scatter") return ranks.reduce_scatter(output, input, Reduction::kSum);
    if (operation == "all_gather") return ranks.all_gather(output, input);
    if (operation == "broadcast") return ranks.broadcast(output, 0);
    return ranks.all_reduce(output, input, Reduction::kSum);
  }
};

class AllReduce final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    using kymo::Bool, kymo::Choice, kymo::Int;
    constexpr std::int64_t kMegabyte = 1 << 20;
    return kymo::Descriptor{"all_reduce",
                            "repeat one collective to measure its latency and its bandwidth per rank: algbw and busbw, "
                            "as in nccl-tests"}
        .family("collective")
        .param("backend", kymo::Choice{"auto", comm::backend_names()},
               "communication library; auto selects nccl on GPUs and gloo on the CPU")
        .param("operation", kymo::Choice{"all_reduce", {"all_reduce", "reduce_scatter", "all_gather", "broadcast"}},
               "collective operation")
        .param("bytes",
               Int{64 * kMegabyte}.at_least(1).unit("B").axis(
                   {kMegabyte, 4 * kMegabyte, 16 * kMegabyte, 64 * kMegabyte, 256 * kMegabyte, 1024 * kMegabyte}),
               "message size, the larger of input and output; rounded to a whole number of elements per rank")
        .param("dtype", kymo::Choice{"fp32", kymo::libtorch::dtype_names()}, "element type")
        .param("in_place", kymo::Bool{true}, "whether input and output share memory")
        .param("calls", kymo::Int{1}.at_least(1),
               "calls per step, issued back to back; many calls amortize the launch of the first and the wait for the "
               "last, as in nccl-tests")
        .param(
            "own_stream", kymo::Bool{false},
            "run NCCL on a separate stream, like training that overlaps communication, instead of the current stream")
        .phases({"communication"})
        .uses(kymo::Framework::LibTorch)
        .asynchronous();
  }

  void prepare(Context& ctx) override {
    operation_ = ctx.text("operation");
    type_ = kymo::libtorch::dtype(ctx.text("dtype"));
    const at::Device selected = kymo::libtorch::select_device(ctx);
    const comm::Backend backend = comm::backend_of(ctx.text("backend"), ctx);
    device_ = backend == comm::Backend::kNccl ? selected : at::Device(at::kCPU);
    ranks_ = comm::make_communicator(ctx, backend, {.own_stream = ctx.boolean("own_stream")});
    ctx.metric("backend", comm::to_string(backend));

    const auto part_bytes = static_cast<std::int64_t>(c10::elementSize(type_)) * ranks_->size();
    const std::int64_t elements = std::max<std::int64_t>(ctx.integer("bytes") / part_bytes, 1) * ranks_->size();
    // Zeros stay zero however often they are summed in place.
    const at::Tensor whole = at::zeros({elements}, at::TensorOptions().dtype(type_).device(device_));
    buffers_ = Buffers::make(operation_, whole, ctx.boolean("in_place"), ranks_->rank(), ranks_->size());
    for (const at::Tensor& tensor : {buffers_.input, buffers_.output})
      kymo::libtorch::tag(ctx, tensor, kymo::Block::Workspace);

    calls_ = ctx.integer("calls");
    // Bytes over links are no memory traffic, so no work is declared: the view all_reduce_bandwidth derives algbw and
    // busbw from the message size.
    ctx.metric("message_bytes", static_cast<double>(whole.nbytes()), "B");
    ctx.metric("calls_per_step", static_cast<double>(calls_));
    ctx.metric("world_size", ranks_->size());
    ctx.metric("communicator", ranks_->description());
  }

  void step(Context& ctx) override {
    auto phase = kymo::libtorch::phase(ctx, "communication");
    for (std::int64_t i = 0; i < calls_; ++i) buffers_.communicate(operation_, *ranks_)->wait();
  }

  kymo::Verification verify(Context&) override {
    kymo::Verification result;
    // All integers up to 256 are exact in bfloat16, so the sum does not depend on the order.
    if (operation_ != "broadcast" && ranks_->size() > 256)
      return kymo::Verification::unavailable("sums over this many ranks are not exact");
    for (const std::int64_t per_rank : {1, 3, 1000, 1 << 15, (1 << 17) + 5})
      for (const bool in_place : {true, false}) check(result, per_rank * ranks_->size(), in_place);
    return result;
  }

 private:
  at::Tensor numbers(int rank, std::int64_t elements) const {
    const std::int64_t values = std::clamp<std::int64_t>(256 / ranks_->size(), 1, 7);
    return at::arange(elements, at::kLong).add(rank).remainder(values).add(values == 1 ? 1 : 0).to(type_).to(device_);
  }

  at::Tensor expected(std::int64_t elements) const {
    const std::int64_t count = elements / ranks_->size();
    if (operation_ == "broadcast") return numbers(0, elements);
    at::Tensor whole = at::zeros({elements}, at::TensorOptions().dtype(type_).device(device_));
    for (int rank = 0; rank < ranks_->size(); ++rank) {
      if (operation_ == "all_gather")
        whole.narrow(0, rank * count, count).copy_(numbers(rank, elements).narrow(0, rank * count, count));
      else
        whole.add_(numbers(rank, elements));
    }
    return operation_ == "reduce_scatter" ? whole.narrow(0, ranks_->rank() * count, count) : whole;
  }

  void check(kymo::Verification& result, std::int64_t elements, bool in_place) const {
    const at::Tensor mine = numbers(ranks_->rank(), elements);
    const Buffers buffers = Buffers::make(operation_, mine.clone(), in_place, ranks_->rank(), ranks_->size());
    buffers.communicate(operation_, *ranks_)->wait();
    const std::int64_t mismatches = buffers.output.ne(expected(elements)).sum().item<std::int64_t>();
    const bool kept = in_place || operation_ != "all_reduce" || at::equal(buffers.input, mine);
    result.that(
        mismatches == 0 && kept,
        operation_ + " of " + std::to_string(elements) + " elements" + (in_place ? " in place" : " out of place"),
        "integers computed on each rank",
        mismatches ? std::to_string(mismatches) + " elements differ"
        : kept     ? ""
                   : "the input was modified");
  }

  std::string operation_;
  at::ScalarType type_ = at::kFloat;
  at::Device device_{at::kCPU};
  std::unique_ptr<Communicator> ranks_;
  Buffers buffers_;
  std::int64_t calls_ = 1;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(AllReduce)
