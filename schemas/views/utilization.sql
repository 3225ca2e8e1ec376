-- SPDX-License-Identifier: Apache-2.0
-- Utilization of GPUs.

-- How much of a GPU was in use, by all processes: as a mean over a whole pass, and over each phase of steps that take
-- at least a second. Intervals that are only partly within a phase do not count for it.
CREATE VIEW gpu_utilization_summary AS
SELECT
  -- run
  t.run_id,
  -- rank that uses the GPU
  t.rank,
  -- pass in which it was measured
  t.pass,
  -- phase, from its first kernel to the first kernel of the next one; `step` is the whole step; NULL for the whole pass
  t.phase,
  -- number of intervals
  count(*) AS intervals,
  -- their duration
  sum(t.duration_ns) / 1e9 AS seconds,
  -- fraction of the multiprocessors that were busy
  sum(t.sm_utilization * t.duration_ns)
  / sum(t.duration_ns) FILTER (WHERE t.sm_utilization IS NOT NULL) AS sm_utilization,
  -- fraction of the warps that the multiprocessors can hold
  sum(t.sm_occupancy * t.duration_ns) / sum(t.duration_ns) FILTER (WHERE t.sm_occupancy IS NOT NULL) AS sm_occupancy,
  -- fraction of the peak of the tensor pipes
  sum(t.tensor_utilization * t.duration_ns)
  / sum(t.duration_ns) FILTER (WHERE t.tensor_utilization IS NOT NULL) AS tensor_utilization,
  -- fraction of the peak bandwidth of the device memory
  sum(t.dram_utilization * t.duration_ns)
  / sum(t.duration_ns) FILTER (WHERE t.dram_utilization IS NOT NULL) AS dram_utilization,
  -- fraction of the time with at least one kernel
  sum(t.kernel_time * t.duration_ns) / sum(t.duration_ns) FILTER (WHERE t.kernel_time IS NOT NULL) AS kernel_time,
  -- PCIe traffic from and to this GPU
  sum(t.pcie_bytes_per_s * t.duration_ns)
  / sum(t.duration_ns) FILTER (WHERE t.pcie_bytes_per_s IS NOT NULL) AS pcie_bytes_per_s,
  -- NVLink traffic from and to this GPU
  sum(t.nvlink_bytes_per_s * t.duration_ns)
  / sum(t.duration_ns) FILTER (WHERE t.nvlink_bytes_per_s IS NOT NULL) AS nvlink_bytes_per_s
FROM (
  SELECT
    u.run_id,
    u.rank,
    u.pass,
    p.phase,
    u.end_ns - u.start_ns AS duration_ns,
    u.sm_utilization,
    u.sm_occupancy,
    u.tensor_utilization,
    u.dram_utilization,
    u.kernel_time,
    u.pcie_sent_bytes_per_s + u.pcie_received_bytes_per_s AS pcie_bytes_per_s,
    u.nvlink_sent_bytes_per_s + u.nvlink_received_bytes_per_s AS nvlink_bytes_per_s
  FROM (
    SELECT DISTINCT
      run_id,
      rank,
      pass,
      NULL AS phase,
      -9e18 AS start_ns,
      9e18 AS end_ns
    FROM gpu_utilization
    UNION ALL
    SELECT
      a.run_id,
      a.rank,
      a.pass,
      a.phase,
      a.start_ns,
      a.end_ns
    FROM step_activity w
    JOIN step_activity a ON a.run_id = w.run_id AND a.rank = w.rank AND a.pass = w.pass AND a.step = w.step
    WHERE w.phase = 'step' AND w.warmup = 0 AND w.end_ns - w.start_ns >= 1000000000
  ) p
  JOIN gpu_utilization u
    ON u.run_id = p.run_id AND u.rank = p.rank AND u.pass = p.pass
    AND u.start_ns >= p.start_ns AND u.end_ns <= p.end_ns
) t
GROUP BY t.run_id, t.rank, t.pass, t.phase;
