-- SPDX-License-Identifier: Apache-2.0
-- Measured peaks of the devices.

-- Highest measured rates of each device, from the successful runs of the family `peak`: each rate is the median of
-- the run with the highest median. The view nominal_peak has peaks that result from data sheets.
CREATE VIEW device_peak AS
SELECT
  -- device
  p.device_id,
  -- UUID of the GPU; for a CPU, a hash of host, model and core count
  d.uuid,
  -- model name
  d.name,
  -- cpu or cuda
  d.kind AS device_kind,
  -- copy (bytes read and written), read and cache (reads of the L2 cache), in bytes per second; matmul, in
  -- floating-point operations per second
  p.kind,
  -- data type of a matrix product; empty for bandwidth, which does not depend on it
  p.dtype,
  -- B/s or FLOP/s
  CASE p.kind WHEN 'matmul' THEN 'FLOP/s' ELSE 'B/s' END AS unit,
  -- median rate
  p.rate,
  -- lower end of the confidence interval of the median; see phase_time
  p.rate_low,
  -- upper end of that interval
  p.rate_high,
  -- clock of the times: device or host
  p.clock,
  -- GPU: mean SM clock of the measured steps; CPU: clock of one core directly before them; NULL if unknown
  coalesce(
    (
      SELECT avg(g.sm_clock_mhz)
      FROM gpu_sample g
      WHERE g.run_id = p.run_id AND g.pass = 'time' AND g.step >= p.warmup
    ),
    (SELECT m.value FROM metric m WHERE m.run_id = p.run_id AND m.pass = 'time' AND m.name = 'clock')
  ) AS core_clock_mhz,
  -- mean memory clock of the measured steps; NULL on a CPU
  (
    SELECT avg(g.memory_clock_mhz)
    FROM gpu_sample g
    WHERE g.run_id = p.run_id AND g.pass = 'time' AND g.step >= p.warmup
  ) AS memory_clock_mhz,
  -- when the run started, in UTC
  p.started_at,
  -- run that reached it
  p.run_id,
  -- number of runs of this device, kind and dtype
  p.runs,
  -- warnings of the run, comma-separated; empty without any. With `interference`, the true peak is higher
  coalesce((SELECT group_concat(DISTINCT w.kind) FROM run_warning w WHERE w.run_id = p.run_id), '') AS warnings
FROM (
  SELECT
    q.*,
    row_number() OVER (PARTITION BY q.device_id, q.kind, q.dtype ORDER BY q.rate DESC, q.run_id) AS position,
    count(*) OVER (PARTITION BY q.device_id, q.kind, q.dtype) AS runs
  FROM (
    SELECT
      w.run_id,
      w.started_at,
      w.warmup,
      w.device_id,
      w.kind,
      CASE w.kind WHEN 'matmul' THEN w.dtype ELSE '' END AS dtype,
      t.clock,
      w.amount / (nullif(t.median_ms, 0) / 1e3) AS rate,
      w.amount / (nullif(t.median_high_ms, 0) / 1e3) AS rate_low,
      w.amount / (nullif(t.median_low_ms, 0) / 1e3) AS rate_high
    FROM (
      SELECT
        r.run_id,
        r.started_at,
        r.warmup,
        k.device_id,
        (SELECT a.value FROM param a WHERE a.run_id = r.run_id AND a.name = 'kind') AS kind,
        (SELECT a.value FROM param a WHERE a.run_id = r.run_id AND a.name = 'dtype') AS dtype,
        o.phase,
        coalesce(nullif(o.flops, 0), o.bytes) AS amount
      FROM run r
      JOIN rank k ON k.run_id = r.run_id AND k.pass = 'time'
      JOIN work o ON o.run_id = r.run_id AND o.rank = k.rank
      WHERE r.family = 'peak' AND r.status = 'ok' AND r.ranks = 1
    ) w
    JOIN phase_time t ON t.run_id = w.run_id AND t.phase = w.phase
    WHERE w.device_id IS NOT NULL
  ) q
  WHERE q.rate IS NOT NULL
) p
JOIN device d ON d.device_id = p.device_id
WHERE p.position = 1;

-- The measured peaks of each device in one row; NULL for those that were not measured.
CREATE VIEW _device_rate AS
SELECT
  -- device
  device_id,
  -- bytes per second of copy or read, the higher one
  max(CASE WHEN kind IN ('copy', 'read') THEN rate END) AS byte_rate,
  -- of the L2 cache
  max(CASE kind WHEN 'cache' THEN rate END) AS cache_byte_rate,
  -- size of the buffer with which that was measured
  max(
    CASE kind
      WHEN 'cache'
        THEN (SELECT max(m.value) FROM metric m WHERE m.run_id = device_peak.run_id AND m.name = 'buffer_bytes')
    END
  ) AS cache_bytes,
  -- floating-point operations per second of matrix products, by type
  max(CASE WHEN kind = 'matmul' AND dtype = 'fp32' THEN rate END) AS fp32,
  -- TF32
  max(CASE WHEN kind = 'matmul' AND dtype = 'tf32' THEN rate END) AS tf32,
  -- bf16
  max(CASE WHEN kind = 'matmul' AND dtype = 'bf16' THEN rate END) AS bf16,
  -- fp16
  max(CASE WHEN kind = 'matmul' AND dtype = 'fp16' THEN rate END) AS fp16,
  -- fp8
  max(CASE WHEN kind = 'matmul' AND dtype = 'fp8' THEN rate END) AS fp8
FROM device_peak
GROUP BY device_id;
