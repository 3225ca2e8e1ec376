-- SPDX-License-Identifier: Apache-2.0
-- caption: The allocator's figures against the driver's, and what lies between.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column precision: title="precision"
-- column mode: title="mode", format="code"
-- column requested: title="requested", format="bytes"
-- column rounding: title="+ rounding", format="bytes"
-- column unused: title="+ held unused", format="bytes"
-- column reserved: title="= reserved", format="bytes"
-- column context_bytes: title="+ CUDA context", format="bytes"
-- column rest: title="+ libraries and other", format="bytes"
-- column before_cuda: title="+ there before", format="bytes"
-- column driver: title="= driver", format="bytes"
-- column end: title="driver at the end", format="bytes"
-- note: Requested and rounding make the allocated peak. Held unused is what was reserved and not handed out at the
--   peaks: fragmentation, and blocks kept for later.
-- note: Driver is the highest reading of the device's used memory, as nvidia-smi shows it, all processes together.
--   Libraries and other is what remains of it: kernels' code, and memory that cuBLAS, cuDNN, NCCL or other processes
--   took from the driver themselves.
-- note: Where the allocator held less at that reading than at its peak, the sum exceeds the driver's figure by as much.
-- empty: The driver's memory was not read: `kymo suite run cs336 --filter memory` on a GPU fills this table.
SELECT
  m.size,
  m.context,
  m.precision,
  m.mode,
  a.requested_peak_bytes AS requested,
  a.rounding_bytes AS rounding,
  a.unused_bytes AS unused,
  a.reserved_peak_bytes AS reserved,
  a.context_bytes,
  a.rest_bytes AS rest,
  a.before_cuda_bytes AS before_cuda,
  a.driver_peak_bytes AS driver,
  a.end_bytes AS "end"
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336' AND r.suite_case = 'memory' AND r.status = 'ok'
JOIN transformer_run m ON m.run_id = r.run_id
JOIN allocator_against_driver a ON a.run_id = r.run_id AND a.rank = 0 AND a.pass = 'memory'
ORDER BY m.size_order, m.size, m.context, m.precision, m.mode, r.run_id
