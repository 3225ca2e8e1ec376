-- SPDX-License-Identifier: Apache-2.0
-- caption: Forward pass in the profiler and with the plain timer.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column timer_ms: title="plain timer", unit="ms", format="significant"
-- column interval: title="confidence interval (ms)"
-- column profiled_ms: title="profiled", unit="ms", format="significant"
-- column difference: title="profiled − timer", unit="%", digits=1
-- column kernels_ms: title="kernels", unit="ms", format="significant"
-- column agrees: title="agrees"
-- note: Inference; medians. Profiled: on a GPU the interval of the phase on the device, on a CPU the host time, both in
--   the trace pass. Kernels: sum of durations. They agree if the profiled time is within the confidence interval of the
--   timer's median, widened by 2 %.
-- empty: Not in this database: `kymo suite run cs336 --filter '^kernels'` adds this data.
SELECT
  size,
  context,
  CASE WHEN status_label <> '' THEN status_label ELSE median_ms END AS timer_ms,
  CASE status_label WHEN '' THEN printf('%.4g – %.4g', low, high) END AS interval,
  CASE status_label WHEN '' THEN profiled_ms END AS profiled_ms,
  CASE status_label WHEN '' THEN 100 * (profiled_ms / nullif(median_ms, 0) - 1) END AS difference,
  CASE status_label WHEN '' THEN kernel_ms END AS kernels_ms,
  CASE
    WHEN status_label = '' AND profiled_ms > 0 AND median_ms > 0
      THEN CASE WHEN profiled_ms BETWEEN 0.98 * low AND 1.02 * high THEN 'yes' ELSE 'no' END
  END AS agrees
FROM profiled
ORDER BY size_order, size, context, run_id
