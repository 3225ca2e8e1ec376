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

#ifdef KYMO_COMM_TORCH  // set for plugins outside of kymo's own tree
static_assert(std::string_view(TORCH_VERSION).substr(0, sizeof KYMO_COMM_TORCH) == KYMO_COMM_TORCH ".",
              "kymo::comm was built with LibTorch " KYMO_COMM_TORCH ", and this plugin is built with " TORCH_VERSION);
#endif

/// Collectives between the ranks of a run, over NCCL or Gloo. Each call is reported to the host.
namespace kymo::comm {

enum class Backend { kGloo, kNccl };
/// gloo, nccl.
const char* to_string(Backend backend);
/// auto, gloo, nccl: choices for a parameter.
std::vector<std::string> backend_names();
/// auto is NCCL where the workload runs on a GPU, else Gloo. Throws std::invalid_argument for another name, and for
/// nccl without a GPU.
Backend backend_of(const std::string& name, const Context& ctx);

enum class Reduction { kSum, kAverage };

/// A collective that was begun. Dropping it without waiting is allowed; its tensors stay alive until it is done.
class Work {
 public:
  virtual ~Work() = default;
  /// NCCL: what is queued on the current stream from now on comes after it; the caller does not wait. Gloo: waits until
  /// it is done. Throws std::runtime_error if it failed.
  virtual void wait() = 0;
  /// True once it is done, on the device too. Never waits; throws as wait() does.
  virtual bool done() = 0;
};

struct Options {
  std::string name = "world";          ///< tells communicators of one process apart; the same on all ranks
  std::chrono::seconds deadline{120};  ///< for the ranks to meet, with Gloo for every call, with NCCL for a barrier
  /// NCCL: calls are queued on a stream of its own, beside what runs on the current one. false queues them on the
  /// current stream itself, which costs less for a small message; nothing then overlaps.
  bool own_stream = true;
  /// NCCL: the most thread blocks a call may take, each of which keeps a multiprocessor from computing; 0 leaves it to
  /// NCCL. With fewer a call takes longer and disturbs less what it overlaps with.
  int max_blocks = 0;
};

/// The ranks of a run as a group that communicates. Every rank makes the same calls in the same order. Tensors are
/// contiguous and dense, of one type, and on the backend's device; anything else throws std::invalid_argument before
/// anything is sent. Calls may come from any thread, one at a time, and return as soon as the work is queued (NCCL, on
/// a stream of its own that first waits for the current one) or handed to Gloo's threads. Gloo runs two calls at a
/// time, so one that needs another's result must wait for it. Calls are reported with the bytes of the larger of input
/// and output, 0 for a barrier. After a failure every further call throws std::runtime_error.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual Backend backend() const = 0;

  /// In place: every rank ends with the same bits.
  virtual std::unique_ptr<Work> all_reduce(const at::Tensor& tensor, Reduction reduction) = 0;
  /// `output` gets the reduced input and has its shape; may be the same tensor.
  virtual std::unique_ptr<Work> all_reduce(const at::Tensor& output, const at::Tensor& input, Reduction reduction) = 0;
  /// `input` holds size() parts of output's numel, one after the other; part i is reduced to rank i. output may be this
  /// rank's part of input.
  virtual std::unique_ptr<Work> reduce_scatter(const at::Tensor& output, const at::Tensor& input,
                                               Reduction reduction) = 0;
  /// The reverse: part i of `output` becomes rank i's input, which may be this rank's part of output.
  virtual std::unique_ptr<Work> all_gather(const at::Tensor& output, const at::Tensor& input) = 0;
  virtual std::unique_ptr<Work> broadcast(const at::Tensor& tensor, int root) = 0;
  /// Returns once every rank has called it; with NCCL all that was queued before it on the current stream is done as
  /// well.
  virtual void barrier() = 0;

  /// Calls of this communicator and thread until its end are begun together: NCCL launches them as one. Groups do not
  /// nest; Work made inside is waited for after the end.
  class Group {
   public:
    explicit Group(Communicator& communicator) : communicator_(communicator) { communicator_.begin_group(); }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group() noexcept(false) { communicator_.end_group(); }

   private:
    Communicator& communicator_;
  };

  /// The name and version of the library underneath, and what of the environment changes what it does (NCCL_NVLS_ENABLE
  /// ...).
  virtual std::string description() const = 0;

 private:
  virtual void begin_group() = 0;
  virtual void end_group() = 0;
};

/// Meets the other ranks of the run at ctx.rendezvous(); every rank calls it in the same order. A run of one rank needs
/// no rendezvous. Throws std::runtime_error that names the ranks that are missing when the deadline passes, and when
/// the run is cancelled.
std::unique_ptr<Communicator> make_communicator(const Context& ctx, Backend backend, const Options& options = {});

}  // namespace kymo::comm
