-- SPDX-License-Identifier: Apache-2.0
-- Whether collectives end before their results are needed.

-- When the result of each collective call was needed, for the calls whose result something waited for.
CREATE VIEW collective_lateness AS
SELECT
  -- run
  c.run_id,
  -- rank that made the call
  c.rank,
  -- pass in which it was made
  c.pass,
  -- as in collective
  c.sequence,
  -- as in collective_call
  c.operation,
  -- bytes of this rank's message
  c.bytes,
  -- step of the call; −1 outside of steps
  c.step,
  -- 1 in a measured step
  EXISTS(
    SELECT 1
    FROM _measured_step s
    WHERE s.run_id = c.run_id AND s.rank = c.rank AND s.pass = c.pass AND s.step = c.step
  ) AS measured,
  -- phase that needed the result; `other` outside of phases
  coalesce((SELECT n.text FROM string n WHERE n.string_id = c.needed_phase_id), 'other') AS phase,
  -- layer or scope path that needed it; empty if unknown
  coalesce((SELECT n.text FROM string n WHERE n.string_id = c.needed_by_id), '') AS needed_by,
  -- from the call until the result was needed; negative if the need came first
  (c.needed_ns - c.enqueue_ns) / 1e3 AS ahead_us,
  -- from start to end: wait for other ranks and transfer
  (c.end_ns - c.start_ns) / 1e3 AS duration_us,
  -- from the need to the end of the call: the time for which it held up what needed it. Negative if it ended before
  (c.end_ns - c.needed_ns) / 1e3 AS late_us
FROM collective c
WHERE c.needed_ns IS NOT NULL AND c.start_ns IS NOT NULL AND c.end_ns IS NOT NULL;

-- Whether the all-gathers of weights (fully sharded data parallelism) arrive in time, for each layer and phase that
-- needs them, over the measured steps of a pass. In a step, the latest of a layer's gathers on any rank counts, because
-- the others then wait for that rank.
CREATE VIEW gather_lateness AS
WITH gathered AS (
  SELECT
    l.run_id,
    l.pass,
    l.phase,
    l.needed_by,
    l.step,
    min(l.sequence) AS sequence,
    count(*) AS calls,
    count(DISTINCT l.rank) AS ranks,
    max(l.bytes) AS bytes,
    min(l.ahead_us) AS ahead_us,
    max(l.duration_us) AS duration_us,
    max(l.late_us) AS late_us
  FROM collective_lateness l
  WHERE l.operation = 'all_gather' AND l.measured
  GROUP BY l.run_id, l.pass, l.phase, l.needed_by, l.step
),
placed AS (
  SELECT
    g.*,
    row_number() OVER (PARTITION BY g.run_id, g.pass, g.phase, g.needed_by ORDER BY g.late_us) AS position,
    count(*) OVER (PARTITION BY g.run_id, g.pass, g.phase, g.needed_by) AS steps
  FROM gathered g
)
SELECT
  -- run
  p.run_id,
  -- pass in which they were made
  p.pass,
  -- phase that needed the weights
  p.phase,
  -- layer that needed them; empty if unknown
  p.needed_by AS layer,
  -- order in which the layers need them
  row_number() OVER (PARTITION BY p.run_id, p.pass ORDER BY p.phase = 'backward', min(p.sequence), p.needed_by)
    AS layer_order,
  -- number of measured steps
  max(p.steps) AS steps,
  -- calls per step on one rank
  1.0 * sum(p.calls) / sum(p.ranks) AS calls,
  -- bytes of a message
  max(p.bytes) AS bytes,
  -- time from the call until the weights were needed: the least of any rank, mean over steps
  avg(p.ahead_us) AS ahead_us,
  -- duration of the call: the greatest of any rank, mean over steps
  avg(p.duration_us) AS duration_us,
  -- time for which the layer waited: the greatest of any rank, median over steps. Negative if the weights arrived
  -- before they were needed
  avg(CASE WHEN p.position IN ((p.steps + 1) / 2, (p.steps + 2) / 2) THEN p.late_us END) AS late_us,
  -- the same, maximum over steps
  max(p.late_us) AS max_late_us,
  -- share of the steps in which they arrived after they were needed
  1.0 * sum(p.late_us > 0) / max(p.steps) AS late_share,
  -- `late` if late_us is above 0, otherwise `in time`
  CASE
    WHEN avg(CASE WHEN p.position IN ((p.steps + 1) / 2, (p.steps + 2) / 2) THEN p.late_us END) > 0 THEN 'late'
    ELSE 'in time'
  END AS verdict
FROM placed p
GROUP BY p.run_id, p.pass, p.phase, p.needed_by;
