-- SPDX-License-Identifier: Apache-2.0
-- The newest runs of suite large-step with its largest model, whatever suite the report shows, with the rate of the
-- model's matrix products: without the masked half of the attention, and with it. What was only predicted is compared
-- with the device of the other runs.
SELECT
  m.*,
  m.masked_flops / m.step_ms / m.peak_rate * 1e3 AS mfu,
  m.all_flops / m.step_ms / m.peak_rate * 1e3 AS full_mfu,
  m.predicted_bytes <= coalesce(m.device_bytes, max(m.device_bytes) OVER ()) AS fits
FROM (
  SELECT
    r.run_id,
    r.suite_case,
    r.status,
    r.ranks,
    r.warmup,
    d.name AS device,
    c.choice,
    c.predicted_bytes,
    c.measured_bytes,
    c.error,
    c.device_bytes,
    c.recompute_ms,
    c.loss,
    t.time_ms AS step_ms,
    t.std_ms,
    t.count AS steps,
    x.sharding,
    -- FSDP holds fp32 masters and moments whatever the type of its weights.
    CASE WHEN x.sharding GLOB 'FSDP *' THEN 'master_weights' ELSE x.optimizer_state END AS optimizer_state,
    n.parameters,
    CAST(n.tokens * r.ranks AS INTEGER) AS tokens,
    w.flops * r.ranks AS all_flops,
    (w.flops - 1.5 * n.attention_flops) * r.ranks AS masked_flops,
    r.ranks * CASE WHEN d.name || ' ' GLOB '*H[12]00[^0-9]*' THEN 989.4e12 END AS peak_rate,
    max(n.parameters) OVER () AS most_parameters
  FROM current_run r
  JOIN checkpoint_run c ON c.run_id = r.run_id
  JOIN (
    SELECT
      run_id,
      max(CASE name WHEN 'parameters' THEN value END) AS parameters,
      max(CASE name WHEN 'tokens_per_step' THEN value END) AS tokens,
      coalesce(max(CASE name WHEN 'attention_scores_flops' THEN value END), 0)
      + coalesce(max(CASE name WHEN 'attention_values_flops' THEN value END), 0) AS attention_flops
    FROM reported_metric
    WHERE rank = 0
    GROUP BY run_id
  ) n ON n.run_id = r.run_id
  LEFT JOIN (
    SELECT
      run_id,
      max(CASE name WHEN 'optimizer_state' THEN text END) AS optimizer_state,
      -- A sharded optimizer has a scheme, and FSDP a unit that is gathered.
      max(CASE name WHEN 'scheme' THEN text WHEN 'unit' THEN 'FSDP by ' || text END) AS sharding
    FROM run_parameter
    GROUP BY run_id
  ) x ON x.run_id = r.run_id
  LEFT JOIN (
    SELECT
      run_id,
      sum(flops) AS flops
    FROM predicted_work
    WHERE phase IN ('forward', 'backward')
    GROUP BY run_id
  ) w ON w.run_id = r.run_id
  LEFT JOIN phase_time t ON t.run_id = r.run_id AND t.phase = 'step'
  LEFT JOIN (
    SELECT
      k.run_id,
      min(o.name) AS name
    FROM rank k
    JOIN device o ON o.device_id = k.device_id
    WHERE k.pass <> 'predict'
    GROUP BY k.run_id
  ) d ON d.run_id = r.run_id
  WHERE r.suite = 'large-step' AND r.passes <> 'verify'
) m
WHERE m.parameters = m.most_parameters
