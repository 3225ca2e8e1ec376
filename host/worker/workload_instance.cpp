// SPDX-License-Identifier: Apache-2.0
#include "worker/workload_instance.hpp"

#include <string>
#include <utility>

namespace kymo::worker {

WorkloadInstance::WorkloadInstance(const measure::protocol::Assignment& assignment, const kymo_workload& workload,
                                   ControlClient& control, std::int64_t run_start_ns)
    : workload_(workload),
      phases_(workload.phases, workload.phase_count),
      context_(assignment, workload, phases_, control, run_start_ns) {}

kymo_status WorkloadInstance::create(measure::Pass pass) {
  return call([&] { return workload_.create(&workload_, &services_for(pass), context_.handle(), &instance_); });
}

kymo_status WorkloadInstance::prepare() {
  return call([&] { return workload_.prepare(instance_, context_.handle()); });
}

kymo_status WorkloadInstance::before_step() {
  if (!workload_.before_step) return KYMO_OK;
  return call([&] { return workload_.before_step(instance_, context_.handle()); });
}

kymo_status WorkloadInstance::verify(kymo_verification& reported) {
  return call([&] { return workload_.verify(instance_, context_.handle(), &reported); });
}

kymo_status WorkloadInstance::destroy() {
  void* const instance = std::exchange(instance_, nullptr);
  if (!instance) return KYMO_OK;
  const std::string before = context_.reported().message;
  return call([&] {
    workload_.destroy(instance);
    return static_cast<kymo_status>(context_.reported().message == before ? KYMO_OK : KYMO_FAILED);
  });
}

kymo_status WorkloadInstance::caught(kymo_status status, const char* what) {
  context_.fail((std::string("an exception crossed the plugin boundary: ") + what).c_str());
  return status;
}

}  // namespace kymo::worker
