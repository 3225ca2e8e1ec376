// SPDX-License-Identifier: Apache-2.0
#include "nccl_flight.hpp"

#include <atomic>

#include "nccl_session.hpp"

namespace kymo::comm {

Flight::Flight() {
  check_cuda(cudaEventCreateWithFlags(&done, cudaEventDisableTiming), "cannot create an event for a collective");
}

Flight::~Flight() {
  if (done) cudaEventDestroy(done);
}

void Flight::mark() {
  if (marked) return;
  check_cuda(cudaEventRecord(done, stream), "cannot record the event of a collective");
  marked = true;
}

bool Flight::landed() {
  mark();
  const cudaError_t state = cudaEventQuery(done);
  if (state == cudaErrorNotReady) return false;
  check_cuda(state, "device error during a collective");
  return true;
}

std::shared_ptr<Flight> Flights::take() {
  constexpr int kLooks = 4;  // enough if Work objects are dropped in call order
  for (int look = 0; look < kLooks && !landed_.empty(); ++look) {
    std::shared_ptr<Flight> flight = std::move(landed_.front());
    landed_.pop_front();
    if (flight.use_count() == 1) {
      std::atomic_thread_fence(std::memory_order_acquire);  // synchronizes with the thread that dropped its Work
      flight->launched = flight->marked = false;
      return flight;
    }
    landed_.push_back(std::move(flight));
  }
  return std::make_shared<Flight>();
}

void Flights::launch(const std::shared_ptr<Flight>& flight) {
  flight->mark();
  flight->launched = true;
  under_way_.push_back(flight);
}

void Flights::pass(const std::shared_ptr<Flight>& flight) {
  flight->launched = true;
  flight->kept.clear();
  landed_.push_back(flight);
}

void Flights::follow(cudaStream_t stream) {
  const std::shared_ptr<Flight> flight = take();
  flight->stream = stream;
  launch(flight);
}

void Flights::reap() {
  while (!under_way_.empty() && under_way_.front()->landed()) {
    under_way_.front()->kept.clear();
    landed_.push_back(std::move(under_way_.front()));
    under_way_.pop_front();
  }
}

}  // namespace kymo::comm
