// SPDX-License-Identifier: Apache-2.0
#include "unit/worker/fake_workload.hpp"

#include <algorithm>

namespace kymo::worker {
namespace {

// A plugin table contains plain functions, which find their test through this pointer.
FakeWorkload* current = nullptr;

std::uint32_t one() { return 1; }
const kymo_workload* at(std::uint32_t index) { return index == 0 ? &current->table() : nullptr; }

}  // namespace

FakeWorkload::FakeWorkload(std::vector<const char*> phases) : phases_(std::move(phases)) {
  current = this;
  workload_.size = sizeof(workload_);
  workload_.name = "fake";
  workload_.documentation = "does what a test says";
  workload_.phases = phases_.data();
  workload_.phase_count = static_cast<std::uint32_t>(phases_.size());
  workload_.devices = KYMO_CPU | KYMO_CUDA;
  workload_.create = create;
  workload_.prepare = prepare;
  workload_.before_step = before_step;
  workload_.step = step;
  workload_.verify = verify;
  workload_.destroy = destroy;
  plugin_.size = sizeof(plugin_);
  plugin_.abi_major = KYMO_ABI_MAJOR;
  plugin_.abi_minor = KYMO_ABI_MINOR;
  plugin_.name = "fake";
  plugin_.version = "1";
  plugin_.framework = "";
  plugin_.workload_count = one;
  plugin_.workload = at;
}

FakeWorkload::~FakeWorkload() { current = nullptr; }

std::int64_t FakeWorkload::count(const std::string& stage) const {
  return std::count(calls.begin(), calls.end(), stage);
}

void FakeWorkload::publish_parameters() {
  workload_.parameters = parameters.data();
  workload_.parameter_count = static_cast<std::uint32_t>(parameters.size());
}

kymo_status FakeWorkload::go(const char* stage, const std::function<kymo_status(const FakeHost&)>& script) {
  calls.emplace_back(stage);
  return script ? script(host_) : static_cast<kymo_status>(KYMO_OK);
}

kymo_status FakeWorkload::create(const kymo_workload* workload, const kymo_host* host, kymo_context* context,
                                 void** instance) {
  if (workload != &current->workload_) return KYMO_FAILED;
  current->host_ = {host, context};
  *instance = current;
  return current->go("create", current->on_create);
}

kymo_status FakeWorkload::prepare(void* instance, kymo_context*) {
  auto& self = *static_cast<FakeWorkload*>(instance);
  return self.go("prepare", self.on_prepare);
}

kymo_status FakeWorkload::before_step(void* instance, kymo_context*) {
  auto& self = *static_cast<FakeWorkload*>(instance);
  return self.go("before_step", self.on_before_step);
}

kymo_status FakeWorkload::step(void* instance, kymo_context*) {
  auto& self = *static_cast<FakeWorkload*>(instance);
  return self.go("step", self.on_step);
}

kymo_status FakeWorkload::verify(void* instance, kymo_context*, kymo_verification* out) {
  auto& self = *static_cast<FakeWorkload*>(instance);
  self.calls.emplace_back("verify");
  return self.on_verify ? self.on_verify(self.host_, *out) : static_cast<kymo_status>(KYMO_OK);
}

void FakeWorkload::destroy(void* instance) {
  auto& self = *static_cast<FakeWorkload*>(instance);
  self.calls.emplace_back("destroy");
  if (self.on_destroy) self.on_destroy();
}

}  // namespace kymo::worker
