-- SPDX-License-Identifier: Apache-2.0
-- caption: Time of an all-reduce as time per call plus size over bandwidth, fitted.
-- column backend: title="backend", format="code"
-- column ranks: title="ranks", format="plain"
-- column dtype: title="type", format="code"
-- column sizes: title="sizes", format="plain"
-- column alpha_us: title="per call", unit="µs", format="significant", digits=3
-- column bandwidth: title="bandwidth", unit="GB/s", format="significant", digits=3
-- column error: title="largest error", unit="%", digits=1
-- note: Weighted least squares over the newest run of each size, in which relative errors count alike. The largest
--   error is the distance of the fit from the measured time that it meets least.
-- note: A dash: the time does not grow with the size.
-- empty: No fit: it needs at least two sizes with the same backend and number of ranks. `kymo suite run cs336 --filter
--   collectives` measures them.
SELECT
  f.backend,
  f.ranks,
  f.dtype,
  f.sizes,
  f.alpha_us,
  f.bandwidth_gb_s AS bandwidth,
  100 * f.largest_error AS error
FROM all_reduce_fit f
WHERE
  EXISTS (
    SELECT 1
    FROM selected_run s
    JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
    JOIN all_reduce_bandwidth b ON b.run_id = r.run_id
    WHERE
      b.machine = f.machine
      AND b.backend = f.backend
      AND b.ranks = f.ranks
      AND b.dtype = f.dtype
      AND b.in_place = f.in_place
  )
ORDER BY f.backend, f.ranks, f.dtype, f.in_place, f.machine
