// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/launch_watch.hpp"

#include <cstdint>
#include <utility>

#include "collect/collector.hpp"
#include "collect/cuda/launch_calls.hpp"
#include "collect/cuda/other_client.hpp"
#include "collect/cuda/profiler_api.hpp"

namespace kymo::collect {

LaunchWatch::LaunchWatch(Calls calls) : calls_(std::move(calls)) {
  std::uint32_t version = 0;
  require_counters(cuptiGetVersion(&version), "asking for the version");
  const CUptiResult result = cuptiSubscribe(&subscriber_, &LaunchWatch::called, this);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    throw Unavailable("counting by kernel needs the only client of CUPTI, which is " +
                      name_other_client(profiler_traces()) + "; run kymo without it, or count by phase");
  require_counters(result, "watching launches");
  for (const LaunchCall& each : launch_calls(version)) {
    if (each.kind != event::LaunchKind::kKernel && each.kind != event::LaunchKind::kGraph) continue;
    // Fails for calls that this driver does not have.
    cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, each.call);
  }
}

LaunchWatch::~LaunchWatch() {
  if (subscriber_) cuptiUnsubscribe(subscriber_);
}

void CUPTIAPI LaunchWatch::called(void* watch, CUpti_CallbackDomain, CUpti_CallbackId call, const void* detail) {
  const auto& self = *static_cast<const LaunchWatch*>(watch);
  const auto* launch = static_cast<const CUpti_CallbackData*>(detail);
  if (launch->callbackSite != CUPTI_API_ENTER) return;
  if (kind_of_launch(call) == event::LaunchKind::kGraph)
    self.calls_.graph();
  else
    self.calls_.kernel(launch->symbolName);
}

}  // namespace kymo::collect
