-- SPDX-License-Identifier: Apache-2.0
-- caption: What was not measured.
-- column part: title="part"
-- column runs: title="completed runs"
-- column reason: title="reason"
-- column command: title="command that adds it", format="code"
-- note: Parts with missing cases, with runs that were skipped, failed or ran out of memory, and with planned runs that
--   were not started.
-- empty: Every part of the suite was measured.
WITH part AS (
  SELECT
    json_extract(p.value, '$[0]') AS part,
    json_extract(p.value, '$[1]') AS pattern,
    json_extract(p.value, '$[2]') AS pattern_prefix,
    json_extract(p.value, '$[3]') AS first_edition,
    p.key AS position
  FROM json_each('[
    ["end-to-end timing", "timing", "timing"],
    ["inference", "timing-inference", "timing-inference"],
    ["mixed precision", "timing-autocast", "timing-autocast"],
    ["warm-up", "timing-warmup", "timing-warmup"],
    ["accumulation", "accumulation", "accumulation"],
    ["types under autocast", "autocast-types", "autocast-types"],
    ["kernels", "kernels", "kernels"],
    ["memory", "memory", "memory"],
    ["attention by length", "attention-memory%", "attention-memory"],
    ["compiled execution", "compiled%", "compiled"],
    ["attention kernels", "flash%", "flash"],
    ["all-reduce with Gloo", "collectives-gloo", "collectives-gloo"],
    ["all-reduce with NCCL", "collectives-nccl", "collectives-nccl"],
    ["data parallelism", "ddp%", "ddp"],
    ["sharded optimizer", "sharding", "sharding$"],
    ["activation checkpointing", "checkpoint%", "checkpoint", 2026],
    ["fully sharded data parallelism", "sharding-weights", "sharding-weights", 2026]
  ]') p
),
counted AS (
  SELECT
    p.position,
    p.part,
    p.pattern_prefix,
    count(r.run_id) AS runs,
    coalesce(sum(r.status = 'ok'), 0) AS completed,
    coalesce(sum(r.status = 'skipped'), 0) AS skipped,
    coalesce(sum(r.status = 'oom'), 0) AS oom,
    coalesce(sum(r.status NOT IN ('ok', 'skipped', 'oom')), 0) AS failed,
    max(CASE r.status WHEN 'skipped' THEN r.detail END) AS detail,
    min(CASE r.status WHEN 'oom' THEN coalesce(s.title_in_case, r.suite_case) END) AS oom_title,
    (SELECT count(*) FROM selected_unstarted_run u WHERE u.suite_case LIKE p.pattern) AS unstarted,
    (SELECT max(u.reason) FROM selected_unstarted_run u WHERE u.suite_case LIKE p.pattern) AS unstarted_reason
  FROM part p
  LEFT JOIN selected_run s ON 1
  LEFT JOIN run r ON r.run_id = s.run_id AND r.suite_case LIKE p.pattern
  WHERE
    EXISTS (SELECT 1 FROM selected_run)
    AND (p.first_edition IS NULL OR p.first_edition <= (SELECT year FROM edition))
  GROUP BY p.position
)
SELECT
  part,
  completed || ' of ' || (runs + unstarted) AS runs,
  CASE
    WHEN runs + unstarted = 0 THEN 'not run'
    ELSE
      substr(
        CASE WHEN failed > 0 THEN '; ' || failed || ' failed: see section Run status' ELSE '' END
        || CASE oom
          WHEN 0 THEN ''
          WHEN 1 THEN '; 1 out of memory: ' || oom_title
          ELSE '; ' || oom || ' out of memory, such as ' || oom_title
        END
        || CASE
          WHEN skipped = 0 THEN ''
          WHEN length(detail) > 90 THEN '; ' || skipped || ' skipped: ' || substr(detail, 1, 89) || '…'
          ELSE '; ' || skipped || ' skipped: ' || detail
        END
        || CASE WHEN unstarted > 0 THEN '; ' || unstarted || ' not started: ' || unstarted_reason ELSE '' END,
        3
      )
  END AS reason,
  'kymo suite run cs336 --filter ''^' || pattern_prefix || '''' AS command
FROM counted
WHERE runs = 0 OR skipped > 0 OR failed > 0 OR oom > 0 OR unstarted > 0
ORDER BY position
