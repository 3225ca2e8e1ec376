-- SPDX-License-Identifier: Apache-2.0
-- Machines that measured the same cases, compared with each other.

-- The step time of each device and machine in each case, beside that of the others: successful runs of the same case on
-- the same model of device, of each device or machine the newest. A run of one rank, and every rank of the family
-- `peak`, measures its device; with several ranks that wait for each other, a run measures its machine. The median and
-- the median absolute deviation of all of them describe the usual time, so that a few slow ones do not change it.
CREATE VIEW fleet_measurement AS
WITH measured AS (
  SELECT
    r.run_id,
    k.rank,
    'device' AS part,
    d.uuid AS identity,
    k.host,
    d.name AS device_name,
    d.uuid AS device_uuid,
    t.median_ms AS time_ms
  FROM run r
  JOIN rank k ON k.run_id = r.run_id AND k.pass = 'time'
  JOIN device d ON d.device_id = k.device_id
  JOIN _rank_time t ON t.run_id = k.run_id AND t.rank = k.rank AND t.phase = 'step'
  WHERE r.status = 'ok' AND r.ranks > 1 AND r.family = 'peak'
  UNION ALL
  SELECT
    r.run_id,
    k.rank,
    CASE r.ranks WHEN 1 THEN 'device' ELSE 'machine' END AS part,
    CASE r.ranks WHEN 1 THEN d.uuid ELSE k.host END AS identity,
    k.host,
    d.name AS device_name,
    d.uuid AS device_uuid,
    t.median_ms AS time_ms
  FROM run r
  JOIN rank k ON k.run_id = r.run_id AND k.pass = 'time' AND k.rank = 0
  JOIN device d ON d.device_id = k.device_id
  JOIN phase_time t ON t.run_id = r.run_id AND t.phase = 'step'
  WHERE r.status = 'ok' AND (r.ranks = 1 OR r.family <> 'peak')
),
newest AS (
  SELECT
    m.*,
    r.suite,
    r.suite_case,
    r.workload,
    r.case_key,
    row_number() OVER (
      PARTITION BY r.case_key, m.part, m.identity, m.device_name ORDER BY r.started_at DESC, r.run_id DESC
    ) AS age
  FROM measured m
  JOIN run r ON r.run_id = m.run_id
),
ranked AS (
  SELECT
    n.*,
    count(*) OVER (PARTITION BY n.case_key, n.part, n.device_name) AS measurements,
    row_number() OVER (PARTITION BY n.case_key, n.part, n.device_name ORDER BY n.time_ms) AS position,
    (
      SELECT avg(g.sm_clock_mhz)
      FROM gpu_sample g
      JOIN run r ON r.run_id = g.run_id
      WHERE g.run_id = n.run_id AND g.rank = n.rank AND g.pass = 'time' AND g.step >= r.warmup
    ) AS sm_clock_mhz
  FROM newest n
  WHERE n.age = 1
),
centered AS (
  SELECT
    k.*,
    avg(CASE WHEN k.position IN ((k.measurements + 1) / 2, (k.measurements + 2) / 2) THEN k.time_ms END)
      OVER (PARTITION BY k.case_key, k.part, k.device_name) AS median_ms
  FROM ranked k
),
spread AS (
  SELECT
    c.*,
    row_number() OVER (
      PARTITION BY c.case_key, c.part, c.device_name ORDER BY abs(c.time_ms - c.median_ms)
    ) AS distance_position
  FROM centered c
),
judged AS (
  SELECT
    s.*,
    avg(
      CASE
        WHEN s.distance_position IN ((s.measurements + 1) / 2, (s.measurements + 2) / 2)
          THEN abs(s.time_ms - s.median_ms)
      END
    ) OVER (PARTITION BY s.case_key, s.part, s.device_name) AS mad_ms,
    avg(s.sm_clock_mhz) OVER (PARTITION BY s.case_key, s.part, s.device_name) AS mean_sm_clock_mhz
  FROM spread s
),
limited AS (
  SELECT
    j.*,
    j.time_ms / j.median_ms - 1 AS excess,
    max(0.03, (5 + 24.0 / j.measurements) * 1.4826 * j.mad_ms / j.median_ms) AS limit_excess
  FROM judged j
  WHERE j.median_ms > 0
)
SELECT
  -- run
  j.run_id,
  -- rank that uses the device; 0 for a machine
  j.rank,
  -- device or machine: what the time is one of
  j.part,
  -- host name
  j.host,
  -- model name of the device
  j.device_name,
  -- UUID of the GPU; for a CPU, a hash of host, model and core count
  j.device_uuid,
  -- suite name, or empty
  j.suite,
  -- case name within the suite, or empty
  j.suite_case,
  -- workload
  j.workload,
  -- identifies the case
  j.case_key,
  -- median step time
  j.time_ms,
  -- number of devices or machines that measured the case, with this one
  j.measurements,
  -- median of their times
  j.median_ms,
  -- median absolute deviation of their times from it
  j.mad_ms,
  -- how much longer it takes than the median, as a share of the median; negative if it is faster
  j.excess,
  -- excess from which it counts as slow: 3 %, or more where the times spread: 5 + 24 / measurements standard
  -- deviations, with 1.4826 times the median absolute deviation as the standard deviation
  j.limit_excess,
  -- slow, alike, or unknown: fewer than six measured the case
  CASE
    WHEN j.measurements < 6 THEN 'unknown'
    WHEN j.excess >= j.limit_excess THEN 'slow'
    ELSE 'alike'
  END AS verdict,
  -- mean SM clock of the measured steps; NULL on a CPU
  j.sm_clock_mhz,
  -- mean of that clock over all of them
  j.mean_sm_clock_mhz
FROM limited j;

-- Cases that at least half of the hosts of a database measured successfully and that the newest run of another host did
-- not, or that it did not run.
CREATE VIEW fleet_gap AS
WITH placed AS (
  SELECT
    r.run_id,
    r.suite,
    r.suite_case,
    r.workload,
    r.case_key,
    r.ranks,
    r.status,
    r.detail,
    coalesce(
      nullif((SELECT k.host FROM rank k WHERE k.run_id = r.run_id AND k.host <> '' ORDER BY k.rank LIMIT 1), ''),
      (SELECT e.value FROM environment e WHERE e.invocation_id = r.invocation_id AND e.name = 'host')
    ) AS host,
    r.started_at
  FROM run r
),
hosts AS (
  SELECT DISTINCT p.host FROM placed p WHERE p.host IS NOT NULL
),
common AS (
  SELECT
    p.case_key,
    p.suite,
    p.suite_case,
    p.workload,
    p.ranks,
    min(p.run_id) AS example_run_id,
    count(DISTINCT p.host) AS hosts
  FROM placed p
  WHERE p.status = 'ok' AND p.host IS NOT NULL
  GROUP BY p.suite, p.suite_case, p.case_key
  HAVING 2 * count(DISTINCT p.host) >= (SELECT count(*) FROM hosts)
)
SELECT
  -- host name
  h.host,
  -- suite name, or empty
  c.suite,
  -- case name within the suite, or empty
  c.suite_case,
  -- workload
  c.workload,
  -- identifies the case
  c.case_key,
  -- number of ranks
  c.ranks,
  -- a successful run of another host
  c.example_run_id,
  -- number of hosts that measured it
  c.hosts,
  -- newest run of this host; NULL if there is none
  n.run_id,
  -- its status, or `not run`
  coalesce(n.status, 'not run') AS status,
  -- reason, or empty
  coalesce(n.detail, '') AS detail
FROM hosts h
CROSS JOIN common c
LEFT JOIN (
  SELECT
    p.*,
    row_number() OVER (PARTITION BY p.host, p.suite, p.suite_case, p.case_key ORDER BY p.started_at DESC, p.run_id DESC)
      AS age
  FROM placed p
) n
  ON n.host = h.host AND n.suite = c.suite AND n.suite_case = c.suite_case AND n.case_key = c.case_key AND n.age = 1
WHERE n.run_id IS NULL OR n.status <> 'ok';
