// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/plan.hpp"
#include "store/results.hpp"
#include "supervisor/pass_state.hpp"

namespace kymo::supervisor {

/// Fills the end of a run from the verdict of a pass.
void fill(store::RunEnd& end, const Verdict& verdict, measure::Pass pass);

}  // namespace kymo::supervisor
