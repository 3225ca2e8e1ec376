// SPDX-License-Identifier: Apache-2.0
#include "nccl_messages.hpp"

namespace kymo::comm {

ncclDataType_t nccl_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return ncclFloat32;
    case at::kDouble:
      return ncclFloat64;
    case at::kHalf:
      return ncclFloat16;
    case at::kBFloat16:
      return ncclBfloat16;
    case at::kChar:
      return ncclInt8;
    case at::kByte:
      return ncclUint8;
    case at::kInt:
      return ncclInt32;
    default:  // check_tensor() rejects all other types
      return ncclInt64;
  }
}

void MessageGroup::send(int peer, const at::Tensor& whole, int chunk, const at::Tensor& like) {
  const char* const data =
      static_cast<const char*>(whole.const_data_ptr()) + static_cast<std::size_t>(chunk) * like.nbytes();
  add(ncclSend(data, count_of(like), nccl_type(like), peer, communicator_, stream_));
}

void MessageGroup::receive(int peer, const at::Tensor& whole, int chunk, const at::Tensor& like) {
  char* const data = static_cast<char*>(whole.mutable_data_ptr()) + static_cast<std::size_t>(chunk) * like.nbytes();
  add(ncclRecv(data, count_of(like), nccl_type(like), peer, communicator_, stream_));
}

ncclResult_t MessageGroup::end() {
  add(ncclGroupEnd());
  return result_;
}

}  // namespace kymo::comm
