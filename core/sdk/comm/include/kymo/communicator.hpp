// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/version.h>

#include <chrono>
#include <cstdint>
#include <kymo/context.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#ifdef KYMO_COMM_TORCH  // defined for plugins built outside of kymo's source tree
static_assert(std::string_view(TORCH_VERSION).substr(0, sizeof KYMO_COMM_TORCH) == KYMO_COMM_TORCH ".",
              "kymo::comm was built with LibTorch " KYMO_COMM_TORCH ", but this plugin is built with " TORCH_VERSION);
#endif

/// Collectives between the ranks of a run, over NCCL or Gloo. Each call is reported to the host.
namespace kymo::comm {

enum class Backend { kGloo, kNccl };
/// Backend name: gloo or nccl.
const char* to_string(Backend backend);
/// Choices for a backend parameter: auto, gloo, nccl.
std::vector<std::string> backend_names();
/// Parses a backend name; auto selects NCCL on a GPU and Gloo otherwise. Throws std::invalid_argument for an unknown
/// name, and for nccl without a GPU.
Backend backend_of(const std::string& name, const Context& ctx);

enum class Reduction { kSum, kAverage };

/// Handle of an asynchronous collective. It may be destroyed without waiting; the tensors stay alive until the call is
/// done.
class Work {
 public:
  virtual ~Work() = default;
  /// NCCL: makes the current stream wait for the collective, without blocking the calling thread. Gloo: blocks until
  /// the collective is done. Throws std::runtime_error if it failed.
  virtual void wait() = 0;
  /// Reports that this thread needs the result from now on. wait() does so itself; call this before it to name what
  /// needs the result.
  virtual void needed(const char* /*by*/) const {}
  /// Returns true if the collective is complete, including its work on the device. Never blocks; throws like wait().
  virtual bool done() = 0;
};

struct Options {
  std::string name = "world";          ///< distinguishes communicators of a process; identical on all ranks
  std::chrono::seconds deadline{120};  ///< timeout of the rendezvous, of every Gloo call, and of NCCL barriers
  /// NCCL: queue calls on a separate stream, so that they overlap with work on the current stream. If false, calls are
  /// queued on the current stream, which costs less for small messages but allows no overlap.
  bool own_stream = true;
  /// NCCL: maximum number of thread blocks per call (ncclConfig_t::maxCTAs); 0 uses NCCL's default. Each block occupies
  /// a multiprocessor. With fewer blocks a call takes longer but interferes less with concurrent kernels.
  int max_blocks = 0;
};

/// A communicator over all ranks of a run. Every rank must make the same calls in the same order, except messages
/// between two ranks. Tensors must be
/// dense, contiguous, of the same dtype, and on the backend's device; otherwise a call throws std::invalid_argument
/// before any data is sent. Calls may come from any thread, but only one at a time. They return when the work is queued
/// (NCCL, by default on a separate stream that first waits for the current one) or handed to Gloo's threads. Gloo runs
/// two calls concurrently, so a call that needs the result of another must wait for it. The reported size of a call is
/// the larger of input and output, and 0 for a barrier. After a failure every further call throws std::runtime_error.
///
/// NCCL: while the current stream is captured into a CUDA graph, calls become part of the graph, and are reported once.
/// Make the same calls once before, so that NCCL has connected the ranks; wait for each before the capture ends; and
/// destroy the graph before the communicator. Replay it on all ranks alike.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual Backend backend() const = 0;

  /// In-place all-reduce. The result is bitwise identical on all ranks.
  virtual std::unique_ptr<Work> all_reduce(const at::Tensor& tensor, Reduction reduction) = 0;
  /// Reduces `input` of all ranks into `output`, which has the same shape and may be the same tensor.
  virtual std::unique_ptr<Work> all_reduce(const at::Tensor& output, const at::Tensor& input, Reduction reduction) = 0;
  /// `input` consists of size() chunks of output.numel() elements; chunk i is reduced to rank i. `output` may be this
  /// rank's chunk of `input`.
  virtual std::unique_ptr<Work> reduce_scatter(const at::Tensor& output, const at::Tensor& input,
                                               Reduction reduction) = 0;
  /// The inverse of reduce_scatter: chunk i of `output` receives the input of rank i. `input` may be this rank's chunk
  /// of `output`.
  virtual std::unique_ptr<Work> all_gather(const at::Tensor& output, const at::Tensor& input) = 0;
  virtual std::unique_ptr<Work> broadcast(const at::Tensor& tensor, int root) = 0;
  /// Reduces `tensor` of all ranks into that of `root`; on other ranks, it is undefined afterwards.
  virtual std::unique_ptr<Work> reduce(const at::Tensor& tensor, Reduction reduction, int root);
  /// Chunk i of the output of `root` receives the input of rank i. Other ranks do not use `output`; it may be
  /// undefined.
  virtual std::unique_ptr<Work> gather(const at::Tensor& output, const at::Tensor& input, int root);
  /// The inverse of gather: the output of rank i receives chunk i of the input of `root`.
  virtual std::unique_ptr<Work> scatter(const at::Tensor& output, const at::Tensor& input, int root);
  /// Chunk i of `input` goes to rank i, whose chunk rank() of `output` receives it. The tensors must not overlap.
  virtual std::unique_ptr<Work> all_to_all(const at::Tensor& output, const at::Tensor& input);
  /// A message to another rank, which receives it in a tensor of the same size and type. Only these two ranks call.
  /// Messages from one rank to another arrive in order. With NCCL, a rank that sends and receives at the same time,
  /// such as in a ring, needs a Group around both calls.
  virtual std::unique_ptr<Work> send(const at::Tensor& tensor, int to);
  virtual std::unique_ptr<Work> receive(const at::Tensor& tensor, int from);
  /// Blocks until every rank has called it. With NCCL, all work queued before it on the current stream is complete as
  /// well.
  virtual void barrier() = 0;

  /// Groups the calls that this thread makes on this communicator until destruction; NCCL launches them as one
  /// operation. Groups do not nest. Wait for Work created inside a group after the group ends.
  class Group {
   public:
    explicit Group(Communicator& communicator) : communicator_(communicator) { communicator_.begin_group(); }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group() noexcept(false) { communicator_.end_group(); }

   private:
    Communicator& communicator_;
  };

  /// Name and version of the library, and the environment variables that affect it (NCCL_NVLS_ENABLE ...).
  virtual std::string description() const = 0;

 private:
  virtual void begin_group() = 0;
  virtual void end_group() = 0;
};

/// Creates a communicator of all ranks of the run, which rendezvous at ctx.rendezvous(). All ranks must create their
/// communicators in the same order. A run with a single rank needs no rendezvous. Throws std::runtime_error that lists
/// the missing ranks when the deadline passes, or if the run is cancelled.
std::unique_ptr<Communicator> make_communicator(const Context& ctx, Backend backend, const Options& options = {});

}  // namespace kymo::comm
