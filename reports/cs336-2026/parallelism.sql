-- SPDX-License-Identifier: Apache-2.0
-- caption: Largest number of devices before communication takes longer than computation, at the measured rates.
-- column backend: title="backend", format="code"
-- column ranks: title="ranks of the fit", format="plain"
-- column w: title="W", unit="GB/s", format="significant", digits=3
-- column c: title="C", unit="TFLOP/s", format="significant", digits=3
-- column data: title="data parallelism, FSDP", format="significant", digits=3
-- column forward: title="tensor, forward", format="significant", digits=3
-- column backward: title="tensor, backward", format="significant", digits=3
-- column both: title="FSDP + tensor, overlapped", format="significant", digits=3
-- column shared: title="FSDP + tensor, shared network", format="significant", digits=3
-- note: One feed-forward layer with B = 2048 tokens and F = 10240. W: from the fit to all-reduces. C: peak of matmuls.
-- empty: Without numbers: `kymo suite run cs336 --filter '^(collectives|peaks)'` measures bandwidth and rate.
SELECT
  l.backend,
  l.ranks,
  l.bytes_per_s / 1e9 AS w,
  l.flops_per_s / 1e12 AS c,
  l.data_devices AS data,
  l.tensor_forward_devices AS forward,
  l.tensor_backward_devices AS backward,
  l.both_devices AS both,
  l.both_shared_devices AS shared
FROM selected_run s
JOIN parallelism_limit l ON l.run_id = s.run_id
WHERE l.flops_per_s > 0
ORDER BY l.backend DESC, l.ranks
