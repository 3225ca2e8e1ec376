// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include "measure/plan.hpp"

namespace kymo::worker {

/// The table of services for a pass, valid for the life of the process; its contexts are RunContexts.
/// What a pass does not need is NULL there: scopes, tags and collectives outside of observed passes; phases and work
/// outside of timed steps.
const kymo_host& services_for(measure::Pass pass);

}  // namespace kymo::worker
