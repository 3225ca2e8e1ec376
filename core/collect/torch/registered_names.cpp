// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/registered_names.hpp"

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>

namespace kymo::collect {
namespace {

class Deregistrations final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle&) override {}
  void onOperatorDeregistered(const c10::OperatorHandle&) override {
    g_deregistered_operators.fetch_add(1, std::memory_order_release);
  }
};

}  // namespace

std::atomic<std::uint32_t> g_deregistered_operators{0};

void watch_registered_names() {
  // Never destroyed, because operators may be deregistered during process exit.
  [[maybe_unused]] static auto* const watched = new c10::RegistrationHandleRAII(
      c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Deregistrations>()));
}

bool is_registered_name(const at::RecordFunction& call, const char* name) {
  const auto operator_name = call.operator_name();
  const auto found = operator_name ? c10::Dispatcher::singleton().findSchema(*operator_name) : std::nullopt;
  return found && found->schema().name().c_str() == name;
}

}  // namespace kymo::collect
