-- SPDX-License-Identifier: Apache-2.0
-- caption: Data-parallel training by strategy.
-- column setting: title="configuration", once=true
-- column strategy: title="strategy"
-- column mean_ms: title="step", unit="ms", format="measured", plus_minus="std_ms"
-- column median_ms: title="median", unit="ms", format="significant", digits=4
-- column forward_ms: title="forward", unit="ms", format="significant", digits=3
-- column backward_ms: title="backward", unit="ms", format="significant", digits=3
-- column communication_ms: title="communication", unit="ms", format="significant", digits=3
-- column optimizer_ms: title="optimizer", unit="ms", format="significant", digits=3
-- column share: title="share", unit="%", digits=1
-- column calls: title="calls", format="plain"
-- column transfer_ms: title="transfers", unit="ms", format="significant", digits=3
-- note: Communication: the phase of that name, which is not hidden by backward, and its share of the step. Calls and
--   transfers: collectives of a step from the trace, where transfers that overlap count separately.
-- empty: Not in this database: `kymo suite run cs336 --filter '^ddp'` adds this data; it needs one GPU per process, or
--   `--profile small` on a CPU.
SELECT
  x.setting,
  x.strategy,
  CASE WHEN d.status_label <> '' THEN d.status_label ELSE t.mean_ms END AS mean_ms,
  CASE WHEN d.status_label = '' THEN t.std_ms END AS std_ms,
  t.median_ms,
  x.forward_ms,
  x.backward_ms,
  x.communication_ms,
  x.optimizer_ms,
  100 * x.communication_share AS share,
  c.calls,
  c.transfer_ms
FROM selected_run s
JOIN run r ON r.run_id = s.run_id AND r.suite_case IN (SELECT suite_case FROM compared)
JOIN ddp_summary x ON x.run_id = s.run_id
JOIN run_status d ON d.run_id = s.run_id
LEFT JOIN phase_time t ON t.run_id = s.run_id AND t.phase = 'step'
LEFT JOIN (
  SELECT
    run_id,
    sum(calls) AS calls,
    sum(transfer_ms) AS transfer_ms
  FROM collective_summary
  WHERE pass = 'trace'
  GROUP BY run_id
) c ON c.run_id = s.run_id
ORDER BY x.setting, x.communicate DESC, x.strategy_order, x.bucket_mb, s.run_id
