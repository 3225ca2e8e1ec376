-- SPDX-License-Identifier: Apache-2.0
-- caption: Fitted cost model of an all-reduce: time per call plus size over bandwidth.
-- column backend: title="backend", format="code"
-- column ranks: title="ranks", format="plain"
-- column dtype: title="dtype", format="code"
-- column message_sizes: title="message sizes", format="plain"
-- column alpha_us: title="per call", unit="µs", format="significant", digits=3
-- column bandwidth_gb_s: title="bandwidth", unit="GB/s", format="significant", digits=3
-- column largest_residual: title="largest residual", unit="%", digits=1
-- note: Weighted least squares over the newest run of each message size, minimizing relative errors. Largest residual:
--   the maximum relative residual of the fit.
-- note: – means: the time does not grow with the message size.
-- empty: No fit: at least two message sizes with the same backend and number of ranks are required. `kymo suite run
--   cs336 --filter collectives` measures them.
SELECT
  f.backend,
  f.ranks,
  f.dtype,
  f.message_sizes,
  f.alpha_us,
  f.bandwidth_gb_s,
  100 * f.largest_residual AS largest_residual
FROM all_reduce_fit f
WHERE
  EXISTS (
    SELECT 1
    FROM selected_run s
    JOIN all_reduce_bandwidth b ON b.run_id = s.run_id
    WHERE
      b.machine = f.machine
      AND b.backend = f.backend
      AND b.ranks = f.ranks
      AND b.dtype = f.dtype
      AND b.in_place = f.in_place
  )
ORDER BY f.backend, f.ranks, f.dtype, f.in_place, f.machine
