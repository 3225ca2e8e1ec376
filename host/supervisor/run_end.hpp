// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/plan.hpp"
#include "store/results.hpp"
#include "supervisor/pass_state.hpp"

namespace kymo::supervisor {

/// Makes the verdict on a pass the end of its run.
void fill(store::RunEnd& end, const Verdict& verdict, measure::Pass pass);

}  // namespace kymo::supervisor
