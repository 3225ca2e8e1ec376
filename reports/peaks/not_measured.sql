-- SPDX-License-Identifier: Apache-2.0
-- caption: Measurements that were skipped or failed.
-- column title: title="measurement"
-- column status: title="status"
-- column detail: title="reason"
-- empty: Every measurement succeeded.
SELECT
  s.title,
  r.status,
  r.detail
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
WHERE r.family = 'peak' AND r.status <> 'ok'
ORDER BY r.run_id
