-- SPDX-License-Identifier: Apache-2.0
-- caption: Collectives in flight on the CPU by host phase, from traces.
-- column setting: title="configuration", once=true
-- column strategy: title="strategy"
-- column whole: title="in flight", unit="ms", format="significant", digits=3
-- column hidden: title="during forward and backward", unit="ms", format="significant", digits=3
-- column share: title="hidden", unit="%", digits=1
-- column waited: title="during communication", unit="ms", format="significant", digits=3
-- note: Means over ranks and measured steps. Gloo uses its own threads and runs no kernels. Hidden: share of the
--   in-flight time during which the host ran forward or backward.
-- empty: No collectives traced on a CPU: `kymo suite run cs336 --filter ddp --profile small` adds this data.
SELECT
  p.setting,
  p.strategy,
  avg(CASE c.phase WHEN 'step' THEN c.in_flight_ms END) AS whole,
  sum(CASE WHEN c.phase IN ('forward', 'backward') THEN c.in_flight_ms ELSE 0 END) / count(DISTINCT c.rank) AS hidden,
  100 * sum(CASE WHEN c.phase IN ('forward', 'backward') THEN c.in_flight_ms ELSE 0 END)
  / nullif(sum(CASE c.phase WHEN 'step' THEN c.in_flight_ms END), 0) AS share,
  sum(CASE c.phase WHEN 'communication' THEN c.in_flight_ms ELSE 0 END) / count(DISTINCT c.rank) AS waited
FROM selected_run s
JOIN ddp_run p ON p.run_id = s.run_id AND p.family = 'data_parallel'
JOIN collective_overlap c ON c.run_id = s.run_id AND c.pass = 'trace'
GROUP BY s.run_id
ORDER BY p.setting, p.strategy_order, p.bucket_mb, s.run_id
