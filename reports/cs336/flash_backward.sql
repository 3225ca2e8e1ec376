-- SPDX-License-Identifier: Apache-2.0
-- caption: Backward latency by implementation.
-- column dtype: title="dtype"
-- column mask: title="mask"
-- column head_dim: title="head dim", format="plain"
-- column heads: title="heads"
-- column seq: title="sequence length", unit="tokens", format="plain"
-- column own: title="flash", unit="ms", format="significant", digits=4
-- column tiled: title="tiled", unit="ms", format="significant", digits=4
-- column naive: title="naive", unit="ms", format="significant", digits=4
-- column efficient: title="LibTorch efficient", unit="ms", format="significant", digits=4
-- column flash: title="LibTorch flash", unit="ms", format="significant", digits=4
-- column cudnn: title="LibTorch cudnn", unit="ms", format="significant", digits=4
-- column rate: title="flash", unit="TFLOP/s", format="significant", digits=3
-- column share: title="share of peak", unit="%", digits=1
-- note: Medians. – means: not measured, skipped, or out of memory; see section Run status.
-- empty: No attention kernels measured: `kymo suite run cs336 --filter '^flash'` adds this data.
SELECT
  l.dtype,
  CASE l.causal WHEN 1 THEN 'causal' ELSE 'full' END AS mask,
  l.head_dim,
  l.heads,
  l.seq,
  min(CASE l.implementation WHEN 'flash' THEN l.backward_ms END) AS own,
  min(CASE l.implementation WHEN 'tiled' THEN l.backward_ms END) AS tiled,
  min(CASE l.implementation WHEN 'naive' THEN l.backward_ms END) AS naive,
  min(CASE l.implementation WHEN 'LibTorch efficient' THEN l.backward_ms END) AS efficient,
  min(CASE l.implementation WHEN 'LibTorch flash' THEN l.backward_ms END) AS flash,
  min(CASE l.implementation WHEN 'LibTorch cudnn' THEN l.backward_ms END) AS cudnn,
  max(CASE l.implementation WHEN 'flash' THEN l.backward_tflop_per_s END) AS rate,
  100 * max(CASE l.implementation WHEN 'flash' THEN l.backward_tflop_per_s / l.peak_tflop_per_s END) AS share
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336' AND r.suite_case LIKE 'flash%'
JOIN attention_latency l ON l.run_id = r.run_id
GROUP BY l.dtype, l.causal, l.head_dim, l.batch, l.heads, l.seq
ORDER BY l.dtype DESC, l.causal DESC, l.heads, l.head_dim, l.seq
