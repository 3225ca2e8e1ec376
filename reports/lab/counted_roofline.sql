-- SPDX-License-Identifier: Apache-2.0
-- caption: Kernels by hardware counters and the peaks of the device, as far as they were measured, before and after the
--   optimisations: operations of the tensor cores and bytes of DRAM that were counted.
-- empty: No hardware counters by kernel: the pass `counters` with `--counter-ranges kernel` reads those of NVIDIA GPUs.
SELECT
  o.variant,
  w.short_name || coalesce(', ' || w.module, '') AS label,
  w.class,
  w.dtype AS detail,
  sum(w.tensor_flops) AS flops,
  sum(w.dram_bytes) AS bytes,
  sum(w.time_ms) AS ms
FROM observed o
JOIN kernel_work w ON w.run_id = o.run_id AND w.rank = 0 AND w.pass = 'ops'
GROUP BY o.run_id, o.variant, w.short_name, w.module, w.class, w.dtype
ORDER BY o.run_id, w.class, label, w.dtype
