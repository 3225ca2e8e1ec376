-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- One operator for each verdict.
SELECT
  name,
  dtype,
  round(attained, 4) AS attained,
  verdict,
  reason,
  thresholds,
  next_step
FROM op_verdict ORDER BY phase DESC, name, dtype;
