-- SPDX-License-Identifier: Apache-2.0
-- The operators with the most time. Rates of several ranks are per rank.
-- column number: title="#", omit=1
-- column name: title="operator"
-- column module: optional=true, omit=3
-- column phase: omit=2
-- column dtype: title="type", optional=true, omit=3
-- column time_ms: title="time/step", unit="ms", prefix="auto", format="significant", digits=3
-- column share_of_step: title="share", format="percent", omit=1
-- column flop_rate: title="FLOP/s{per_rank}", prefix="auto", unit="1", format="significant", digits=3, optional=true,
--   omit=2
-- column byte_rate: title="B/s{per_rank}", prefix="auto", unit="1", format="significant", digits=3, optional=true,
--   omit=2
-- column attained: title="of roofline", format="percent", optional=true
-- column run_id: hidden=true
-- column rank: hidden=true
-- column pass: hidden=true
-- column arguments: hidden=true
-- column recomputed: hidden=true
-- column calls: hidden=true
-- column reason: hidden=true
-- column thresholds: hidden=true
-- column next_step: hidden=true
-- column kind: hidden=true
-- column clock: hidden=true
SELECT
  row_number() OVER (ORDER BY o.time_ms DESC, o.name) AS number,
  o.name,
  o.module,
  o.phase,
  o.dtype,
  o.time_ms,
  o.share_of_step,
  o.flop_rate,
  o.byte_rate,
  o.attained,
  o.verdict,
  o.run_id,
  o.rank,
  o.pass,
  o.arguments,
  o.recomputed,
  o.calls,
  o.reason,
  o.thresholds,
  o.next_step,
  o.kind,
  o.clock,
  iif(r.ranks > 1, ' per rank', '') AS per_rank
FROM operator o
JOIN run r ON r.run_id = o.run_id
ORDER BY number
LIMIT 10
