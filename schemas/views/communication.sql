-- SPDX-License-Identifier: Apache-2.0
-- Communication between ranks: cost of each call, stragglers, overlap with compute, and cost per training step. GB are
-- 10^9 bytes, as in nccl-tests.

-- Offset of each worker's clock to the clock of its supervisor, which all ranks of a run share: the comparison with the
-- smallest error. Drift within a pass is not corrected.
CREATE VIEW rank_clock AS
SELECT
  -- run
  t.run_id,
  -- rank
  t.rank,
  -- pass
  t.pass,
  -- offset to add to a time of this rank to convert it to the shared clock
  t.clock_ns - t.host_ns AS offset_ns,
  -- bound on the error of the offset
  t.error_ns
FROM (
  SELECT
    s.*,
    row_number() OVER (PARTITION BY s.run_id, s.rank, s.pass ORDER BY s.error_ns, s.sequence) AS position
  FROM clock_sync s
  WHERE s.clock = 'supervisor'
) t
WHERE t.position = 1;

-- Each collective call on each rank, with the wait for the last rank to start and the transfer time from then on. Calls
-- are matched by communicator and call number. Columns that compare ranks are NULL unless the call, its start and (with
-- multiple ranks) the clock offset are known for every rank of the communicator, and all of them made the same call, or
-- one of two ranks sent what the other one received.
CREATE VIEW collective_call AS
SELECT
  -- run
  t.run_id,
  -- rank that made the call
  t.rank,
  -- pass in which it was made
  t.pass,
  -- as in collective
  t.sequence,
  -- name of the communicator
  coalesce((SELECT n.text FROM string n WHERE n.string_id = t.communicator_id), '') AS communicator,
  -- number of the call within its communicator, the same on all ranks
  t.call_number,
  -- number of the first call in the same group (ncclGroupStart/End): grouped calls share their kernels and therefore
  -- their times. Its own number if not grouped
  t.group_number,
  -- all_reduce, reduce_scatter, all_gather, broadcast or barrier; in observed programs also reduce, gather, scatter,
  -- all_to_all, send and receive
  t.operation,
  -- bytes of this rank's message
  t.bytes,
  -- data type of the message; NULL if it was not recorded
  t.dtype,
  -- 1 if it was enqueued on a CUDA stream
  t.on_device,
  -- step of the call; −1 outside of steps
  t.step,
  -- 1 in a measured step
  t.measured,
  -- phase of the call; `other` outside of phases
  coalesce((SELECT p.text FROM string p WHERE p.string_id = t.phase_id), 'other') AS phase,
  -- time of the call, clock of the rank, relative to the start of its run
  t.enqueue_ns / 1e6 AS enqueue_ms,
  -- when the operation started on this rank; NULL if unknown
  t.start_ns / 1e6 AS start_ms,
  -- when the operation completed on this rank; NULL if unknown
  t.end_ns / 1e6 AS end_ms,
  -- from start to end: wait and transfer
  (t.end_ns - t.start_ns) / 1e3 AS duration_us,
  -- start delay relative to the first rank
  CASE WHEN t.complete THEN (t.start_ns + t.offset_ns - t.earliest_ns) / 1e3 END AS late_us,
  -- from its own start to the start of the last rank
  CASE WHEN t.complete THEN (t.latest_ns - t.start_ns - t.offset_ns) / 1e3 END AS wait_us,
  -- from the start of the last rank to its own end; negative if it ended before (possible for the root of a broadcast,
  -- or because of clock error)
  CASE WHEN t.complete THEN (t.end_ns + t.offset_ns - t.latest_ns) / 1e3 END AS transfer_us,
  -- from the start of the last rank to the end of the last rank to finish: the same on all ranks
  CASE WHEN t.complete AND t.ends = t.ranks THEN (t.done_ns - t.latest_ns) / 1e3 END AS call_transfer_us,
  -- rank that started last, the lowest if tied; NULL for a run with one rank
  CASE WHEN t.complete AND t.ranks > 1 THEN t.last_begun END AS last_rank,
  -- bound on the clock error between two ranks
  CASE WHEN t.complete THEN t.error_ns / 1e3 END AS clock_error_us,
  -- number of ranks of the communicator
  t.ranks
FROM (
  SELECT
    a.*,
    min(a.first_number) OVER same AS group_number,
    max(a.start_ns + a.offset_ns) OVER same AS latest_ns,
    min(a.start_ns + a.offset_ns) OVER same AS earliest_ns,
    max(a.end_ns + a.offset_ns) OVER same AS done_ns,
    count(a.end_ns) OVER same AS ends,
    count(a.start_ns + a.offset_ns) OVER same = a.ranks
    AND CASE min(a.operation) OVER same
      WHEN 'receive' THEN a.ranks = 2 AND max(a.operation) OVER same = 'send'
      WHEN 'send' THEN 0
      ELSE min(a.operation) OVER same = max(a.operation) OVER same
    END AS complete,
    first_value(a.rank) OVER (
      PARTITION BY a.run_id, a.pass, a.communicator_id, a.call_number
      ORDER BY a.start_ns + a.offset_ns DESC, a.rank
    ) AS last_begun,
    2 * max(a.clock_error_ns) OVER same AS error_ns
  FROM (
    SELECT
      c.*,
      coalesce(c.group_ranks, r.ranks) AS ranks,
      CASE
        WHEN c.kernels > 0
          THEN min(c.call_number) OVER (PARTITION BY c.run_id, c.rank, c.pass, c.communicator_id, c.start_ns, c.end_ns)
        ELSE c.call_number
      END AS first_number,
      CASE r.ranks WHEN 1 THEN 0 ELSE k.offset_ns END AS offset_ns,
      CASE r.ranks WHEN 1 THEN 0 ELSE k.error_ns END AS clock_error_ns,
      EXISTS(
        SELECT 1
        FROM _measured_step s
        WHERE s.run_id = c.run_id AND s.rank = c.rank AND s.pass = c.pass AND s.step = c.step
      ) AS measured
    FROM run r
    CROSS JOIN collective c ON c.run_id = r.run_id
    LEFT JOIN rank_clock k ON k.run_id = c.run_id AND k.rank = c.rank AND k.pass = c.pass
  ) a
  WINDOW same AS (PARTITION BY a.run_id, a.pass, a.communicator_id, a.call_number)
) t;

-- Bus bandwidth over algorithm bandwidth, for n ranks: scale × (n − excluded)/n. This is the convention of nccl-tests
-- (doc/PERFORMANCE.md), with the message size of its tests: that of the whole buffer, the larger of input and output.
CREATE VIEW _busbw_factor AS
WITH factor (operation, scale, excluded, is_directed) AS (
  VALUES
  ('all_reduce', 2.0, 1, 0),
  ('reduce_scatter', 1.0, 1, 0),
  ('all_gather', 1.0, 1, 0),
  ('all_to_all', 1.0, 1, 0),
  ('gather', 1.0, 1, 1),
  ('scatter', 1.0, 1, 1),
  ('broadcast', 1.0, 0, 1),
  ('reduce', 1.0, 0, 1),
  ('send', 1.0, 0, 1),
  ('receive', 1.0, 0, 1),
  ('barrier', 0.0, 0, 0)
)
SELECT
  -- as in collective_call
  f.operation,
  -- factor for many ranks
  f.scale,
  -- 1 if a rank already has its part of the message
  f.excluded,
  -- 1 if a call moves bytes from or to one rank, so that the calls of a group can use links in both directions
  f.is_directed
FROM factor f;

-- Collective calls by communicator, phase and operation over the measured steps of a pass. Grouped calls wait and
-- transfer together and count as one launch. Wait times are means over ranks; a transfer lasts from the start of the
-- last rank to the end of the last rank to finish. Rates use the launches that can be compared across all ranks, and
-- are per rank. Several broadcasts, reduces, sends or receives in one launch count (n − 1)/n of their bytes for
-- busbw_gb_s and bus_bytes, several gathers or scatters (n − 1)/n² of them: that is what the busiest rank moves in one
-- direction if the roots share the work equally, and at least that otherwise. The roots are not recorded.
CREATE VIEW collective_summary AS
WITH call AS (
  SELECT
    c.run_id,
    c.pass,
    c.communicator,
    c.phase,
    c.operation,
    c.call_number,
    min(c.group_number) AS group_number,
    max(c.ranks) AS ranks,
    max(c.on_device) AS on_device,
    max(c.bytes) AS bytes,
    avg(c.wait_us) AS wait_us,
    max(c.late_us) AS spread_us,
    max(c.call_transfer_us) AS transfer_us,
    max(c.last_rank) AS last_rank,
    max(c.clock_error_us) AS clock_error_us
  FROM collective_call c
  WHERE c.measured
  GROUP BY c.run_id, c.pass, c.communicator, c.phase, c.operation, c.call_number
),
launched AS (
  SELECT
    run_id,
    pass,
    communicator,
    phase,
    operation,
    group_number,
    max(ranks) AS ranks,
    max(on_device) AS on_device,
    count(*) AS calls,
    sum(bytes) AS bytes,
    avg(wait_us) AS wait_us,
    max(spread_us) AS spread_us,
    max(transfer_us) AS transfer_us,
    max(last_rank) AS last_rank,
    max(clock_error_us) AS clock_error_us
  FROM call
  GROUP BY run_id, pass, communicator, phase, operation, group_number
),
placed AS (
  SELECT
    a.*,
    a.bytes * f.scale * (a.ranks - f.excluded) / a.ranks
    * CASE
      WHEN a.calls = 1 OR f.is_directed = 0 THEN 1.0
      WHEN f.excluded = 0 THEN (a.ranks - 1.0) / a.ranks
      ELSE 1.0 / a.ranks
    END AS bus_bytes,
    row_number() OVER (
      PARTITION BY a.run_id, a.pass, a.communicator, a.phase, a.operation
      ORDER BY a.transfer_us IS NULL, a.transfer_us
    ) AS position,
    count(a.transfer_us) OVER (PARTITION BY a.run_id, a.pass, a.communicator, a.phase, a.operation) AS compared_launches
  FROM launched a
  LEFT JOIN _busbw_factor f ON f.operation = a.operation
),
late AS (
  SELECT
    l.run_id,
    l.pass,
    l.communicator,
    l.phase,
    l.operation,
    l.last_rank,
    l.launches,
    row_number() OVER (
      PARTITION BY l.run_id, l.pass, l.communicator, l.phase, l.operation
      ORDER BY l.launches DESC, l.last_rank
    ) AS position
  FROM (
    SELECT
      run_id,
      pass,
      communicator,
      phase,
      operation,
      last_rank,
      count(*) AS launches
    FROM launched
    WHERE last_rank IS NOT NULL
    GROUP BY run_id, pass, communicator, phase, operation, last_rank
  ) l
)
SELECT
  -- run
  g.run_id,
  -- pass in which they were made
  g.pass,
  -- name of the communicator
  g.communicator,
  -- phase of the calls; `other` outside of phases
  g.phase,
  -- as in collective_call
  g.operation,
  -- number of ranks of the communicator
  g.ranks,
  -- 1 if they were enqueued on a CUDA stream
  g.on_device,
  -- measured steps whose calls were retained
  g.steps,
  -- calls per step on one rank
  1.0 * g.calls / nullif(g.steps, 0) AS calls,
  -- launches per step on one rank: grouped calls count once
  1.0 * g.launches / nullif(g.steps, 0) AS launches,
  -- message bytes per step of one rank
  1.0 * g.bytes / nullif(g.steps, 0) AS bytes,
  -- bytes that a rank moves over its links in one direction, per step: message bytes times the factor of busbw_gb_s
  g.bus_bytes / nullif(g.steps, 0) AS bus_bytes,
  -- number of launches that can be compared across all ranks
  g.compared_launches,
  -- mean wait for the last rank, per launch; NULL if no launch can be compared
  g.wait_us,
  -- median transfer time of a launch
  g.median_transfer_us,
  -- mean transfer time of a launch
  g.transfer_us,
  -- wait time per step
  g.wait_us * g.launches / 1e3 / nullif(g.steps, 0) AS wait_ms,
  -- transfer time per step; overlapping launches count separately
  g.transfer_us * g.launches / 1e3 / nullif(g.steps, 0) AS transfer_ms,
  -- wait over wait + transfer
  g.wait_us / nullif(g.wait_us + g.transfer_us, 0) AS wait_share,
  -- mean start skew: start of the last rank − start of the first rank
  g.spread_us,
  -- rank that was last most often; NULL for a run with one rank
  l.last_rank AS straggler,
  -- share of the launches in which it was last
  1.0 * l.launches / nullif(g.launches_with_last, 0) AS straggler_share,
  -- bound on the clock error: shorter waits are not significant
  g.clock_error_us,
  -- algorithm bandwidth per rank in GB/s: message bytes over transfer time
  g.timed_bytes / nullif(g.timed_us, 0) / 1e3 AS algbw_gb_s,
  -- bus bandwidth per rank in GB/s, as in nccl-tests: algbw times 2(n−1)/n for all_reduce, (n−1)/n for reduce_scatter,
  -- all_gather, gather, scatter and all_to_all, 1 for broadcast, reduce, send and receive; see above for groups of them
  g.timed_bus_bytes / nullif(g.timed_us, 0) / 1e3 AS busbw_gb_s
FROM (
  SELECT
    p.run_id,
    p.pass,
    p.communicator,
    p.phase,
    p.operation,
    max(p.ranks) AS ranks,
    max(p.on_device) AS on_device,
    sum(p.calls) AS calls,
    count(*) AS launches,
    sum(p.bytes) AS bytes,
    sum(p.bus_bytes) AS bus_bytes,
    CASE (SELECT r.keep FROM run r WHERE r.run_id = p.run_id)
      WHEN 'one-step' THEN 1
      ELSE
        (
          SELECT count(DISTINCT s.step)
          FROM _measured_step s
          WHERE s.run_id = p.run_id AND s.pass = p.pass
        )
    END AS steps,
    max(p.compared_launches) AS compared_launches,
    avg(p.wait_us) AS wait_us,
    avg(p.transfer_us) AS transfer_us,
    avg(p.spread_us) AS spread_us,
    max(p.clock_error_us) AS clock_error_us,
    avg(
      CASE
        WHEN p.position IN ((p.compared_launches + 1) / 2, (p.compared_launches + 2) / 2) THEN p.transfer_us
      END
    ) AS median_transfer_us,
    count(p.last_rank) AS launches_with_last,
    sum(CASE WHEN p.transfer_us > 0 THEN 1.0 * p.bytes END) AS timed_bytes,
    sum(CASE WHEN p.transfer_us > 0 THEN p.bus_bytes END) AS timed_bus_bytes,
    sum(CASE WHEN p.transfer_us > 0 THEN p.transfer_us END) AS timed_us
  FROM placed p
  GROUP BY p.run_id, p.pass, p.communicator, p.phase, p.operation
) g
LEFT JOIN late l
  ON l.run_id = g.run_id
  AND l.pass = g.pass
  AND l.communicator = g.communicator
  AND l.phase = g.phase
  AND l.operation = g.operation
  AND l.position = 1;

-- How often each rank was the last to start a call, and by how much, over the calls of the measured steps that can be
-- compared across all ranks. Grouped calls count once.
CREATE VIEW collective_straggler AS
SELECT
  -- run
  c.run_id,
  -- pass in which the calls were made
  c.pass,
  -- rank
  c.rank,
  -- number of comparable calls
  count(*) AS calls,
  -- number of calls that this rank started last
  sum(c.last_rank = c.rank) AS last_calls,
  -- share of calls that this rank started last; 1/n for n equal ranks
  1.0 * sum(c.last_rank = c.rank) / count(*) AS last_share,
  -- mean start delay relative to the first rank
  avg(c.late_us) AS late_us,
  -- maximum start delay
  max(c.late_us) AS max_late_us,
  -- mean wait for the last rank
  avg(c.wait_us) AS wait_us
FROM collective_call c
WHERE c.measured AND c.last_rank IS NOT NULL AND c.call_number = c.group_number
GROUP BY c.run_id, c.pass, c.rank;

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
