// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/data_parallel.hpp"
#include "training/flat_gradients.hpp"

namespace kymo::training {

/// One all-reduce of all gradients, which are views of one buffer, so that nothing is copied.
class FlatExchange final : public GradientExchange {
 public:
  explicit FlatExchange(const Replica& replica)
      : communicator_(*replica.communicator), gradients_(replica.parameters) {}

  void begin_step() override { gradients_.zero(); }
  void finish_step() override { communicator_.all_reduce(gradients_.buffer(), comm::Reduction::kAverage)->wait(); }

 private:
  comm::Communicator& communicator_;
  FlatGradients gradients_;
};

}  // namespace kymo::training
