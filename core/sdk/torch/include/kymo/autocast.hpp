// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/autocast_mode.h>

namespace kymo::libtorch {

/// Automatic mixed precision on one device kind and this thread, from here to the end of the object. Guards nest. The
/// copies of weights that autocast keeps are dropped when the outermost ends: an update of the weights would make them
/// stale.
class Autocast {
 public:
  Autocast(at::DeviceType device, at::ScalarType dtype, bool enabled = true)
      : device_(device),
        was_enabled_(at::autocast::is_autocast_enabled(device)),
        previous_dtype_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_dtype(device, dtype);
    at::autocast::set_autocast_enabled(device, enabled);
    at::autocast::increment_nesting();
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, was_enabled_);
    at::autocast::set_autocast_dtype(device_, previous_dtype_);
  }

 private:
  at::DeviceType device_;
  bool was_enabled_;
  at::ScalarType previous_dtype_;
};

}  // namespace kymo::libtorch
