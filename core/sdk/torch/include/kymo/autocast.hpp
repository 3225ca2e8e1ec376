// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/autocast_mode.h>

#include <initializer_list>
#include <optional>

namespace kymo::libtorch {

/// RAII guard for automatic mixed precision on one device type and the current thread. Guards nest. The autocast weight
/// cache is cleared when the outermost guard ends, because updating the weights makes the cached copies stale.
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

/// Automatic mixed precision that is enabled for a device type.
struct EnabledAutocast {
  at::DeviceType device;  ///< of the tensors, or that whose memory is predicted
  at::ScalarType dtype;
};

/// The mixed precision of tensors on a device, if any. Tensors on meta stand for those of another device.
inline std::optional<EnabledAutocast> enabled_autocast(at::DeviceType device) {
  for (const at::DeviceType type : {at::kCPU, at::kCUDA})
    if ((device == type || device == at::kMeta) && at::autocast::is_autocast_enabled(type))
      return EnabledAutocast{type, at::autocast::get_autocast_dtype(type)};
  return std::nullopt;
}

}  // namespace kymo::libtorch
