// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Includes everything that a workload without LibTorch needs.
#include "context.hpp"
#include "descriptor.hpp"
#include "detail/export.hpp"
#include "verification.hpp"
#include "workload_class.hpp"

/// Exports the listed workload classes as a plugin. Use it once per plugin, outside any namespace.
#define KYMO_EXPORT_WORKLOADS(...)                                                                                 \
  namespace {                                                                                                      \
  [[gnu::used, gnu::section(".note.kymo"), gnu::aligned(4)]] const ::kymo::detail::Note kymo_note_of_this_plugin = \
      ::kymo::detail::make_note();                                                                                 \
  }                                                                                                                \
  extern "C" __attribute__((visibility("default"))) const kymo_plugin* kymo_plugin_v2(void) {                      \
    return ::kymo::detail::plugin_of<__VA_ARGS__>();                                                               \
  }
