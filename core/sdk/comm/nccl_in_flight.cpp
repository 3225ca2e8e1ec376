// SPDX-License-Identifier: Apache-2.0
#include "nccl_in_flight.hpp"

#include <atomic>

#include "nccl_session.hpp"

namespace kymo::comm {

InFlightOp::InFlightOp() {
  check_cuda(cudaEventCreateWithFlags(&done, cudaEventDisableTiming), "cannot create an event for a collective");
}

InFlightOp::~InFlightOp() {
  if (done) cudaEventDestroy(done);
}

void InFlightOp::mark() {
  if (marked) return;
  check_cuda(cudaEventRecord(done, stream), "cannot record the event of a collective");
  marked = true;
}

void InFlightOp::launch() {
  mark();
  launched = true;
}

bool InFlightOp::completed() {
  mark();
  const cudaError_t state = cudaEventQuery(done);
  if (state == cudaErrorNotReady) return false;
  check_cuda(state, "device error during a collective");
  return true;
}

std::shared_ptr<InFlightOp> InFlightOps::take() {
  constexpr int kLooks = 4;  // enough if Work objects are dropped in call order
  for (int look = 0; look < kLooks && !completed_.empty(); ++look) {
    std::shared_ptr<InFlightOp> op = std::move(completed_.front());
    completed_.pop_front();
    if (op.use_count() == 1) {
      std::atomic_thread_fence(std::memory_order_acquire);  // synchronizes with the thread that dropped its Work
      op->launched = op->marked = op->captured = false;
      return op;
    }
    completed_.push_back(std::move(op));
  }
  return std::make_shared<InFlightOp>();
}

void InFlightOps::launch(const std::shared_ptr<InFlightOp>& op) {
  op->launch();
  pending_.push_back(op);
}

void InFlightOps::pass(const std::shared_ptr<InFlightOp>& op) {
  op->launched = true;
  op->kept.clear();
  completed_.push_back(op);
}

void InFlightOps::follow(cudaStream_t stream) {
  const std::shared_ptr<InFlightOp> op = take();
  op->stream = stream;
  launch(op);
}

void InFlightOps::release_completed() {
  while (!pending_.empty() && pending_.front()->completed()) {
    pending_.front()->kept.clear();
    completed_.push_back(std::move(pending_.front()));
    pending_.pop_front();
  }
}

}  // namespace kymo::comm
