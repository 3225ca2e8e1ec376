-- SPDX-License-Identifier: Apache-2.0
-- caption: Why the five kernels with the longest time are not faster, by hardware counters, in the first and the last
--   variant.
-- column variant: title="variant"
-- column kernel: title="kernel", format="code"
-- column module: title="module", format="code"
-- column phase: title="phase", format="code"
-- column time_ms: title="time", unit="ms", format="significant", digits=3
-- column gflop: title="counted operations", unit="GFLOP", format="significant", digits=4
-- column gb: title="counted bytes", unit="GB", format="significant", digits=3
-- column attained: title="of the counted roofline", unit="%", digits=1
-- column verdict: title="verdict"
-- column reason: title="reason"
-- note: Per step. Operations are those of the tensor cores, bytes those of DRAM. 100 % of the roofline is the time that
--   the measured peaks of the device allow for both. Reasons without `counted` follow from declared work or from the
--   launch configuration.
-- empty: No hardware counters by kernel: the pass `counters` with `--counter-ranges kernel` reads those of NVIDIA GPUs.
WITH ranked AS (
  SELECT
    w.*,
    o.variant,
    row_number() OVER (PARTITION BY w.run_id ORDER BY w.time_ms DESC, w.name, w.module, w.phase) AS position
  FROM observed o
  JOIN kernel_work w ON w.run_id = o.run_id AND w.rank = 0 AND w.pass = 'ops'
)
SELECT
  r.variant,
  r.short_name AS kernel,
  r.module,
  r.phase,
  r.time_ms,
  r.tensor_flops / 1e9 AS gflop,
  r.dram_bytes / 1e9 AS gb,
  100 * r.attained AS attained,
  v.verdict,
  v.reason || CASE v.next_step WHEN '' THEN '' ELSE '; would decide: ' || v.next_step END AS reason
FROM ranked r
JOIN kernel_verdict v
  ON v.run_id = r.run_id
  AND v.rank = r.rank
  AND v.pass = r.pass
  AND v.phase = r.phase
  AND v.name = r.name
  AND v.module IS r.module
  AND v.launch_config IS r.launch_config
WHERE r.position <= 5
ORDER BY r.run_id, r.position
