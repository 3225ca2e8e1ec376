-- SPDX-License-Identifier: Apache-2.0
-- caption: Forward plus backward latency by implementation.
-- pivot implementation: values=["latency_ms"], order="implementation_order"
-- column dtype: title="dtype, mask"
-- column shape: title="heads × head dim"
-- column batch: hidden=true
-- column seq: title="sequence length", unit="tokens", format="plain"
-- column latency_ms: unit="ms", format="significant", digits=4
-- column fastest: title="fastest"
-- column lead: title="speedup over the next", format="significant", digits=3
-- note: Medians. Forward and backward are timed separately, back to back without synchronization, and summed. – means:
--   not measured.
-- note: Within the noise: the confidence intervals of the two fastest overlap. The runs were not interleaved, so
--   that clocks may have drifted between them; kymo ab compares two implementations in interleaved slices.
-- empty: No attention kernels measured: `kymo suite run cs336 --filter '^flash'` adds this data.
WITH measured AS (
  SELECT
    a.dtype,
    a.causal,
    a.head_dim,
    a.batch,
    a.heads,
    a.seq,
    a.implementation,
    a.implementation_order,
    min(l.forward_backward_ms) AS latency_ms,
    max(f.median_low_ms + coalesce(b.median_low_ms, 0)) AS low_ms,
    min(f.median_high_ms + coalesce(b.median_high_ms, 0)) AS high_ms,
    max(nullif(d.status_label, '')) AS without_time
  FROM shown s
  JOIN run r ON r.run_id = s.run_id AND r.suite_case LIKE 'flash%'
  JOIN run_status d ON d.run_id = r.run_id
  JOIN attention_run a ON a.run_id = r.run_id
  LEFT JOIN attention_latency l ON l.run_id = r.run_id AND l.forward_backward_ms > 0
  LEFT JOIN phase_time f ON f.run_id = l.run_id AND f.phase = 'forward'
  LEFT JOIN phase_time b ON b.run_id = l.backward_run_id AND b.phase = 'backward'
  GROUP BY a.dtype, a.causal, a.head_dim, a.batch, a.heads, a.seq, a.implementation_order, a.implementation
  HAVING coalesce(latency_ms, without_time) IS NOT NULL
)
SELECT
  dtype || CASE causal WHEN 1 THEN ', causal' ELSE ', full' END AS dtype,
  heads || ' × ' || head_dim AS shape,
  batch,
  seq,
  implementation,
  implementation_order,
  coalesce(latency_ms, without_time) AS latency_ms,
  CASE
    WHEN nth_value(low_ms, 2) OVER fastest_first <= first_value(high_ms) OVER fastest_first
      THEN first_value(implementation) OVER fastest_first || ' (within the noise)'
    WHEN min(latency_ms) OVER shape > 0 THEN first_value(implementation) OVER fastest_first
  END AS fastest,
  nth_value(latency_ms, 2) OVER fastest_first / min(latency_ms) OVER shape AS lead
FROM measured
WINDOW
  shape AS (PARTITION BY dtype, causal, head_dim, batch, heads, seq),
  fastest_first AS (
    PARTITION BY dtype, causal, head_dim, batch, heads, seq
    ORDER BY latency_ms IS NULL, latency_ms, implementation
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  )
ORDER BY measured.dtype DESC, causal DESC, heads, head_dim, seq, batch, implementation_order, implementation
