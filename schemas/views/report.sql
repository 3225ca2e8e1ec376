-- SPDX-License-Identifier: Apache-2.0
-- What reports show besides measurements: run status and run titles.

-- The status of each run, as shown in reports.
CREATE VIEW run_status AS
SELECT
  -- run
  r.run_id,
  -- empty for a run with status ok, `OOM`, or the status
  CASE r.status WHEN 'ok' THEN '' WHEN 'oom' THEN 'OOM' ELSE r.status END AS status_label,
  -- status with its reason
  CASE WHEN r.status = 'ok' THEN 'ok' WHEN r.status = 'oom' THEN 'OOM' ELSE r.status END
  || CASE WHEN r.detail = '' THEN '' ELSE ': ' || r.detail END AS status_detail,
  -- passed, failed, not verified (no reference, or the run ended before) or not requested
  CASE r.verification
    WHEN 'unavailable' THEN 'not verified'
    WHEN '' THEN CASE WHEN ',' || r.passes || ',' LIKE '%,verify,%' THEN 'not verified' ELSE 'not requested' END
    ELSE r.verification
  END AS verified,
  -- empty if it was verified
  coalesce(
    (
      SELECT group_concat(DISTINCT v.detail)
      FROM verification v
      WHERE v.run_id = r.run_id AND v.outcome = 'unavailable' AND v.detail <> ''
    ),
    CASE r.verification WHEN 'unavailable' THEN 'no reference' WHEN '' THEN 'not requested' ELSE '' END
  ) AS unverified_reason
FROM run r;

-- Short titles that distinguish a run from other runs in this database: the parameters, as titles show them, and
-- settings that vary. Timing,
-- steps and seed are compared only within the same case, because each case of a suite may set its own.
CREATE VIEW run_title AS
WITH differs AS (
  SELECT
    workload,
    min(suite_case) <> max(suite_case) AS suite_case,
    min(ranks) <> max(ranks) AS ranks,
    min(device_kind) <> max(device_kind) AS device,
    min(warmup) <> max(warmup) AS warmup,
    min(sync) <> max(sync) AS sync,
    min(label) <> max(label) AS label,
    min(repetition) <> max(repetition) AS repetition
  FROM run
  GROUP BY workload
),
differs_within AS (
  SELECT
    workload,
    suite_case,
    min(ranks) <> max(ranks) AS ranks,
    min(device_kind) <> max(device_kind) AS device,
    min(warmup) <> max(warmup) AS warmup,
    min(sync) <> max(sync) AS sync,
    min(timing) <> max(timing) AS timing,
    min(steps) <> max(steps) AS steps,
    min(seed) <> max(seed) AS seed,
    min(label) <> max(label) AS label,
    min(repetition) <> max(repetition) AS repetition
  FROM run
  GROUP BY workload, suite_case
),
varying AS (
  SELECT
    r.workload,
    p.name
  FROM param p
  JOIN run r ON r.run_id = p.run_id
  GROUP BY r.workload, p.name
  HAVING min(p.value) <> max(p.value)
),
varying_within AS (
  SELECT
    r.workload,
    r.suite_case,
    p.name
  FROM param p
  JOIN run r ON r.run_id = p.run_id
  GROUP BY r.workload, r.suite_case, p.name
  HAVING min(p.value) <> max(p.value)
)
SELECT
  -- run
  t.run_id,
  -- distinguishes it from other runs of its workload; for example `n=1024, device=cuda`
  coalesce(nullif(substr(t.title, 3), ''), 'only case') AS title,
  -- distinguishes it from other runs of its workload and case; NULL if they do not differ
  nullif(substr(t.title_in_case, 3), '') AS title_in_case
FROM (
  SELECT
    r.run_id,
    CASE WHEN d.suite_case AND r.suite_case <> '' THEN ', case=' || r.suite_case ELSE '' END
    || coalesce(
      (
        SELECT group_concat(part, '')
        FROM (
          SELECT ', ' || CASE p.title WHEN '' THEN p.name || '=' || p.text ELSE ltrim(p.title) END AS part
          FROM varying v
          JOIN run_parameter p ON p.run_id = r.run_id AND p.name = v.name
          WHERE v.workload = r.workload AND p.text <> ''
          ORDER BY p.name
        )
      ),
      ''
    )
    || CASE WHEN d.ranks THEN ', ranks=' || r.ranks ELSE '' END
    || CASE WHEN d.device THEN ', device=' || r.device_kind ELSE '' END
    || CASE WHEN d.warmup THEN ', warm-up=' || r.warmup ELSE '' END
    || CASE WHEN d.sync THEN ', sync=' || r.sync ELSE '' END
    || CASE WHEN w.timing THEN ', timing=' || r.timing ELSE '' END
    || CASE WHEN w.steps AND r.steps > 0 THEN ', steps=' || r.steps ELSE '' END
    || CASE WHEN w.seed THEN ', seed=' || r.seed ELSE '' END
    || CASE WHEN d.label AND r.label <> '' THEN ', label=' || r.label ELSE '' END
    || CASE WHEN d.repetition THEN ', repetition=' || (r.repetition + 1) ELSE '' END AS title,
    coalesce(
      (
        SELECT group_concat(part, '')
        FROM (
          SELECT ', ' || CASE p.title WHEN '' THEN p.name || '=' || p.text ELSE ltrim(p.title) END AS part
          FROM varying_within v
          JOIN run_parameter p ON p.run_id = r.run_id AND p.name = v.name
          WHERE v.workload = r.workload AND v.suite_case = r.suite_case AND p.text <> ''
          ORDER BY p.name
        )
      ),
      ''
    )
    || CASE WHEN w.ranks THEN ', ranks=' || r.ranks ELSE '' END
    || CASE WHEN w.device THEN ', device=' || r.device_kind ELSE '' END
    || CASE WHEN w.warmup THEN ', warm-up=' || r.warmup ELSE '' END
    || CASE WHEN w.sync THEN ', sync=' || r.sync ELSE '' END
    || CASE WHEN w.timing THEN ', timing=' || r.timing ELSE '' END
    || CASE WHEN w.steps AND r.steps > 0 THEN ', steps=' || r.steps ELSE '' END
    || CASE WHEN w.seed THEN ', seed=' || r.seed ELSE '' END
    || CASE WHEN w.label AND r.label <> '' THEN ', label=' || r.label ELSE '' END
    || CASE WHEN w.repetition THEN ', repetition=' || (r.repetition + 1) ELSE '' END AS title_in_case
  FROM run r
  JOIN differs d ON d.workload = r.workload
  JOIN differs_within w ON w.workload = r.workload AND w.suite_case = r.suite_case
) t;

-- Peak memory use of any rank of a run, in its time pass.
CREATE VIEW run_memory AS
SELECT
  -- run
  r.run_id,
  -- peak resident set size of a worker process
  max(k.resident_peak_bytes) AS resident_peak_bytes,
  -- peak memory allocated by the caching allocator
  max(k.allocated_peak_bytes) AS allocated_peak_bytes,
  -- peak memory reserved by the caching allocator
  max(k.reserved_peak_bytes) AS reserved_peak_bytes
FROM run r
JOIN rank k ON k.run_id = r.run_id AND k.pass = 'time'
GROUP BY r.run_id;

-- Runs of the family `transformer` with their parameters.
CREATE VIEW transformer_run AS
SELECT
  -- run
  p.run_id,
  -- workload
  p.workload,
  -- name of the case within the suite
  p.suite_case,
  -- status
  p.status,
  -- cpu or cuda
  p.device_kind,
  -- number of warm-up steps
  p.warmup,
  -- index of the repetition (--repeat), from 0
  p.repetition,
  -- model size name
  p.size,
  -- sort order of the sizes
  p.size_order,
  -- tokens per sequence
  p.context,
  -- batch size
  p.batch,
  -- element type of weights and computation, or `bf16 autocast`, which computes in bf16 with weights in fp32
  CASE p.autocast WHEN 1 THEN 'bf16 autocast' ELSE p.dtype END AS precision,
  -- forward, forward_backward or train
  p.mode
FROM (
  SELECT
    r.run_id,
    r.workload,
    r.suite_case,
    r.status,
    r.device_kind,
    r.warmup,
    r.repetition,
    max(CASE WHEN q.name = 'size' THEN q.value END) AS size,
    max(CASE WHEN q.name = 'size' THEN q.choice END) AS size_order,
    max(CASE WHEN q.name = 'context' THEN q.value END) AS context,
    max(CASE WHEN q.name = 'batch' THEN q.value END) AS batch,
    max(CASE WHEN q.name = 'dtype' THEN q.value END) AS dtype,
    max(CASE WHEN q.name = 'autocast' THEN q.value END) AS autocast,
    max(CASE WHEN q.name = 'mode' THEN q.value END) AS mode
  FROM run r
  JOIN param q ON q.run_id = r.run_id
  WHERE r.family = 'transformer'
  GROUP BY r.run_id
) p;
