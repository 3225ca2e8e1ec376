// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace kymo::comm {
namespace {

[[noreturn]] void reject(Operation operation, const std::string& why) {
  throw std::invalid_argument(std::string(to_string(operation)) + ": " + why);
}

bool is_communicated(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
    case at::kDouble:
    case at::kHalf:
    case at::kBFloat16:
    case at::kChar:
    case at::kByte:
    case at::kInt:
    case at::kLong:
      return true;
    default:
      return false;
  }
}

void check_tensor(Operation operation, const char* role, const at::Tensor& tensor, const at::Device& device) {
  const std::string which = std::string("the ") + role;
  if (!tensor.defined()) reject(operation, which + " is undefined");
  if (tensor.layout() != at::kStrided) reject(operation, which + " is sparse: pass a dense tensor");
  if (tensor.device() != device)
    reject(operation, which + " is on " + tensor.device().str() + ", but this communicator uses " + device.str());
  if (!is_communicated(tensor.scalar_type()))
    reject(operation, which + " has dtype " + c10::toString(tensor.scalar_type()) +
                          "; supported dtypes are float, double, half, bfloat16, int8, uint8, int32 and int64");
  if (!tensor.is_contiguous()) reject(operation, which + " is not contiguous: pass a contiguous copy");
}

void check_pair(Operation operation, const at::Tensor& output, const at::Tensor& input, const at::Device& device) {
  check_tensor(operation, "output", output, device);
  if (output.is_same(input)) return;
  check_tensor(operation, "input", input, device);
  if (output.scalar_type() != input.scalar_type())
    reject(operation, std::string("input and output must have the same dtype, not ") +
                          c10::toString(input.scalar_type()) + " and " + c10::toString(output.scalar_type()));
}

void check_reduction(Operation operation, const at::Tensor& tensor, Reduction reduction) {
  if (reduction == Reduction::kAverage && !at::isFloatingType(tensor.scalar_type()))
    reject(operation,
           std::string("an average requires a floating-point dtype, not ") + c10::toString(tensor.scalar_type()));
}

/// The only allowed overlap: `part` starts `offset` bytes into `whole`.
void check_overlap(Operation operation, const at::Tensor& whole, const at::Tensor& part, std::size_t offset) {
  const auto* const first = static_cast<const char*>(whole.const_data_ptr());
  const auto* const second = static_cast<const char*>(part.const_data_ptr());
  if (second == first + offset || second + part.nbytes() <= first || first + whole.nbytes() <= second) return;
  reject(operation, "input and output overlap only partially");
}

void check_parts(Operation operation, const at::Tensor& whole, const at::Tensor& part, int rank, int size) {
  if (whole.numel() != part.numel() * size)
    reject(operation, std::to_string(whole.numel()) + " elements are not " + std::to_string(size) + " chunks of " +
                          std::to_string(part.numel()));
  check_overlap(operation, whole, part, part.nbytes() * static_cast<std::size_t>(rank));
}

void check_root(Operation operation, int root, int size) {
  if (root < 0 || root >= size)
    reject(operation, "invalid root rank " + std::to_string(root) + ": expected 0 to " + std::to_string(size - 1));
}

}  // namespace

const char* to_string(Operation operation) {
  switch (operation) {
    case Operation::Reduce:
      return "reduce";
    case Operation::Gather:
      return "gather";
    case Operation::Scatter:
      return "scatter";
    case Operation::AllToAll:
      return "all_to_all";
    case Operation::Send:
      return "send";
    case Operation::Receive:
      return "receive";
    case Operation::AllReduce:
      return "all_reduce";
    case Operation::ReduceScatter:
      return "reduce_scatter";
    case Operation::AllGather:
      return "all_gather";
    case Operation::Broadcast:
      return "broadcast";
    default:
      return "barrier";
  }
}

void check_all_reduce(const at::Tensor& output, const at::Tensor& input, Reduction reduction,
                      const at::Device& device) {
  check_pair(Operation::AllReduce, output, input, device);
  if (output.is_same(input)) return check_reduction(Operation::AllReduce, input, reduction);
  if (output.sizes() != input.sizes()) reject(Operation::AllReduce, "input and output must have the same shape");
  check_overlap(Operation::AllReduce, output, input, 0);
  check_reduction(Operation::AllReduce, input, reduction);
}

void check_reduce_scatter(const at::Tensor& output, const at::Tensor& input, Reduction reduction,
                          const at::Device& device, int rank, int size) {
  check_pair(Operation::ReduceScatter, output, input, device);
  check_parts(Operation::ReduceScatter, input, output, rank, size);
  check_reduction(Operation::ReduceScatter, input, reduction);
}

void check_all_gather(const at::Tensor& output, const at::Tensor& input, const at::Device& device, int rank, int size) {
  check_pair(Operation::AllGather, output, input, device);
  check_parts(Operation::AllGather, output, input, rank, size);
}

void check_broadcast(const at::Tensor& tensor, int root, const at::Device& device, int size) {
  check_tensor(Operation::Broadcast, "tensor", tensor, device);
  check_root(Operation::Broadcast, root, size);
}

void check_reduce(const at::Tensor& tensor, Reduction reduction, int root, const at::Device& device, int size) {
  check_tensor(Operation::Reduce, "tensor", tensor, device);
  check_root(Operation::Reduce, root, size);
  check_reduction(Operation::Reduce, tensor, reduction);
}

void check_rooted(Operation operation, const at::Tensor& whole, const at::Tensor& part, int root,
                  const at::Device& device, int rank, int size) {
  check_root(operation, root, size);
  check_tensor(operation, "part", part, device);
  if (rank != root) return;
  check_pair(operation, whole, part, device);
  check_parts(operation, whole, part, rank, size);
}

void check_all_to_all(const at::Tensor& output, const at::Tensor& input, const at::Device& device, int size) {
  check_pair(Operation::AllToAll, output, input, device);
  if (output.numel() != input.numel() || input.numel() % size != 0)
    reject(Operation::AllToAll, "input and output must have the same number of elements, which " +
                                    std::to_string(size) + " ranks divide equally, not " +
                                    std::to_string(input.numel()) + " and " + std::to_string(output.numel()));
  if (output.const_data_ptr() == input.const_data_ptr() && input.numel() > 0)
    reject(Operation::AllToAll, "input and output must be different tensors");
  check_overlap(Operation::AllToAll, output, input, output.nbytes());
}

void check_message(Operation operation, const at::Tensor& tensor, int peer, const at::Device& device, int rank,
                   int size) {
  check_tensor(operation, "tensor", tensor, device);
  if (peer < 0 || peer >= size || peer == rank)
    reject(operation, "invalid rank " + std::to_string(peer) + ": expected another one than this, " +
                          std::to_string(rank) + ", of 0 to " + std::to_string(size - 1));
}

Collective Reporter::begin(Operation operation, std::uint64_t bytes, void* stream) {
  last_ = {operation, sequence_, -1};
  return ctx_.collective({operation, bytes, stream, name_.c_str(), sequence_++});
}

Collective Reporter::begin_message(Operation operation, std::uint64_t bytes, void* stream, int peer) {
  const bool sends = operation == Operation::Send;
  const std::string name = name_ + " rank " + std::to_string(sends ? ctx_.rank() : peer) + " to " +
                           std::to_string(sends ? peer : ctx_.rank());
  last_ = {operation, messages_[name]++, peer};
  return ctx_.collective({operation, bytes, stream, name.c_str(), last_.number});
}

std::string Reporter::last_call() const {
  const std::string with = last_.peer < 0 ? ""
                                          : std::string(last_.operation == Operation::Send ? " to" : " from") +
                                                " rank " + std::to_string(last_.peer);
  return std::string(to_string(last_.operation)) + " " + std::to_string(last_.number) + with + " of communicator '" +
         name_ + "' on rank " + std::to_string(ctx_.rank());
}

void Health::fail(const std::string& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failed()) return;
  why_ = why;
  failed_.store(true, std::memory_order_release);
}

void Health::throw_failure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  throw std::runtime_error(why_);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string environment_of(const std::string& prefix) {
  std::vector<std::string> found;
  for (char** entry = environ; entry && *entry; ++entry)
    if (std::string(*entry).compare(0, prefix.size(), prefix) == 0) found.emplace_back(*entry);
  std::ranges::sort(found);
  std::string text;
  for (const std::string& entry : found) text += (text.empty() ? "" : " ") + entry;
  return text;
}

}  // namespace kymo::comm
