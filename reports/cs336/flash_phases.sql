-- SPDX-License-Identifier: Apache-2.0
-- caption: Latency of forward and backward by implementation.
-- pivot implementation: values=["latency_ms"], order="implementation_order"
-- column phase: title="phase", format="code"
-- column dtype: title="dtype, mask"
-- column shape: title="heads × head dim"
-- column batch: hidden=true
-- column seq: title="sequence length", unit="tokens", format="plain"
-- column latency_ms: unit="ms", format="measured", plus_minus="half_ms"
-- column rate: title="highest rate", unit="TFLOP/s", format="significant", digits=3
-- note: Medians ± half of their confidence interval. – means: not measured. The rate is that of the fastest
--   implementation. The runs were not interleaved, so that clocks may have drifted between them; kymo ab compares two
--   implementations in interleaved slices.
-- empty: No attention kernels measured: `kymo suite run cs336 --filter '^flash'` adds this data.
WITH measured AS (
  SELECT
    p.value AS phase,
    a.dtype,
    a.causal,
    a.head_dim,
    a.batch,
    a.heads,
    a.seq,
    a.implementation,
    a.implementation_order,
    coalesce(
      min(CASE p.value WHEN 'forward' THEN l.forward_ms ELSE l.backward_ms END),
      max(CASE WHEN a.mode IN (p.value, 'forward_backward') THEN nullif(d.status_label, '') END)
    ) AS latency_ms,
    (max(t.median_high_ms) - min(t.median_low_ms)) / 2 AS half_ms,
    max(CASE p.value WHEN 'forward' THEN l.forward_tflop_per_s ELSE l.backward_tflop_per_s END) AS rate
  FROM selected_run s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case LIKE 'flash%'
  JOIN run_status d ON d.run_id = r.run_id
  JOIN attention_run a ON a.run_id = r.run_id
  LEFT JOIN attention_latency l ON l.run_id = r.run_id
  JOIN json_each('["forward", "backward"]') p
  LEFT JOIN phase_time t
    ON t.run_id = CASE p.value WHEN 'forward' THEN l.run_id ELSE l.backward_run_id END AND t.phase = p.value
  GROUP BY p.value, a.dtype, a.causal, a.head_dim, a.batch, a.heads, a.seq, a.implementation_order, a.implementation
  HAVING latency_ms IS NOT NULL
)
SELECT
  phase,
  dtype || CASE causal WHEN 1 THEN ', causal' ELSE ', full' END AS dtype,
  heads || ' × ' || head_dim AS shape,
  batch,
  seq,
  implementation,
  implementation_order,
  latency_ms,
  half_ms,
  max(rate) OVER shape AS rate
FROM measured
WINDOW shape AS (PARTITION BY phase, dtype, causal, head_dim, batch, heads, seq)
ORDER BY phase DESC, measured.dtype DESC, causal DESC, heads, head_dim, seq, batch, implementation_order, implementation
