-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: distributed
-- with: kernel_verdicts
-- with: kernel_counts
SELECT
  s.text,
  m.quantity,
  m.units
FROM _counter_metric m
JOIN string s ON s.string_id = m.name_id
WHERE m.quantity IS NOT NULL
ORDER BY s.text;
