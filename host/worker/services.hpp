// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include "measure/plan.hpp"

namespace kymo::worker {

/// The service table for a pass, valid for the lifetime of the process; its contexts are RunContexts. Services that a
/// pass does not need are NULL: scopes, tags and collectives outside observed passes; phases and work outside timed
/// steps.
const kymo_host& services_for(measure::Pass pass);

}  // namespace kymo::worker
