-- SPDX-License-Identifier: Apache-2.0
-- caption: Memory as seen by the allocator and by the driver.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column mode: title="precision, mode"
-- column requested: title="requested", format="bytes"
-- column rounding: title="+ rounding", format="bytes"
-- column unused: title="+ cached or fragmented", format="bytes"
-- column reserved: title="= reserved", format="bytes"
-- column context_bytes: title="+ CUDA context", format="bytes"
-- column rest: title="+ libraries and other", format="bytes"
-- column before_cuda: title="+ in use before", format="bytes"
-- column driver: title="= driver peak", format="bytes"
-- column end: title="driver at end", format="bytes"
-- note: Requested plus rounding is the allocated peak. Cached or fragmented: reserved but not allocated at the peaks.
-- note: Driver peak: highest reading of the used device memory, for all processes, as shown by nvidia-smi. Libraries
--   and other: the remainder, such as kernel code and memory that cuBLAS, cuDNN, NCCL or other processes allocated
--   directly from the driver.
-- note: If the allocator had reserved less at that reading than at its peak, the sum exceeds the driver peak by the
--   difference.
-- empty: No driver memory readings: `kymo suite run cs336 --filter '^memory'` on a GPU adds this data.
SELECT
  m.size,
  m.context,
  m.precision || ', ' || m.mode AS mode,
  a.requested_peak_bytes AS requested,
  a.rounding_bytes AS rounding,
  a.unused_bytes AS unused,
  a.reserved_peak_bytes AS reserved,
  a.context_bytes,
  a.other_bytes AS rest,
  a.before_cuda_bytes AS before_cuda,
  a.driver_peak_bytes AS driver,
  a.end_bytes AS "end"
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'memory' AND m.status = 'ok'
JOIN allocator_vs_driver a ON a.run_id = m.run_id AND a.rank = 0 AND a.pass = 'memory'
ORDER BY m.size_order, m.size, m.context, m.precision, m.mode, m.run_id
