-- SPDX-License-Identifier: Apache-2.0
-- caption: Step time by optimisation. Each row adds one optimisation to those of the row above.
-- column label: title="variant"
-- column step_ms: title="step", unit="ms", format="significant", digits=3
-- column step_interval: title="interval in ms"
-- column speedup: title="speed-up", digits=2
-- column speedup_interval: title="interval"
-- column gain: title="over the row above", digits=2
-- column gain_interval: title="interval"
-- column tokens_per_s: title="bytes/s", format="significant", digits=3
-- column memory_bytes: title="peak memory", format="bytes"
-- column runs: title="runs"
-- note: The step is the median over the runs of their median steps. A speed-up is the median of the ratios of runs with
--   the same seed and repetition, which ran in turn. Intervals reach from the smallest to the largest of these values;
--   six or more enclose the true median with a probability of at least 96.9 %. Peak memory is that of the allocator on
--   a GPU, and that of the process on a CPU. One byte of text is one token.
-- empty: No runs: `kymo suite run lab`, or `kymo suite run lab --profile small` on a CPU.
WITH timed AS (
  SELECT
    t.*,
    p.median_ms,
    coalesce(nullif(m.allocated_peak_bytes, 0), m.resident_peak_bytes) AS memory_bytes,
    1e3 * k.value / p.median_ms AS tokens_per_s
  FROM trained t
  JOIN phase_time p ON p.run_id = t.run_id AND p.phase = 'step'
  LEFT JOIN run_memory m ON m.run_id = t.run_id
  LEFT JOIN reported_metric k
    ON k.run_id = t.run_id AND k.name = 'tokens_per_step' AND k.pass = 'time' AND k.rank = 0
),
compared AS (
  SELECT
    t.variant,
    b.variant AS other,
    median(b.median_ms / t.median_ms) AS ratio,
    min(b.median_ms / t.median_ms) AS low,
    max(b.median_ms / t.median_ms) AS high,
    count(*) AS pairs
  FROM timed t
  JOIN timed b ON b.seed = t.seed AND b.repetition = t.repetition
  GROUP BY t.variant, b.variant
),
measured AS (
  SELECT
    variant,
    median(median_ms) AS step_ms,
    min(median_ms) AS low,
    max(median_ms) AS high,
    median(tokens_per_s) AS tokens_per_s,
    max(memory_bytes) AS memory_bytes,
    count(*) AS runs
  FROM timed
  GROUP BY variant
)
SELECT
  l.label,
  m.step_ms,
  CASE WHEN m.runs > 1 THEN printf('%.2f – %.2f', m.low, m.high) END AS step_interval,
  b.ratio AS speedup,
  CASE WHEN b.pairs > 1 THEN printf('%.2f – %.2f', b.low, b.high) END AS speedup_interval,
  g.ratio AS gain,
  CASE WHEN g.pairs > 1 THEN printf('%.2f – %.2f', g.low, g.high) END AS gain_interval,
  m.tokens_per_s,
  m.memory_bytes,
  m.runs
FROM labelled l
JOIN measured m ON m.variant = l.variant
LEFT JOIN compared b ON b.variant = l.variant AND b.other = 'baseline' AND l.variant <> 'baseline'
LEFT JOIN compared g ON g.variant = l.variant AND g.other = l.previous
ORDER BY l.position
