// SPDX-License-Identifier: Apache-2.0
// A valid module. Its devices are unavailable, so that an exception propagates to the host.
#include "collect/collector.hpp"

namespace {

using kymo::collect::Collector;

class Quiet final : public Collector {
 public:
  std::string name() const override { return "quiet"; }
  void arm(const kymo::collect::PassSetting&) override {}
  void disarm(kymo::event::PassRecord& record) override {
    record.dropped_records.push_back({"quiet", 1, "everything"});
  }
};

std::unique_ptr<Collector> make() { return std::make_unique<Quiet>(); }
std::vector<kymo::event::Device> devices() { throw kymo::collect::Unavailable("no device of this kind"); }

const kymo::collect::Module kModule{KYMO_BUILD_ID, make, nullptr, devices, nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) const kymo::collect::Module* kymo_module() { return &kModule; }
