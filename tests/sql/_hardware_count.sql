-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- with: counters
-- The mean of steps 3 and 5 for one set, step 4 for the other; a phase that one of them did not enter counts as 0
-- there.
SELECT
  phase,
  scope_id IS NOT NULL AS in_scope,
  quantity,
  calls,
  value
FROM _hardware_count ORDER BY phase, in_scope, quantity, value;
