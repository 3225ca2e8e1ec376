// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>

#include "backends.hpp"
#include "call.hpp"
#include "nccl_in_flight.hpp"
#include "nccl_messages.hpp"
#include "nccl_session.hpp"

namespace kymo::comm {
namespace {

/// The communicator with an open group on this thread. NCCL defers the calls of all communicators until the group ends.
thread_local const void* open_group = nullptr;

class NcclWork final : public Work {
 public:
  NcclWork(std::shared_ptr<NcclSession> session, std::shared_ptr<InFlightOp> op, const CollectiveUse& use)
      : session_(std::move(session)), op_(std::move(op)), use_(use) {}

  void wait() override {
    check_launched();
    needed(nullptr);
    if (!session_->failed() || !op_->completed()) session_->check();
    const int index = session_->context().device_index();
    const cudaStream_t current = c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(index)).stream();
    if (current != op_->stream) {
      const OnDevice device(index);
      op_->mark();
      check_cuda(cudaStreamWaitEvent(current, op_->done, 0), "cannot wait for a collective");
    }
    // Memory freed from now on can only be reused on this stream, which is ordered after the collective.
    if (current == op_->caller) op_->kept.clear();
  }

  void needed(const char* by) const override { use_.needed(by); }

  bool done() override {
    check_launched();
    if (op_->captured) throw std::logic_error("a collective in a CUDA graph is complete when a replay of the graph is");
    if (op_->completed()) return true;
    session_->check();
    return false;
  }

 private:
  void check_launched() const {
    if (!op_->launched) {
      session_->check();
      throw std::logic_error("cannot wait for a collective inside its group: end the group first");
    }
  }

  const std::shared_ptr<NcclSession> session_;
  const std::shared_ptr<InFlightOp> op_;
  const CollectiveUse use_;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(const Context& ctx, const JoinedRendezvous& rendezvous, const Options& options)
      : reporter_(ctx, rendezvous.name),
        deadline_(options.deadline),
        device_(at::kCUDA, static_cast<c10::DeviceIndex>(ctx.device_index())),
        session_(std::make_shared<NcclSession>(ctx, rendezvous, options)) {
    const OnDevice device(device_.index());
    check_cuda(cudaEventCreateWithFlags(&ready_, cudaEventDisableTiming), "cannot create an event for a communicator");
    if (!options.own_stream) return;
    int lowest = 0;
    int highest = 0;
    check_cuda(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cannot create a stream for a communicator");
    check_cuda(cudaStreamCreateWithPriority(&own_stream_, cudaStreamNonBlocking, highest),
               "cannot create a stream for a communicator");
  }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  /// Waits for in-flight calls. If they do not complete in time, another rank is gone and they are aborted.
  ~NcclCommunicator() override {
    constexpr std::chrono::seconds kCloseTimeout{10};
    const OnDevice device(device_.index());
    if (!session_->failed() && !drain_all(kCloseTimeout))
      session_->fail("the communicator was closed while a collective was in flight");
    drain(kCloseTimeout);  // after an abort, kernels may write their tensors for a short time
    session_->close();
    cudaEventDestroy(ready_);
    if (own_stream_) cudaStreamDestroy(own_stream_);
  }

  int rank() const override { return reporter_.context().rank(); }
  int size() const override { return reporter_.context().world_size(); }
  Backend backend() const override { return Backend::kNccl; }

  std::string description() const override {
    int version = 0;
    ncclGetVersion(&version);
    const std::string set = environment_of("NCCL_");
    return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
           std::to_string(version % 100) + (own_stream_ ? "" : ", on the current stream") +
           (set.empty() ? "" : ", " + set);
  }

  std::unique_ptr<Work> all_reduce(const at::Tensor& tensor, Reduction reduction) override {
    return all_reduce(tensor, tensor, reduction);
  }

  std::unique_ptr<Work> all_reduce(const at::Tensor& output, const at::Tensor& input, Reduction reduction) override {
    check_all_reduce(output, input, reduction, device_);
    return start({Operation::AllReduce, input.nbytes()}, output, input, [&](cudaStream_t stream) {
      return ncclAllReduce(input.const_data_ptr(), output.mutable_data_ptr(), count_of(input), nccl_type(input),
                           nccl_reduction(reduction), session_->get(), stream);
    });
  }

  std::unique_ptr<Work> reduce_scatter(const at::Tensor& output, const at::Tensor& input,
                                       Reduction reduction) override {
    check_reduce_scatter(output, input, reduction, device_, rank(), size());
    return start({Operation::ReduceScatter, input.nbytes()}, output, input, [&](cudaStream_t stream) {
      return ncclReduceScatter(input.const_data_ptr(), output.mutable_data_ptr(), count_of(output), nccl_type(input),
                               nccl_reduction(reduction), session_->get(), stream);
    });
  }

  std::unique_ptr<Work> all_gather(const at::Tensor& output, const at::Tensor& input) override {
    check_all_gather(output, input, device_, rank(), size());
    return start({Operation::AllGather, output.nbytes()}, output, input, [&](cudaStream_t stream) {
      return ncclAllGather(input.const_data_ptr(), output.mutable_data_ptr(), count_of(input), nccl_type(input),
                           session_->get(), stream);
    });
  }

  std::unique_ptr<Work> broadcast(const at::Tensor& tensor, int root) override {
    check_broadcast(tensor, root, device_, size());
    return start({Operation::Broadcast, tensor.nbytes()}, tensor, tensor, [&](cudaStream_t stream) {
      void* address = tensor.mutable_data_ptr();
      return ncclBroadcast(address, address, count_of(tensor), nccl_type(tensor), root, session_->get(), stream);
    });
  }

  std::unique_ptr<Work> reduce(const at::Tensor& tensor, Reduction reduction, int root) override {
    check_reduce(tensor, reduction, root, device_, size());
    return start({Operation::Reduce, tensor.nbytes()}, tensor, tensor, [&](cudaStream_t stream) {
      void* address = tensor.mutable_data_ptr();
      return ncclReduce(address, address, count_of(tensor), nccl_type(tensor), nccl_reduction(reduction), root,
                        session_->get(), stream);
    });
  }

  std::unique_ptr<Work> gather(const at::Tensor& output, const at::Tensor& input, int root) override {
    check_rooted(Operation::Gather, output, input, root, device_, rank(), size());
    const std::uint64_t bytes = input.nbytes() * static_cast<std::uint64_t>(size());
    return start({Operation::Gather, bytes}, rank() == root ? output : input, input, [&](cudaStream_t stream) {
      MessageGroup messages(session_->get(), stream);
      messages.send(root, input, 0, input);
      for (int i = 0; rank() == root && i < size(); ++i) messages.receive(i, output, i, input);
      return messages.end();
    });
  }

  std::unique_ptr<Work> scatter(const at::Tensor& output, const at::Tensor& input, int root) override {
    check_rooted(Operation::Scatter, input, output, root, device_, rank(), size());
    const std::uint64_t bytes = output.nbytes() * static_cast<std::uint64_t>(size());
    return start({Operation::Scatter, bytes}, output, rank() == root ? input : output, [&](cudaStream_t stream) {
      MessageGroup messages(session_->get(), stream);
      for (int i = 0; rank() == root && i < size(); ++i) messages.send(i, input, i, output);
      messages.receive(root, output, 0, output);
      return messages.end();
    });
  }

  std::unique_ptr<Work> all_to_all(const at::Tensor& output, const at::Tensor& input) override {
    check_all_to_all(output, input, device_, size());
    const at::Tensor chunk = input.view({-1}).narrow(0, 0, input.numel() / size());
    return start({Operation::AllToAll, input.nbytes()}, output, input, [&](cudaStream_t stream) {
      MessageGroup messages(session_->get(), stream);
      for (int i = 0; i < size(); ++i) {
        messages.send(i, input, i, chunk);
        messages.receive(i, output, i, chunk);
      }
      return messages.end();
    });
  }

  std::unique_ptr<Work> send(const at::Tensor& tensor, int to) override {
    check_message(Operation::Send, tensor, to, device_, rank(), size());
    return start({Operation::Send, tensor.nbytes(), to}, tensor, tensor, [&](cudaStream_t stream) {
      return ncclSend(tensor.const_data_ptr(), count_of(tensor), nccl_type(tensor), to, session_->get(), stream);
    });
  }

  std::unique_ptr<Work> receive(const at::Tensor& tensor, int from) override {
    check_message(Operation::Receive, tensor, from, device_, rank(), size());
    return start({Operation::Receive, tensor.nbytes(), from}, tensor, tensor, [&](cudaStream_t stream) {
      return ncclRecv(tensor.mutable_data_ptr(), count_of(tensor), nccl_type(tensor), from, session_->get(), stream);
    });
  }

  void barrier() override {
    if (in_group_) throw std::logic_error("barriers are not allowed in a group");
    const OnDevice device(device_.index());
    if (is_captured(c10::cuda::getCurrentCUDAStream(device_.index()).stream()))
      throw std::logic_error("a barrier waits on the host and cannot be captured into a CUDA graph");
    if (!token_.defined()) token_ = at::zeros({1}, at::TensorOptions().dtype(at::kInt).device(device_));
    start({Operation::Barrier, 0}, token_, token_, [&](cudaStream_t stream) {
      return ncclAllReduce(token_.const_data_ptr(), token_.mutable_data_ptr(), 1, ncclInt32, ncclSum, session_->get(),
                           stream);
    });
    const std::string call = reporter_.last_call();
    if (!own_stream_) in_flight_.follow(*last_stream_);
    if (drain(deadline_)) return;
    session_->fail(call + " failed: " +
                   (reporter_.context().cancelled()
                        ? "the run was cancelled"
                        : "timed out after " + std::to_string(deadline_.count()) + " s: another rank is missing"));
    session_->check();
  }

 private:
  struct Call {
    Operation operation;
    std::uint64_t bytes;
    int peer = -1;  ///< of a message
  };

  template <typename Queue>
  std::unique_ptr<Work> start(const Call& call, const at::Tensor& output, const at::Tensor& input, const Queue& queue) {
    if (open_group != (in_group_ ? this : nullptr))
      throw std::logic_error("calls inside a group must use the group's communicator and thread");
    session_->check();
    const OnDevice device(device_.index());
    const cudaStream_t caller = c10::cuda::getCurrentCUDAStream(device_.index()).stream();
    const std::shared_ptr<InFlightOp> op = in_group_ && group_ ? group_ : in_flight_.take();
    if (!group_ || !in_group_) prepare(*op, caller);
    Collective report = call.peer < 0
                            ? reporter_.begin(call.operation, call.bytes, queued_on(op->stream))
                            : reporter_.begin_message(call.operation, call.bytes, queued_on(op->stream), call.peer);
    const CollectiveUse use = report.use();
    if (own_stream_ || in_group_) {  // on the current stream, stream order protects the memory
      op->kept.push_back(output);
      if (!input.is_same(output)) op->kept.push_back(input);
    }
    if (in_group_) {
      join_group(op, caller, std::move(report));
      accept(queue(op->stream));
    } else {
      order(op->stream, caller);
      accept(queue(op->stream));
      launch(op);
      report.end();
    }
    return std::make_unique<NcclWork>(session_, op, use);
  }

  void accept(ncclResult_t result) {
    if (result != ncclSuccess)
      session_->accept(result, reporter_.last_call());  // formatting the call name costs as much as a small call
  }

  void prepare(InFlightOp& op, cudaStream_t caller) const {
    op.stream = own_stream_ ? own_stream_ : caller;
    op.caller = caller;
    op.captured = is_captured(caller);
  }

  /// Orders work queued on `stream` from now on after the work already queued on `caller`.
  void order(cudaStream_t stream, cudaStream_t caller) const {
    if (stream == caller) return;
    check_cuda(cudaEventRecord(ready_, caller), "cannot order a collective after the current stream");
    check_cuda(cudaStreamWaitEvent(stream, ready_, 0), "cannot order a collective after the current stream");
  }

  static bool is_captured(cudaStream_t stream) {
    if (!stream) return false;  // the legacy stream cannot be captured
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check_cuda(cudaStreamIsCapturing(stream, &status), "cannot query the capture status of the current stream");
    return status != cudaStreamCaptureStatusNone;
  }

  /// On the current stream, tensors need no extra reference and no event: freed memory is only reused on the same
  /// stream, after the call. An event would cost up to a fifth of the time of a small message.
  void launch(const std::shared_ptr<InFlightOp>& op) {
    last_stream_ = op->stream;
    if (!own_stream_) return in_flight_.pass(op);
    try {
      // Capture only records the order of the streams, and allows no query of an event.
      if (op->captured) return op->launch();
      in_flight_.launch(op);
      in_flight_.release_completed();
    } catch (const std::runtime_error& error) {
      session_->fail(error.what());
      throw;
    }
  }

  /// Waits until all calls are complete. Returns false if that takes longer than `timeout`, the run is cancelled, or
  /// NCCL or the device fails.
  bool drain(std::chrono::seconds timeout) noexcept {
    const Clock::time_point start = Clock::now();
    try {
      for (in_flight_.release_completed(); !in_flight_.empty(); in_flight_.release_completed()) {
        const auto waited = Clock::now() - start;
        if (waited < std::chrono::microseconds(200)) continue;  // most barriers finish within this time
        if (waited > timeout || (!session_->failed() && reporter_.context().cancelled())) return false;
        if (!session_->failed()) session_->check();
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  bool drain_all(std::chrono::seconds timeout) noexcept {
    try {
      if (!own_stream_ && last_stream_) in_flight_.follow(*last_stream_);
    } catch (const std::exception&) {
      return false;
    }
    return drain(timeout);
  }

  // A group is launched at its end, so its stream waits for the caller's stream only once, at the end. If the caller
  // changes streams inside the group, the stream waits for each of them. NCCL asks at the first call whether the stream
  // is captured, so it must join the capture before.
  void join_group(const std::shared_ptr<InFlightOp>& op, cudaStream_t caller, Collective report) {
    if (group_ && group_caller_ != caller) order(op->stream, group_caller_);
    if (!group_ && op->captured) order(op->stream, caller);
    group_ = op;
    group_caller_ = caller;
    group_reports_.push_back(std::move(report));
  }

  void begin_group() override {
    if (open_group) throw std::logic_error("groups cannot be nested");
    session_->check();
    session_->accept(ncclGroupStart(), "ncclGroupStart");
    open_group = this;
    in_group_ = true;
    exceptions_before_ = std::uncaught_exceptions();
  }

  void end_group() override {
    open_group = nullptr;
    in_group_ = false;
    const std::shared_ptr<InFlightOp> op = std::move(group_);
    group_ = nullptr;
    const std::vector<Collective> reports = std::move(group_reports_);
    group_reports_.clear();
    if (std::uncaught_exceptions() > exceptions_before_ || session_->failed()) return abandon_group();
    const OnDevice device(device_.index());
    if (op) order(op->stream, group_caller_);
    session_->accept(ncclGroupEnd(), "ncclGroupEnd after " + reporter_.last_call());
    if (!op) return;
    launch(op);
  }

  /// Does not throw, because it may run during stack unwinding. The communicator is aborted, since the other ranks
  /// would wait for the calls that this rank did not make.
  void abandon_group() noexcept {
    ncclGroupEnd();
    session_->fail("a group of communicator '" + reporter_.name() + "' was aborted by an exception");
  }

  Reporter reporter_;
  const std::chrono::seconds deadline_;
  const at::Device device_;
  const std::shared_ptr<NcclSession> session_;
  InFlightOps in_flight_;
  cudaEvent_t ready_ =
      nullptr;  ///< re-recorded for each call; a waiting stream uses the record at the time of cudaStreamWaitEvent
  cudaStream_t own_stream_ = nullptr;
  std::optional<cudaStream_t> last_stream_;  ///< stream of the last call
  at::Tensor token_;                         ///< buffer that a barrier reduces

  bool in_group_ = false;
  int exceptions_before_ = 0;
  std::shared_ptr<InFlightOp> group_;
  cudaStream_t group_caller_ = nullptr;
  std::vector<Collective> group_reports_;
};

}  // namespace

std::unique_ptr<Communicator> make_nccl(const Context& ctx, const JoinedRendezvous& rendezvous,
                                        const Options& options) {
  return std::make_unique<NcclCommunicator>(ctx, rendezvous, options);
}

}  // namespace kymo::comm
