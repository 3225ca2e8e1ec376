-- SPDX-License-Identifier: Apache-2.0
-- caption: First steps without warm-up (host times), with recorded causes.
-- column size: title="size"
-- column context: title="context", unit="tokens", format="plain"
-- column step: title="step"
-- column host_ms: title="time", unit="ms", format="significant"
-- column excess_ms: title="excess", unit="ms", format="significant", digits=3
-- column device_allocations: title="driver allocations"
-- column reserved_growth_bytes: title="growth of reserved memory", format="bytes"
-- column sm_clock_mhz: title="clock", unit="MHz", format="plain"
-- column clock_effect_ms: title="clock effect (upper bound)", unit="ms", format="significant", digits=3
-- column unexplained_ms: title="unexplained", unit="ms", format="significant", digits=3
-- note: Excess: time above the median of the second half of the run's steps. Driver allocations: number of allocations
--   that the allocator requested from the driver; their time is not measured.
-- note: Unexplained: excess without a recorded cause, including driver allocations, first use of kernels and libraries,
--   and noise. – means: no reading.
-- empty: The case `timing-warmup` of the suite `cs336` has no completed run without warm-up.
SELECT
  c.size,
  c.context,
  f.step,
  f.host_ms,
  f.excess_ms,
  f.device_allocations,
  f.reserved_growth_bytes,
  f.sm_clock_mhz,
  f.clock_effect_ms,
  f.unexplained_ms
FROM cold c
JOIN first_step_content f ON f.run_id = c.run_id
ORDER BY c.size_order, c.context, c.run_id, f.step
