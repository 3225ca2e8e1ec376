-- SPDX-License-Identifier: Apache-2.0
-- Each shape of attention in PyTorch that was measured eager and compiled with the default mode, on the same kind of
-- device.
WITH timed AS (
  SELECT
    d.name AS device,
    a.batch,
    a.heads,
    a.causal,
    a.dtype,
    a.head_dim,
    a.seq,
    p.choice,
    a.run_id,
    CASE g.status_label WHEN '' THEN g.forward_ms + g.backward_ms END AS total_ms,
    t.low,
    t.high,
    row_number()
      OVER (
        PARTITION BY d.name, a.batch, a.heads, a.causal, a.dtype, a.head_dim, a.seq, p.choice ORDER BY a.run_id DESC
      )
      AS position
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case IN ('compiled-attention', 'compiled-attention-bf16')
  JOIN attention_run a ON a.run_id = r.run_id AND a.mode = 'forward_backward'
  JOIN attention_grid g ON g.run_id = r.run_id
  JOIN run_parameter p ON p.run_id = r.run_id AND p.name = 'compile' AND p.value IN ('none', 'default')
  LEFT JOIN device d ON d.device_id = a.device_id
  LEFT JOIN phase_noise t ON t.run_id = r.run_id AND t.phase = 'step'
)
SELECT
  e.run_id AS eager_run_id,
  c.run_id AS compiled_run_id,
  e.dtype,
  e.head_dim,
  e.seq,
  e.total_ms / nullif(c.total_ms, 0) AS speedup,
  c.total_ms / nullif(e.total_ms, 0) AS ratio,
  c.high < e.low AS is_faster,
  c.low > e.high AS is_slower
FROM timed e
JOIN timed c
  ON c.device IS e.device
  AND c.batch = e.batch
  AND c.heads = e.heads
  AND c.causal = e.causal
  AND c.dtype = e.dtype
  AND c.head_dim = e.head_dim
  AND c.seq = e.seq
WHERE e.choice = 0 AND c.choice > 0 AND e.position = 1 AND c.position = 1
