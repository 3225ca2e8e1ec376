-- SPDX-License-Identifier: Apache-2.0
-- caption: Calls under way on the CPU, and what the host did meanwhile, from traces.
-- column setting: title="case", once=true
-- column strategy: title="strategy"
-- column whole: title="calls under way", unit="ms", format="significant", digits=3
-- column hidden: title="in forward and backward", unit="ms", format="significant", digits=3
-- column share: title="hidden", unit="%", digits=1
-- column waited: title="in communication", unit="ms", format="significant", digits=3
-- note: Means over ranks and measured steps. Gloo works in threads of its own, so its calls show in no kernel: hidden
--   is the share of their time in which the host computed gradients.
-- empty: No calls were traced on a CPU: `kymo suite run cs336 --filter ddp --profile small` fills this table.
SELECT
  p.setting,
  p.strategy,
  avg(CASE c.phase WHEN 'step' THEN c.covered_ms END) AS whole,
  sum(CASE WHEN c.phase IN ('forward', 'backward') THEN c.covered_ms ELSE 0 END) / count(DISTINCT c.rank) AS hidden,
  100 * sum(CASE WHEN c.phase IN ('forward', 'backward') THEN c.covered_ms ELSE 0 END)
  / nullif(sum(CASE c.phase WHEN 'step' THEN c.covered_ms END), 0) AS share,
  sum(CASE c.phase WHEN 'communication' THEN c.covered_ms ELSE 0 END) / count(DISTINCT c.rank) AS waited
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite = 'cs336'
JOIN ddp_run p ON p.run_id = r.run_id AND p.workload <> 'sharded_optimizer'
JOIN collective_cover c ON c.run_id = r.run_id AND c.pass = 'trace'
GROUP BY r.run_id
ORDER BY p.setting, p.strategy_order, p.bucket_mb, r.run_id
