// SPDX-License-Identifier: Apache-2.0
#include "collect/collector.hpp"

extern "C" __attribute__((visibility("default"))) const kymo::collect::Module* kymo_module() { return nullptr; }
