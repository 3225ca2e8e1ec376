-- SPDX-License-Identifier: Apache-2.0
-- Communication beside compute: what overlaps, how ranks differ, and the bandwidth of all_reduce. GB are
-- 10^9 bytes, as in nccl-tests.

-- Time during which a rank had collectives in flight, per measured step, by the phase its host was in, and for the
-- whole step. The counterpart of communication_overlap for Gloo, which runs no kernels. Time in the phase
-- `communication` is exposed: the host waited.
CREATE VIEW collective_overlap AS
WITH observed AS (
  SELECT
    c.run_id,
    c.rank,
    c.pass,
    c.step,
    c.sequence,
    c.start_ns,
    c.end_ns,
    max(c.end_ns) OVER (
      PARTITION BY c.run_id, c.rank, c.pass, c.step
      ORDER BY c.start_ns, c.sequence
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before_ns
  FROM collective c
  JOIN _measured_step s ON s.run_id = c.run_id AND s.rank = c.rank AND s.pass = c.pass AND s.step = c.step
  WHERE c.on_device = 0 AND c.start_ns IS NOT NULL AND c.end_ns IS NOT NULL
),
stretch AS (
  SELECT
    run_id,
    rank,
    pass,
    step,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns
  FROM (
    SELECT
      o.*,
      sum(o.before_ns IS NULL OR o.start_ns > o.before_ns) OVER (
        PARTITION BY o.run_id, o.rank, o.pass, o.step
        ORDER BY o.start_ns, o.sequence
      ) AS island
    FROM observed o
  )
  GROUP BY run_id, rank, pass, step, island
),
part AS (
  SELECT
    e.run_id,
    e.rank,
    e.pass,
    e.step,
    'step' AS phase,
    e.end_ns - e.start_ns AS in_flight_ns
  FROM stretch e
  UNION ALL
  SELECT
    e.run_id,
    e.rank,
    e.pass,
    e.step,
    n.text,
    max(min(e.end_ns, g.end_ns) - max(e.start_ns, g.start_ns), 0)
  FROM stretch e
  JOIN "range" g
    ON g.run_id = e.run_id AND g.rank = e.rank AND g.pass = e.pass AND g.step = e.step AND g.kind = 'phase'
  JOIN string n ON n.string_id = g.name_id
)
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass in which they were made
  t.pass,
  -- phase of the host; `step` is the whole step
  t.phase,
  -- number of measured steps with calls
  t.steps,
  -- time per step during which at least one call was in flight
  t.in_flight_ms,
  -- share of the in-flight time of the whole step
  t.in_flight_ms
  / nullif(
    max(CASE t.phase WHEN 'step' THEN t.in_flight_ms END) OVER (PARTITION BY t.run_id, t.rank, t.pass),
    0
  ) AS share
FROM (
  SELECT
    p.run_id,
    p.rank,
    p.pass,
    p.phase,
    w.steps,
    sum(p.in_flight_ns) / 1e6 / w.steps AS in_flight_ms
  FROM part p
  JOIN (
    SELECT
      run_id,
      rank,
      pass,
      count(DISTINCT step) AS steps
    FROM stretch
    GROUP BY run_id, rank, pass
  ) w ON w.run_id = p.run_id AND w.rank = p.rank AND w.pass = p.pass
  GROUP BY p.run_id, p.rank, p.pass, p.phase
) t;

-- Compute and communication on the GPU within each phase and the whole step: means over the measured steps of the pass
-- selected by kernel_pass, for ranks with communication kernels.
CREATE VIEW communication_overlap AS
SELECT
  -- run
  a.run_id,
  -- rank
  a.rank,
  -- pass in which it was recorded
  a.pass,
  -- phase; `step` is the whole step
  a.phase,
  -- number of measured steps
  sum(a.warmup = 0) AS steps,
  -- length of the interval
  avg(CASE a.warmup WHEN 0 THEN a.end_ns - a.start_ns END) / 1e6 AS span_ms,
  -- time during which a compute kernel (any kernel but communication) ran
  avg(CASE a.warmup WHEN 0 THEN a.compute_ns END) / 1e6 AS compute_ms,
  -- time during which a communication kernel ran
  avg(CASE a.warmup WHEN 0 THEN a.comm_ns END) / 1e6 AS communication_ms,
  -- time during which both ran
  avg(CASE a.warmup WHEN 0 THEN a.overlap_ns END) / 1e6 AS overlap_ms,
  -- time during which only communication ran
  avg(CASE a.warmup WHEN 0 THEN a.exposed_comm_ns END) / 1e6 AS exposed_ms,
  -- share of the interval
  1.0 * sum(CASE a.warmup WHEN 0 THEN a.exposed_comm_ns END)
  / nullif(sum(CASE a.warmup WHEN 0 THEN a.end_ns - a.start_ns END), 0) AS exposed_share,
  -- overlap over communication in the measured steps: the hidden share of communication
  1.0 * sum(CASE a.warmup WHEN 0 THEN a.overlap_ns END)
  / nullif(sum(CASE a.warmup WHEN 0 THEN a.comm_ns END), 0) AS overlap_share
FROM kernel_pass k
JOIN step_activity a ON a.run_id = k.run_id AND a.rank = k.rank AND a.pass = k.pass
WHERE
  EXISTS (
    SELECT 1
    FROM step_activity e
    WHERE e.run_id = k.run_id AND e.rank = k.rank AND e.pass = k.pass AND e.comm_ns > 0
  )
GROUP BY a.run_id, a.rank, a.pass, a.phase
HAVING sum(a.warmup = 0) > 0;

-- Compute and communication over the whole trace, including warm-up steps and time outside of steps, for ranks with
-- communication kernels. Same definition as HTA's comp_comm_overlap_pctg (which truncates times to microseconds by
-- default). Requires kernel records: with --keep one-step it covers that step.
CREATE VIEW trace_overlap AS
WITH run_time AS (
  SELECT
    k.run_id,
    k.rank,
    k.pass,
    k.start_ns,
    k.end_ns,
    coalesce(c.class, 'other') = 'communication' AS communicates
  FROM kernel k
  LEFT JOIN kernel_class c ON c.name_id = k.name_id
),
added AS (
  SELECT
    run_id,
    rank,
    pass,
    communicates,
    max(
      0,
      end_ns
      - max(
        start_ns,
        coalesce(
          max(end_ns) OVER (
            PARTITION BY run_id, rank, pass, communicates
            ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
          ),
          start_ns
        )
      )
    ) AS own_ns,
    max(
      0,
      end_ns
      - max(
        start_ns,
        coalesce(
          max(end_ns) OVER (
            PARTITION BY run_id, rank, pass
            ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
          ),
          start_ns
        )
      )
    ) AS any_ns
  FROM run_time
)
SELECT
  -- run
  run_id,
  -- rank
  rank,
  -- pass in which it was recorded
  pass,
  -- time during which a compute kernel (any kernel but communication) ran
  sum(own_ns * (1 - communicates)) / 1e6 AS compute_ms,
  -- time during which a communication kernel ran
  sum(own_ns * communicates) / 1e6 AS communication_ms,
  -- time during which both ran
  (sum(own_ns) - sum(any_ns)) / 1e6 AS overlap_ms,
  -- share of communication that overlaps with compute
  1.0 * (sum(own_ns) - sum(any_ns)) / sum(own_ns * communicates) AS overlap_share
FROM added
GROUP BY run_id, rank, pass
HAVING sum(own_ns * communicates) > 0;

-- Time of each phase on each rank in the measured steps of the time pass, on the device clock if available. The phases
-- of a rank add up to its step.
CREATE VIEW _rank_time AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- phase, or `step` for the whole step
  t.phase,
  -- number of measured steps
  count(*) AS steps,
  -- mean
  avg(t.time_ns) / 1e6 AS mean_ms,
  -- median
  avg(CASE WHEN t.position IN ((t.steps + 1) / 2, (t.steps + 2) / 2) THEN t.time_ns END) / 1e6 AS median_ms,
  -- maximum
  max(t.time_ns) / 1e6 AS max_ms
FROM (
  SELECT
    s.run_id,
    s.rank,
    s.phase,
    coalesce(s.device_ns, s.host_ns) AS time_ns,
    count(*) OVER (PARTITION BY s.run_id, s.rank, s.phase) AS steps,
    row_number() OVER (PARTITION BY s.run_id, s.rank, s.phase ORDER BY coalesce(s.device_ns, s.host_ns)) AS position
  FROM sample s
  WHERE s.pass = 'time' AND s.warmup = 0
) t
GROUP BY t.run_id, t.rank, t.phase;

-- Differences between the ranks of a run in step time, in the time pass. The step of a run lasts as long as its slowest
-- rank.
CREATE VIEW _rank_spread AS
SELECT
  -- run
  t.run_id,
  -- number of ranks that measured
  count(*) AS ranks,
  -- mean of the ranks' median step times
  avg(t.median_ms) AS mean_ms,
  -- lowest median step time of a rank
  min(t.median_ms) AS fastest_ms,
  -- highest median step time of a rank
  max(t.median_ms) AS slowest_ms,
  -- slowest_ms − fastest_ms
  max(t.median_ms) - min(t.median_ms) AS spread_ms,
  -- rank with the highest median, the lowest rank if tied
  min(CASE t.position WHEN 1 THEN t.rank END) AS slowest_rank
FROM (
  SELECT
    run_id,
    rank,
    median_ms,
    row_number() OVER (PARTITION BY run_id ORDER BY median_ms DESC, rank) AS position
  FROM _rank_time
  WHERE phase = 'step'
) t
GROUP BY t.run_id;

-- The machine of each run. Communication results are comparable only between runs on the same machine.
CREATE VIEW run_machine AS
SELECT
  -- run
  r.run_id,
  -- devices of its ranks and their hosts
  coalesce(
    (
      SELECT group_concat(h.part, ', ')
      FROM (
        SELECT DISTINCT coalesce(d.name, r.device_kind) || CASE k.host WHEN '' THEN '' ELSE ' on ' || k.host END AS part
        FROM rank k
        LEFT JOIN device d ON d.device_id = k.device_id
        WHERE k.run_id = r.run_id
        ORDER BY 1
      ) h
    ),
    r.device_kind
  ) AS machine
FROM run r;

-- Bandwidth per rank of runs of the family `collective`: message size over the median step time divided by the calls
-- per step; the slowest rank determines each step. Failed runs have a row without values.
CREATE VIEW all_reduce_bandwidth AS
SELECT
  -- run
  t.run_id,
  -- as in run_machine
  t.machine,
  -- gloo or nccl
  t.backend,
  -- all_reduce, reduce_scatter, all_gather or broadcast
  t.operation,
  -- element type
  t.dtype,
  -- 1 for an in-place operation
  t.in_place,
  -- number of processes
  t.ranks,
  -- message size: that of the whole buffer of a rank, the input of reduce_scatter and the output of all_gather
  t.bytes,
  -- number of measured steps; NULL, like all values, for a failed run
  t.steps,
  -- calls per step
  t.calls,
  -- median step time over the calls per step
  t.median_ms,
  -- mean step time over the calls per step
  t.mean_ms,
  -- standard deviation
  t.std_ms,
  -- rank with the highest median step time
  t.slowest_rank,
  -- highest − lowest median step time of a rank, over the calls per step
  t.spread_ms,
  -- algorithm bandwidth per rank in GB/s: message size over median time
  t.bytes / nullif(t.median_ms, 0) / 1e6 AS algbw_gb_s,
  -- bus bandwidth per rank in GB/s, as in nccl-tests: algbw times 2(n−1)/n for all_reduce, (n−1)/n for reduce_scatter,
  -- all_gather, gather, scatter and all_to_all, 1 for broadcast, reduce, send and receive
  t.bytes / nullif(t.median_ms, 0) / 1e6 * t.bus_factor AS busbw_gb_s
FROM (
  SELECT
    r.run_id,
    m.machine,
    r.ranks,
    q.operation,
    q.dtype,
    q.in_place,
    q.calls,
    p.count AS steps,
    p.median_ms / q.calls AS median_ms,
    p.mean_ms / q.calls AS mean_ms,
    p.std_ms / q.calls AS std_ms,
    w.slowest_rank,
    w.spread_ms / q.calls AS spread_ms,
    q.backend,
    coalesce(
      (SELECT max(v.value) FROM metric v WHERE v.run_id = r.run_id AND v.name = 'message_bytes'),
      q.bytes
    ) AS bytes,
    f.scale * (r.ranks - f.excluded) / r.ranks AS bus_factor
  FROM (
    SELECT
      o.run_id,
      max(CASE x.name WHEN 'backend' THEN x.effective END) AS backend,
      max(CASE x.name WHEN 'bytes' THEN x.value END) AS bytes,
      coalesce(max(CASE x.name WHEN 'dtype' THEN x.value END), 'fp32') AS dtype,
      coalesce(max(CASE x.name WHEN 'in_place' THEN x.value END), 1) AS in_place,
      coalesce(max(CASE x.name WHEN 'calls' THEN 1.0 * x.value END), 1) AS calls,
      coalesce(max(CASE x.name WHEN 'operation' THEN x.value END), 'all_reduce') AS operation
    FROM run o
    LEFT JOIN run_parameter x ON x.run_id = o.run_id
    WHERE o.family = 'collective'
    GROUP BY o.run_id
  ) q
  JOIN run r ON r.run_id = q.run_id
  JOIN run_machine m ON m.run_id = r.run_id
  LEFT JOIN _busbw_factor f ON f.operation = q.operation
  LEFT JOIN phase_time p ON p.run_id = r.run_id AND p.phase = 'step' AND p.status = 'ok'
  LEFT JOIN _rank_spread w ON w.run_id = r.run_id
) t;
