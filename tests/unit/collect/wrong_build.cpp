// SPDX-License-Identifier: Apache-2.0
#include "collect/collector.hpp"

namespace {

std::unique_ptr<kymo::collect::Collector> make() { return nullptr; }
const kymo::collect::Module kModule{"0.0.1/another-compiler", make, nullptr, nullptr, nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) const kymo::collect::Module* kymo_module() { return &kModule; }
