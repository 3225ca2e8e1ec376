// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

namespace kymo::transformer {

/// Selects the backend of scaled_dot_product_attention. The switches are per process: use one guard at a time.
class SdpaBackend {
 public:
  /// "auto" lets LibTorch choose; cudnn, flash, efficient and math enable only that backend. Throws
  /// std::invalid_argument for other names.
  explicit SdpaBackend(std::string_view name);
  SdpaBackend(const SdpaBackend&) = delete;
  SdpaBackend& operator=(const SdpaBackend&) = delete;
  /// Restores the switches.
  ~SdpaBackend();

  static std::vector<std::string> names();
  /// The backend that LibTorch selects for these inputs with the current switches; empty if there is none.
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
