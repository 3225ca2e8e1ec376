-- SPDX-License-Identifier: Apache-2.0
-- caption: Where the host was while nothing ran on the GPU.
-- column place: title="host in", format="code"
-- column activity: title="doing"
-- column gaps: title="gaps", format="significant", digits=3
-- column idle_ms: title="idle", unit="ms", format="significant", digits=3
-- column share: title="of the step", unit="%", digits=1
-- column after_copy_ms: title="after copies to the host", unit="ms", format="significant", digits=3, optional=true
-- note: Per step; the twelve longest. `launch`: the work that ended the gap had been launched, and had not begun.
--   What the host did is not necessarily why nothing had been launched before.
-- empty: No gaps between kernels were recorded: `--passes trace` on a GPU records them.
SELECT
  coalesce(nullif(i.module, ''), 'phase ' || i.phase) AS place,
  i.activity,
  sum(i.gaps) AS gaps,
  sum(i.idle_ms) AS idle_ms,
  100 * sum(i.idle_ms) / max(i.step_ms) AS share,
  nullif(sum(i.after_copy_ms), 0) AS after_copy_ms
FROM chosen c
CROSS JOIN idle_time i ON i.run_id = c.run_id AND i.rank = 0
GROUP BY place, i.activity
ORDER BY sum(i.idle_ms) DESC, place, i.activity
LIMIT 12
