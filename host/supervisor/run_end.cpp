// SPDX-License-Identifier: Apache-2.0
#include "supervisor/run_end.hpp"

namespace kymo::supervisor {

void fill(store::RunEnd& end, const Verdict& verdict, measure::Pass pass) {
  end.status = verdict.status;
  end.detail = verdict.detail;
  if (verdict.status == "skipped") return;
  end.exit_code = verdict.exit_code;
  end.signal = verdict.signal;
  end.failed_rank = verdict.rank;
  end.failed_pass = to_string(pass);
  end.failed_phase = verdict.phase;
  end.failed_step = verdict.step;
  end.out_of_memory = verdict.out_of_memory;
}

}  // namespace kymo::supervisor
