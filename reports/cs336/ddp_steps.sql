-- SPDX-License-Identifier: Apache-2.0
-- Steps of data-parallel training, with their communication.
SELECT
  r.suite_case,
  r.run_id,
  r.ranks,
  x.setting,
  x.strategy,
  x.communication_ms,
  x.communication_share,
  x.parameter_tensors,
  x.gradient_bytes,
  x.backward_ms,
  x.exposed_ms,
  x.comparison_group,
  t.median_ms AS ms,
  t.low,
  t.high,
  (SELECT sum(c.calls) FROM collective_summary c WHERE c.run_id = r.run_id AND c.pass = 'trace') AS calls,
  (
    SELECT sum(c.transfer_ms + c.wait_ms) FROM collective_summary c WHERE c.run_id = r.run_id AND c.pass = 'trace'
  ) AS transfer_ms
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.status = 'ok'
JOIN ddp_summary x ON x.run_id = r.run_id AND x.family = 'data_parallel'
JOIN phase_noise t ON t.run_id = r.run_id AND t.phase = 'step'
