-- SPDX-License-Identifier: Apache-2.0
-- caption: Steps with gradients in buckets, against the cost model.
-- column setting: title="case", once=true
-- column bucket_mb: title="bucket", unit="MiB", format="significant", digits=4
-- column buckets: title="buckets", format="plain"
-- column launches: title="launches traced", format="significant", digits=4
-- column measured: title="measured", unit="ms", format="significant", digits=4
-- column silent: title="without exchange", unit="ms", format="significant", digits=4
-- column overhead: title="overhead", unit="ms", format="significant", digits=3
-- column predicted_overhead: title="predicted", unit="ms", format="significant", digits=3
-- column predicted: title="step predicted", unit="ms", format="significant", digits=4
-- column error: title="error", unit="%", digits=1
-- note: Overhead: median step less that without exchange. Predicted: gradients over buckets times bandwidth, plus
--   buckets times the time per call; both from the fit above. The error is of the whole step.
-- note: Buckets are counted as gradients over bucket, rounded up, and at most one for each tensor; a tensor larger than
--   a bucket has one to itself, so that those that were launched may be fewer or more.
-- empty: No sweep of bucket sizes was made: `kymo suite run cs336 --filter ddp` fills this section.
SELECT
  b.setting,
  b.bucket_mb,
  b.buckets,
  b.launches,
  b.measured_ms AS measured,
  b.silent_ms AS silent,
  b.measured_overhead_ms AS overhead,
  b.predicted_overhead_ms AS predicted_overhead,
  b.predicted_ms AS predicted,
  100 * b.error AS error
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
JOIN bucket_prediction b ON b.run_id = r.run_id
ORDER BY b.setting, b.bucket_mb, r.run_id
