-- SPDX-License-Identifier: Apache-2.0
-- caption: The calculator: what a device computes and sends, and the largest number of devices before communication
--   takes longer than computation.
-- column strategy: title="strategy", once=true
-- column direction: title="direction"
-- column flops_formula: title="FLOPs of a device"
-- column communication_formula: title="time of communication"
-- column limit_formula: title="largest N"
-- column devices: title="at the measured rates"
-- note: Rings: an all-gather or reduce-scatter of S bytes takes (N − 1)/N · S/W, an all-reduce twice that, and the
--   alternate ring (N − 1) · S/W.
-- empty: No runs are selected.
SELECT
  p.strategy,
  p.direction,
  p.flops_formula,
  p.communication_formula,
  p.limit_formula,
  (
    SELECT CASE WHEN c.limit_devices < 2 THEN 'not even 2' ELSE CAST(CAST(c.limit_devices AS INTEGER) AS TEXT) END
    FROM measured m
    JOIN parallelism_curve c ON c.run_id = m.run_id AND c.backend = m.backend AND c.ranks = m.ranks
    WHERE c.strategy = p.strategy AND c.direction = p.direction
    LIMIT 1
  ) AS devices
FROM parallelism_strategy p
WHERE EXISTS (SELECT 1 FROM selected_run)
