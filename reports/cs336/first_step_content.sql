-- SPDX-License-Identifier: Apache-2.0
-- caption: The first steps without warm-up on the host's clock, with what was recorded beside them.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column step: title="step"
-- column host_ms: title="time", unit="ms", format="significant"
-- column excess_ms: title="above later", unit="ms", format="significant", digits=3
-- column device_allocations: title="driver allocations"
-- column reserved_growth_bytes: title="reserved growth", format="bytes"
-- column sm_clock_mhz: title="clock", unit="MHz", format="plain"
-- column clock_ms: title="due to clock at most", unit="ms", format="significant", digits=3
-- column unexplained_ms: title="left", unit="ms", format="significant", digits=3
-- note: Above later compares with the median of the later half of the run's steps. Driver allocations are requests for
--   memory that the allocator sent to the driver: counted, not timed.
-- note: What is left is what no record explains: it holds those requests, the first use of kernels and libraries, and
--   ordinary scatter. A dash stands where nothing was read.
-- empty: The case `timing-warmup` of the suite `cs336` has no finished run without warm-up.
SELECT
  m.size,
  m.context,
  f.step,
  f.host_ms,
  f.excess_ms,
  f.device_allocations,
  f.reserved_growth_bytes,
  f.sm_clock_mhz,
  f.clock_ms,
  f.unexplained_ms
FROM selected_run s
JOIN run r
  ON r.run_id = s.run_id
  AND r.suite = 'cs336'
  AND r.suite_case IN ('warmup', 'timing-warmup')
  AND r.warmup = 0
  AND r.status = 'ok'
JOIN transformer_run m ON m.run_id = r.run_id
JOIN first_step_content f ON f.run_id = r.run_id
ORDER BY m.size_order, m.context, r.run_id, f.step
