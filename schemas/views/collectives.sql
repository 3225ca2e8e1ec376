-- SPDX-License-Identifier: Apache-2.0
-- Collective calls: the cost of each, and which rank is late. GB are 10^9 bytes, as in nccl-tests.

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
  -- all_reduce, reduce_scatter, all_gather, broadcast, barrier, reduce, gather, scatter, all_to_all, send or receive
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
