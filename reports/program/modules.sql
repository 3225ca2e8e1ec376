-- SPDX-License-Identifier: Apache-2.0
-- caption: Time per step by module.
-- column module: title="module", format="code"
-- column forward_ms: title="forward", unit="ms", format="significant", digits=3
-- column backward_ms: title="backward", unit="ms", format="significant", digits=3
-- column other_ms: title="other phases", unit="ms", format="significant", digits=3
-- column share: title="share", unit="%", digits=1
-- column largest: title="largest part", format="code"
-- column largest_share: title="of the module", unit="%", digits=1
-- note: Kernels on a GPU; self time of operators on a CPU. The share is that in all of them.
--   Repeated modules share a row: their indices are left out.
-- empty: No modules: kernels (`--passes trace`) or operators (`--passes ops`) were not recorded.
WITH entries AS (
  SELECT
    coalesce(p.module, '') AS module,
    p.phase,
    p.name,
    p.ms
  FROM chosen c
  CROSS JOIN profile_entry p ON p.run_id = c.run_id AND p.rank = 0
),
named AS (
  SELECT
    module,
    name,
    sum(ms) AS ms,
    row_number() OVER (PARTITION BY module ORDER BY sum(ms) DESC, name) AS position
  FROM entries
  GROUP BY module, name
),
summed AS (
  SELECT
    module,
    sum(CASE phase WHEN 'forward' THEN ms END) AS forward_ms,
    sum(CASE phase WHEN 'backward' THEN ms END) AS backward_ms,
    sum(CASE WHEN phase NOT IN ('forward', 'backward') THEN ms END) AS other_ms,
    sum(ms) AS ms
  FROM entries
  GROUP BY module
)
SELECT
  CASE m.module WHEN '' THEN '(no module)' ELSE m.module END AS module,
  m.forward_ms,
  m.backward_ms,
  m.other_ms,
  100 * m.ms / nullif((SELECT sum(ms) FROM summed), 0) AS share,
  CASE WHEN length(n.name) > 48 THEN substr(n.name, 1, 47) || '…' ELSE n.name END AS largest,
  100 * n.ms / nullif(m.ms, 0) AS largest_share
FROM summed m
JOIN named n ON n.module = m.module AND n.position = 1
ORDER BY m.ms DESC, m.module
LIMIT 20
