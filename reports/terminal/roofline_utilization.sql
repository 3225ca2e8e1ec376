-- SPDX-License-Identifier: Apache-2.0
-- Shares of the peaks that the phases reach.
-- column mfu: format="percent"
-- column mfu_masked: format="percent"
-- column hfu: format="percent"
-- column nominal_mfu: format="percent"
-- column measured_peak_flop_rate: unit="FLOP/s", prefix="auto", format="significant", digits=3
SELECT u.*
FROM step_utilization u
WHERE u.run_id = :run
ORDER BY u.phase <> 'step', u.phase
