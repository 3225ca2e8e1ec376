-- SPDX-License-Identifier: Apache-2.0
-- Communication between ranks: what each call cost, who was waited for, what of it was hidden behind computing, and
-- what it cost a training step. Gigabytes are 10^9 bytes, as nccl-tests has them.

-- How the clock of each worker stands to that of its supervisor, which all ranks of a run share: the comparison with
-- the smallest error. Drift within a pass is not corrected.
CREATE VIEW rank_clock AS
SELECT
  -- the run
  t.run_id,
  -- its rank
  t.rank,
  -- its pass
  t.pass,
  -- to be added to a time of this rank for the same moment on the shared clock
  t.clock_ns - t.host_ns AS offset_ns,
  -- bound on its error
  t.error_ns
FROM (
  SELECT
    s.*,
    row_number() OVER (PARTITION BY s.run_id, s.rank, s.pass ORDER BY s.error_ns, s.sequence) AS place
  FROM clock_sync s
  WHERE s.clock = 'supervisor'
) t
WHERE t.place = 1;

-- Each call of each rank, with how long it waited for the last rank to begin and how long the transfer took from then
-- on. Calls belong together by communicator and number; what compares ranks is NULL unless every rank of the run has
-- the call, its begin and (of several ranks) its clock.
CREATE VIEW collective_call AS
SELECT
  -- the run
  t.run_id,
  -- rank that called
  t.rank,
  -- pass it was made in
  t.pass,
  -- as in collective
  t.sequence,
  -- name of the communicator
  coalesce((SELECT n.text FROM string n WHERE n.string_id = t.communicator_id), '') AS communicator,
  -- counts the calls of the communicator, the same on all its ranks
  t.number,
  -- number of the first of the calls that were launched together, as a group: they share their kernels and so their
  -- times. Its own number if it was launched alone
  t.launch,
  -- all_reduce, reduce_scatter, all_gather, broadcast or barrier
  t.operation,
  -- payload of this rank
  t.bytes,
  -- 1 if it was queued on a stream of the GPU
  t.on_device,
  -- step it was called in; −1 outside of steps
  t.step,
  -- 1 if that is a measured step
  t.measured,
  -- phase it was called in; `other` outside of phases
  coalesce((SELECT p.text FROM string p WHERE p.string_id = t.phase_id), 'other') AS phase,
  -- when it was called, clock of the rank, after the start of its run
  t.enqueue_ns / 1e6 AS enqueue_ms,
  -- when this rank began to work on it; NULL if that was not seen
  t.start_ns / 1e6 AS start_ms,
  -- when it had done its part; NULL if that was not seen
  t.end_ns / 1e6 AS end_ms,
  -- from begin to end: waiting and transfer
  (t.end_ns - t.start_ns) / 1e3 AS duration_us,
  -- how much later than the first rank it began
  CASE WHEN t.complete THEN (t.start_ns + t.offset_ns - t.earliest_ns) / 1e3 END AS late_us,
  -- from its begin to that of the last rank
  CASE WHEN t.complete THEN (t.latest_ns - t.start_ns - t.offset_ns) / 1e3 END AS wait_us,
  -- from the begin of the last rank to its own end; below 0 if it was done before (the root of a broadcast may be, or
  -- the clocks err)
  CASE WHEN t.complete THEN (t.end_ns + t.offset_ns - t.latest_ns) / 1e3 END AS transfer_us,
  -- from the begin of the last rank to the end of the last to finish: the same on all ranks
  CASE WHEN t.complete AND t.ends = t.ranks THEN (t.done_ns - t.latest_ns) / 1e3 END AS call_transfer_us,
  -- rank that began last, of several the lowest; NULL for a run of one rank
  CASE WHEN t.complete AND t.ranks > 1 THEN t.last_begun END AS last_rank,
  -- bound on what the clocks may err between two ranks
  CASE WHEN t.complete THEN t.error_ns / 1e3 END AS error_us,
  -- ranks of the run
  t.ranks
FROM (
  SELECT
    a.*,
    min(a.first_number) OVER same AS launch,
    max(a.start_ns + a.offset_ns) OVER same AS latest_ns,
    min(a.start_ns + a.offset_ns) OVER same AS earliest_ns,
    max(a.end_ns + a.offset_ns) OVER same AS done_ns,
    count(a.end_ns) OVER same AS ends,
    count(a.start_ns + a.offset_ns) OVER same = a.ranks AS complete,
    first_value(a.rank) OVER (
      PARTITION BY a.run_id, a.pass, a.communicator_id, a.number
      ORDER BY a.start_ns + a.offset_ns DESC, a.rank
    ) AS last_begun,
    2 * max(a.clock_error_ns) OVER same AS error_ns
  FROM (
    SELECT
      c.*,
      r.ranks,
      CASE
        WHEN c.kernels > 0
          THEN min(c.number) OVER (PARTITION BY c.run_id, c.rank, c.pass, c.communicator_id, c.start_ns, c.end_ns)
        ELSE c.number
      END AS first_number,
      CASE r.ranks WHEN 1 THEN 0 ELSE k.offset_ns END AS offset_ns,
      CASE r.ranks WHEN 1 THEN 0 ELSE k.error_ns END AS clock_error_ns,
      coalesce(
        (
          SELECT s.warmup = 0
          FROM sample s
          WHERE s.run_id = c.run_id AND s.rank = c.rank AND s.pass = c.pass AND s.step = c.step AND s.phase = 'step'
        ),
        0
      ) AS measured
    FROM run r
    CROSS JOIN collective c ON c.run_id = r.run_id
    LEFT JOIN rank_clock k ON k.run_id = c.run_id AND k.rank = c.rank AND k.pass = c.pass
  ) a
  WINDOW same AS (PARTITION BY a.run_id, a.pass, a.communicator_id, a.number)
) t;

-- Calls by communicator, phase and operation over the measured steps of a pass. Calls that were launched together, as a
-- group, wait and are transferred together and count as one launch. Waiting is a mean over ranks; a transfer lasts from
-- the begin of the last rank to the end of the last to finish. Rates are of the launches that can be compared over all
-- ranks.
CREATE VIEW collective_summary AS
WITH call AS (
  SELECT
    c.run_id,
    c.pass,
    c.communicator,
    c.phase,
    c.operation,
    c.number,
    min(c.launch) AS launch,
    max(c.ranks) AS ranks,
    max(c.on_device) AS on_device,
    max(c.bytes) AS bytes,
    avg(c.wait_us) AS wait_us,
    max(c.late_us) AS spread_us,
    max(c.call_transfer_us) AS transfer_us,
    max(c.last_rank) AS last_rank,
    max(c.error_us) AS error_us
  FROM collective_call c
  WHERE c.measured
  GROUP BY c.run_id, c.pass, c.communicator, c.phase, c.operation, c.number
),
launched AS (
  SELECT
    run_id,
    pass,
    communicator,
    phase,
    operation,
    launch,
    max(ranks) AS ranks,
    max(on_device) AS on_device,
    count(*) AS calls,
    sum(bytes) AS bytes,
    avg(wait_us) AS wait_us,
    max(spread_us) AS spread_us,
    max(transfer_us) AS transfer_us,
    max(last_rank) AS last_rank,
    max(error_us) AS error_us
  FROM call
  GROUP BY run_id, pass, communicator, phase, operation, launch
),
placed AS (
  SELECT
    a.*,
    row_number() OVER (
      PARTITION BY a.run_id, a.pass, a.communicator, a.phase, a.operation
      ORDER BY a.transfer_us IS NULL, a.transfer_us
    ) AS place,
    count(a.transfer_us) OVER (PARTITION BY a.run_id, a.pass, a.communicator, a.phase, a.operation) AS timed
  FROM launched a
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
    ) AS place
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
  -- the run
  g.run_id,
  -- pass they were made in
  g.pass,
  -- name of the communicator
  g.communicator,
  -- phase they were called in; `other` outside of phases
  g.phase,
  -- all_reduce, reduce_scatter, all_gather, broadcast or barrier
  g.operation,
  -- ranks of the run
  g.ranks,
  -- 1 if they were queued on a stream of the GPU
  g.on_device,
  -- measured steps whose calls were kept
  g.steps,
  -- calls per step of one rank
  1.0 * g.calls / nullif(g.steps, 0) AS calls,
  -- launches per step of one rank: calls, those of a group counting once
  1.0 * g.launches / nullif(g.steps, 0) AS launches,
  -- payload per step of one rank
  1.0 * g.bytes / nullif(g.steps, 0) AS bytes,
  -- what a rank moves over its links per step: payload times the factor of busbw
  1.0 * g.bytes * g.bus_factor / nullif(g.steps, 0) AS bus_bytes,
  -- launches that can be compared over all ranks
  g.timed,
  -- mean wait of a rank for the last one, per launch; NULL if none can be compared
  g.wait_us,
  -- median transfer of a launch
  g.median_transfer_us,
  -- mean transfer of a launch
  g.transfer_us,
  -- the wait per step
  g.wait_us * g.launches / 1e3 / nullif(g.steps, 0) AS wait_ms,
  -- the transfers per step; launches that overlap count each by itself
  g.transfer_us * g.launches / 1e3 / nullif(g.steps, 0) AS transfer_ms,
  -- of waiting and transfer
  g.wait_us / nullif(g.wait_us + g.transfer_us, 0) AS wait_share,
  -- mean of the last rank's begin less the first one's
  g.spread_us,
  -- rank that was last most often; NULL for a run of one rank
  l.last_rank AS straggler,
  -- in what share of the launches
  1.0 * l.launches / nullif(g.timed_last, 0) AS straggler_share,
  -- bound on what the clocks may err: shorter waits say nothing
  g.error_us,
  -- payload over transfer, in GB/s
  g.timed_bytes / nullif(g.timed_us, 0) / 1e3 AS algbw_gb_s,
  -- times 2(n−1)/n for an all_reduce, (n−1)/n for reduce_scatter and all_gather, 1 for a broadcast, as nccl-tests has
  -- it
  g.timed_bytes / nullif(g.timed_us, 0) / 1e3 * g.bus_factor AS busbw_gb_s
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
    CASE (SELECT r.keep FROM run r WHERE r.run_id = p.run_id)
      WHEN 'one-step' THEN 1
      ELSE
        (
          SELECT count(DISTINCT s.step)
          FROM sample s
          WHERE s.run_id = p.run_id AND s.pass = p.pass AND s.phase = 'step' AND s.warmup = 0
        )
    END AS steps,
    max(p.timed) AS timed,
    avg(p.wait_us) AS wait_us,
    avg(p.transfer_us) AS transfer_us,
    avg(p.spread_us) AS spread_us,
    max(p.error_us) AS error_us,
    avg(CASE WHEN p.place IN ((p.timed + 1) / 2, (p.timed + 2) / 2) THEN p.transfer_us END) AS median_transfer_us,
    count(p.last_rank) AS timed_last,
    sum(CASE WHEN p.transfer_us > 0 THEN 1.0 * p.bytes END) AS timed_bytes,
    sum(CASE WHEN p.transfer_us > 0 THEN p.transfer_us END) AS timed_us,
    CASE p.operation
      WHEN 'all_reduce' THEN 2.0 * (max(p.ranks) - 1) / max(p.ranks)
      WHEN 'broadcast' THEN 1.0
      WHEN 'barrier' THEN 0.0
      ELSE 1.0 * (max(p.ranks) - 1) / max(p.ranks)
    END AS bus_factor
  FROM placed p
  GROUP BY p.run_id, p.pass, p.communicator, p.phase, p.operation
) g
LEFT JOIN late l
  ON l.run_id = g.run_id
  AND l.pass = g.pass
  AND l.communicator = g.communicator
  AND l.phase = g.phase
  AND l.operation = g.operation
  AND l.place = 1;

-- How often each rank was the last to begin a call, and how late it came, over the calls of the measured steps that can
-- be compared over all ranks. Calls that were launched together count once.
CREATE VIEW collective_straggler AS
SELECT
  -- the run
  c.run_id,
  -- pass the calls were made in
  c.pass,
  -- its rank
  c.rank,
  -- calls that can be compared
  count(*) AS calls,
  -- of them those that it began last
  sum(c.last_rank = c.rank) AS last_calls,
  -- their share; with n ranks that none stands out of, 1/n
  1.0 * sum(c.last_rank = c.rank) / count(*) AS last_share,
  -- mean of its begin less that of the first rank
  avg(c.late_us) AS late_us,
  -- the largest
  max(c.late_us) AS max_late_us,
  -- mean of how long it waited for the last rank
  avg(c.wait_us) AS wait_us
FROM collective_call c
WHERE c.measured AND c.last_rank IS NOT NULL AND c.number = c.launch
GROUP BY c.run_id, c.pass, c.rank;

-- Time in which a rank had calls under way, per measured step, by what its host did meanwhile: rows per phase and of
-- the whole step. Says of Gloo, whose work shows in no kernel, what communication_overlap says of the GPU; what lies in
-- the phase communication was waited for.
CREATE VIEW collective_cover AS
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
  JOIN sample s
    ON s.run_id = c.run_id
    AND s.rank = c.rank
    AND s.pass = c.pass
    AND s.step = c.step
    AND s.phase = 'step'
    AND s.warmup = 0
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
    e.end_ns - e.start_ns AS covered_ns
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
  -- the run
  t.run_id,
  -- its rank
  t.rank,
  -- pass they were made in
  t.pass,
  -- phase that the host was in; `step` is the whole step
  t.phase,
  -- measured steps with calls
  t.steps,
  -- per step: at least one call was under way
  t.covered_ms,
  -- of that of the whole step
  t.covered_ms
  / nullif(
    max(CASE t.phase WHEN 'step' THEN t.covered_ms END) OVER (PARTITION BY t.run_id, t.rank, t.pass),
    0
  ) AS share
FROM (
  SELECT
    p.run_id,
    p.rank,
    p.pass,
    p.phase,
    w.steps,
    sum(p.covered_ns) / 1e6 / w.steps AS covered_ms
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

-- Computing and communication on the GPU within each phase and the whole step: means of the measured steps of the pass
-- that kernel_pass names, for ranks whose GPU communicated.
CREATE VIEW communication_overlap AS
SELECT
  -- the run
  a.run_id,
  -- its rank
  a.rank,
  -- pass it was observed in
  a.pass,
  -- phase; `step` is the whole step
  a.phase,
  -- measured steps
  sum(a.warmup = 0) AS steps,
  -- length of the stretch
  avg(CASE a.warmup WHEN 0 THEN a.end_ns - a.start_ns END) / 1e6 AS span_ms,
  -- some kernel other than communication ran
  avg(CASE a.warmup WHEN 0 THEN a.compute_ns END) / 1e6 AS compute_ms,
  -- some kernel of communication ran
  avg(CASE a.warmup WHEN 0 THEN a.comm_ns END) / 1e6 AS communication_ms,
  -- both ran
  avg(CASE a.warmup WHEN 0 THEN a.overlap_ns END) / 1e6 AS overlap_ms,
  -- communication ran and nothing else
  avg(CASE a.warmup WHEN 0 THEN a.exposed_comm_ns END) / 1e6 AS exposed_ms,
  -- of the stretch
  1.0 * sum(CASE a.warmup WHEN 0 THEN a.exposed_comm_ns END)
  / nullif(sum(CASE a.warmup WHEN 0 THEN a.end_ns - a.start_ns END), 0) AS exposed_share,
  -- overlap over communication in the measured steps: how much of communication is hidden
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

-- Computing and communication over the whole trace, with what ran in warm-up steps and outside of steps, for ranks
-- whose GPU communicated: the definition of HTA's comp_comm_overlap_pctg (which cuts times to microseconds unless told
-- not to). Needs the kernels: with --keep one-step it covers that step.
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
  -- the run
  run_id,
  -- its rank
  rank,
  -- pass it was observed in
  pass,
  -- some kernel other than communication ran
  sum(own_ns * (1 - communicates)) / 1e6 AS compute_ms,
  -- some kernel of communication ran
  sum(own_ns * communicates) / 1e6 AS communication_ms,
  -- both ran
  (sum(own_ns) - sum(any_ns)) / 1e6 AS overlap_ms,
  -- of communication
  1.0 * (sum(own_ns) - sum(any_ns)) / sum(own_ns * communicates) AS overlap_share
FROM added
GROUP BY run_id, rank, pass
HAVING sum(own_ns * communicates) > 0;

-- Time of each phase on each rank in the measured steps of the time pass, on the device's clock where there is one;
-- those of a rank add up to its step.
CREATE VIEW rank_time AS
SELECT
  -- the run
  t.run_id,
  -- its rank
  t.rank,
  -- phase, or `step` for the whole step
  t.phase,
  -- measured steps
  count(*) AS steps,
  -- mean
  avg(t.time_ns) / 1e6 AS mean_ms,
  -- median
  avg(CASE WHEN t.place IN ((t.steps + 1) / 2, (t.steps + 2) / 2) THEN t.time_ns END) / 1e6 AS median_ms,
  -- largest
  max(t.time_ns) / 1e6 AS max_ms
FROM (
  SELECT
    s.run_id,
    s.rank,
    s.phase,
    coalesce(s.device_ns, s.host_ns) AS time_ns,
    count(*) OVER (PARTITION BY s.run_id, s.rank, s.phase) AS steps,
    row_number() OVER (PARTITION BY s.run_id, s.rank, s.phase ORDER BY coalesce(s.device_ns, s.host_ns)) AS place
  FROM sample s
  WHERE s.pass = 'time' AND s.warmup = 0
) t
GROUP BY t.run_id, t.rank, t.phase;

-- How the ranks of a run differ in the time of their step, in the time pass. A run's step lasts as long as its slowest
-- rank.
CREATE VIEW rank_spread AS
SELECT
  -- the run
  t.run_id,
  -- ranks that measured
  count(*) AS ranks,
  -- mean of the ranks' median steps
  avg(t.median_ms) AS mean_ms,
  -- shortest median step of a rank
  min(t.median_ms) AS fastest_ms,
  -- longest
  max(t.median_ms) AS slowest_ms,
  -- their difference
  max(t.median_ms) - min(t.median_ms) AS spread_ms,
  -- rank with the longest, of several the lowest
  min(CASE t.place WHEN 1 THEN t.rank END) AS slowest_rank
FROM (
  SELECT
    run_id,
    rank,
    median_ms,
    row_number() OVER (PARTITION BY run_id ORDER BY median_ms DESC, rank) AS place
  FROM rank_time
  WHERE phase = 'step'
) t
GROUP BY t.run_id;

-- The machine of each run: what two runs must share to be compared in their communication.
CREATE VIEW run_machine AS
SELECT
  -- the run
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

-- Bandwidth of the runs of workload all_reduce, from the median of their steps, divided by the calls that a step makes;
-- of each step the slowest rank counts. A run that did not end well has its row without figures.
CREATE VIEW all_reduce_bandwidth AS
SELECT
  -- the run
  t.run_id,
  -- as in run_machine
  t.machine,
  -- gloo or nccl
  t.backend,
  -- all_reduce, reduce_scatter, all_gather or broadcast
  t.operation,
  -- element type
  t.dtype,
  -- 1 if input and output are the same tensor
  t.in_place,
  -- processes
  t.ranks,
  -- message of a rank; of reduce_scatter its input, of all_gather its output
  t.bytes,
  -- steps that count; NULL, as are the figures, if the run did not end well
  t.steps,
  -- calls in a step
  t.calls,
  -- median step over its calls
  t.median_ms,
  -- mean step over its calls
  t.mean_ms,
  -- its standard deviation
  t.std_ms,
  -- rank whose median step is the longest
  t.slowest_rank,
  -- the longest median step of a rank less the shortest, over the calls
  t.spread_ms,
  -- message over median step, in GB/s
  t.bytes / nullif(t.median_ms, 0) / 1e6 AS algbw_gb_s,
  -- times 2(n−1)/n for an all_reduce, (n−1)/n for reduce_scatter and all_gather, 1 for a broadcast, as nccl-tests has
  -- it; 0 for one rank, save for a broadcast
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
    CASE coalesce(q.backend, 'auto')
      WHEN 'auto' THEN CASE r.device_kind WHEN 'cuda' THEN 'nccl' ELSE 'gloo' END
      ELSE q.backend
    END AS backend,
    coalesce(
      (SELECT max(v.value) FROM metric v WHERE v.run_id = r.run_id AND v.name = 'message_bytes'),
      q.bytes
    ) AS bytes,
    CASE q.operation
      WHEN 'all_reduce' THEN 2.0 * (r.ranks - 1) / r.ranks
      WHEN 'broadcast' THEN 1.0
      ELSE 1.0 * (r.ranks - 1) / r.ranks
    END AS bus_factor
  FROM (
    SELECT
      o.run_id,
      max(CASE x.name WHEN 'backend' THEN x.value END) AS backend,
      max(CASE x.name WHEN 'bytes' THEN x.value END) AS bytes,
      coalesce(max(CASE x.name WHEN 'dtype' THEN x.value END), 'fp32') AS dtype,
      coalesce(max(CASE x.name WHEN 'in_place' THEN x.value END), 1) AS in_place,
      coalesce(max(CASE x.name WHEN 'calls' THEN 1.0 * x.value END), 1) AS calls,
      coalesce(max(CASE x.name WHEN 'operation' THEN x.value END), 'all_reduce') AS operation
    FROM run o
    LEFT JOIN param x ON x.run_id = o.run_id
    WHERE o.workload = 'all_reduce'
    GROUP BY o.run_id
  ) q
  JOIN run r ON r.run_id = q.run_id
  JOIN run_machine m ON m.run_id = r.run_id
  LEFT JOIN phase_time p ON p.run_id = r.run_id AND p.phase = 'step' AND p.status = 'ok'
  LEFT JOIN rank_spread w ON w.run_id = r.run_id
) t;
