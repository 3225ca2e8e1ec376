// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

namespace kymo::transformer {

/// Which of LibTorch's kernels scaled_dot_product_attention uses. The switches are the process's: one guard at a time.
class SdpaBackend {
 public:
  /// "auto" leaves the choice to LibTorch; cudnn, flash, efficient and math allow that one alone. Throws
  /// std::invalid_argument.
  explicit SdpaBackend(std::string_view name);
  SdpaBackend(const SdpaBackend&) = delete;
  SdpaBackend& operator=(const SdpaBackend&) = delete;
  /// Puts the switches back.
  ~SdpaBackend();

  static std::vector<std::string> names();
  /// The backend that LibTorch takes for these inputs under the present switches; empty if none can.
  static std::string chosen_for(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, bool causal);

 private:
  struct Switches {
    bool flash, efficient, math, cudnn;
  };
  static Switches current();
  static void set(const Switches& switches);

  Switches before_;
};

}  // namespace kymo::transformer
