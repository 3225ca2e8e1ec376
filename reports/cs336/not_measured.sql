-- SPDX-License-Identifier: Apache-2.0
-- caption: What was not measured.
-- column part: title="part"
-- column runs: title="completed runs"
-- column reason: title="reason"
-- column command: title="command that adds it", format="code"
-- note: Parts with skipped, failed or missing cases, and with planned runs that were not started.
-- empty: Every part of the suite was measured.
WITH part AS (
  SELECT
    json_extract(p.value, '$[0]') AS part,
    json_extract(p.value, '$[1]') AS pattern,
    json_extract(p.value, '$[2]') AS pattern_prefix,
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
    ["sharded optimizer", "sharding", "sharding"]
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
    coalesce(sum(r.status NOT IN ('ok', 'skipped', 'oom')), 0) AS failed,
    max(CASE r.status WHEN 'skipped' THEN r.detail END) AS detail,
    (SELECT count(*) FROM selected_unstarted_run u WHERE u.suite_case LIKE p.pattern) AS unstarted,
    (SELECT max(u.reason) FROM selected_unstarted_run u WHERE u.suite_case LIKE p.pattern) AS unstarted_reason
  FROM part p
  LEFT JOIN selected_run s ON 1
  LEFT JOIN run r ON r.run_id = s.run_id AND r.suite_case LIKE p.pattern
  WHERE EXISTS (SELECT 1 FROM selected_run)
  GROUP BY p.position
)
SELECT
  part,
  completed || ' of ' || (runs + unstarted) AS runs,
  CASE
    WHEN unstarted > 0
      THEN
        CASE WHEN failed > 0 THEN failed || ' failed; ' ELSE '' END
        || CASE WHEN skipped > 0 THEN skipped || ' skipped; ' ELSE '' END
        || unstarted || ' not started: ' || unstarted_reason
    WHEN runs = 0 THEN 'not run'
    WHEN failed > 0 THEN failed || ' failed: see section Run status'
    WHEN length(detail) > 90 THEN skipped || ' skipped: ' || substr(detail, 1, 89) || '…'
    ELSE skipped || ' skipped: ' || detail
  END AS reason,
  'kymo suite run cs336 --filter ''^' || pattern_prefix || '''' AS command
FROM counted
WHERE runs = 0 OR skipped > 0 OR failed > 0 OR unstarted > 0
ORDER BY position
