// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <nccl.h>

#include <cstddef>
#include <kymo/communicator.hpp>

/// Arguments of NCCL's calls, and calls that launch together.
namespace kymo::comm {

ncclDataType_t nccl_type(const at::Tensor& tensor);

inline ncclRedOp_t nccl_reduction(Reduction reduction) { return reduction == Reduction::kAverage ? ncclAvg : ncclSum; }

inline std::size_t count_of(const at::Tensor& tensor) { return static_cast<std::size_t>(tensor.numel()); }

/// Sends and receives of chunks of tensors, which launch together.
class MessageGroup {
 public:
  MessageGroup(ncclComm_t communicator, cudaStream_t stream)
      : communicator_(communicator), stream_(stream), result_(ncclGroupStart()) {}

  /// Sends or receives a chunk of `whole`, as large as `like`.
  void send(int peer, const at::Tensor& whole, int chunk, const at::Tensor& like);
  void receive(int peer, const at::Tensor& whole, int chunk, const at::Tensor& like);
  /// Returns the first error.
  ncclResult_t end();

 private:
  void add(ncclResult_t result) {
    if (result_ == ncclSuccess) result_ = result;
  }

  const ncclComm_t communicator_;
  const cudaStream_t stream_;
  ncclResult_t result_;
};

}  // namespace kymo::comm
