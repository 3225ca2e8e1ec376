-- SPDX-License-Identifier: Apache-2.0
-- caption: Cases that at least half of the hosts measured, and others did not.
-- column host: title="host", format="code"
-- column suite_case: title="case", format="code"
-- column workload: title="workload", format="code"
-- column ranks: title="ranks"
-- column hosts: title="hosts that measured it"
-- column status: title="newest run"
-- column detail: title="reason", optional=true
-- note: A host with fewer GPUs than the others has their number of ranks as `not run`.
-- empty: Every host measured what at least half of the hosts did.
SELECT
  host,
  suite_case,
  workload,
  ranks,
  hosts,
  CASE status WHEN 'oom' THEN 'OOM' ELSE status END AS status,
  nullif(detail, '') AS detail
FROM fleet_gap
ORDER BY host, suite_case, workload, example_run_id
