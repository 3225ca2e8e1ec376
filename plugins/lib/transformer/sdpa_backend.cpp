// SPDX-License-Identifier: Apache-2.0
#include "transformer/sdpa_backend.hpp"

#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/ops/_fused_sdp_choice.h>

#include <algorithm>
#include <stdexcept>

namespace kymo::transformer {

std::vector<std::string> SdpaBackend::names() { return {"auto", "cudnn", "flash", "efficient", "math"}; }

SdpaBackend::Switches SdpaBackend::current() {
  const at::Context& torch = at::globalContext();
  return {torch.userEnabledFlashSDP(), torch.userEnabledMemEfficientSDP(), torch.userEnabledMathSDP(),
          torch.userEnabledCuDNNSDP()};
}

void SdpaBackend::set(const Switches& switches) {
  at::Context& torch = at::globalContext();
  torch.setSDPUseFlash(switches.flash);
  torch.setSDPUseMemEfficient(switches.efficient);
  torch.setSDPUseMath(switches.math);
  torch.setSDPUseCuDNN(switches.cudnn);
}

SdpaBackend::SdpaBackend(std::string_view name) : before_(current()) {
  static const std::vector<std::string> known = names();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw std::invalid_argument("unknown attention backend '" + std::string(name) +
                                "', must be one of auto, cudnn, flash, efficient, math");
  if (name == "auto") return;
  set({.flash = name == "flash", .efficient = name == "efficient", .math = name == "math", .cudnn = name == "cudnn"});
}

SdpaBackend::~SdpaBackend() { set(before_); }

std::string SdpaBackend::chosen_for(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                    bool causal) {
  std::int64_t choice = static_cast<std::int64_t>(at::SDPBackend::error);
  try {
    choice = at::_fused_sdp_choice(query, key, value, {}, 0.0, causal);
  } catch (const c10::Error&) {
    return "";  // LibTorch throws if no enabled backend supports the inputs
  }
  switch (static_cast<at::SDPBackend>(choice)) {
    case at::SDPBackend::math:
      return "math";
    case at::SDPBackend::flash_attention:
      return "flash";
    case at::SDPBackend::efficient_attention:
      return "efficient";
    case at::SDPBackend::cudnn_attention:
      return "cudnn";
    case at::SDPBackend::overrideable:
      return "overrideable";
    case at::SDPBackend::error:
      break;
  }
  return "";
}

}  // namespace kymo::transformer
