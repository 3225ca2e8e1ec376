-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of each phase by optimisation.
-- pivot phase: values=["ms"], order="phase_order"
-- column label: title="variant"
-- column position: hidden=true
-- column ms: title="{}", unit="ms", format="significant", digits=3
-- note: Medians over the runs of their medians, which need not add up to the step. Data prepares a batch; other is
--   outside the phases and includes reading the loss.
-- empty: No runs.
SELECT * FROM phase_times ORDER BY position, phase_order
