-- SPDX-License-Identifier: Apache-2.0
-- caption: Parameters of the cost model, from all-reduces on the same machine.
-- column setting: title="configuration"
-- column gradient_bytes: title="gradients s", format="bytes"
-- column alpha_us: title="per call o", unit="µs", format="significant", digits=3
-- column bandwidth: title="bandwidth w", unit="GB/s", format="significant", digits=3
-- column best: title="best bucket √(o·s·w)", unit="MiB", format="significant", digits=3
-- column compute_only_ms: title="step without exchange", unit="ms", format="significant", digits=4
-- empty: No bucket size sweep: `kymo suite run cs336 --filter '^(ddp|collectives)'` adds this data.
SELECT DISTINCT
  b.setting,
  b.gradient_bytes,
  b.alpha_us,
  b.bandwidth_gb_s AS bandwidth,
  b.best_bucket_mb AS best,
  b.compute_only_ms
FROM selected_run s
JOIN bucket_prediction b ON b.run_id = s.run_id
WHERE b.alpha_us IS NOT NULL
ORDER BY b.setting
